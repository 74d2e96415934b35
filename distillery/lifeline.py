"""How a child process hears from its supervisor, and that it is gone, even when that was killed outright.

The supervisor holds the only write end of a pipe, usually the child's standard input. Whatever ends it
closes the pipe, and the child, at the read end, comes to its end. Before that it writes a byte when the
database is ready (a child that was started earlier loads its modules meanwhile), and one when it is about to
stop the child. A child that takes another's place has a second pipe, into which it says that it is ready.
"""

import contextlib
import os
import signal
import threading
import time

#: Number of the file to read from.
VARIABLE = "DISTILLERY_LIFELINE"
READY_VARIABLE = "DISTILLERY_READY"
BEGIN, DRAIN = b"b", b"d"
GRACE_SECONDS = 5
_begun, _draining = threading.Event(), threading.Event()


def watch() -> None:
    """Watch the pipe that the environment names, if any, from a thread."""
    number = os.environ.get(VARIABLE)
    if number:
        descriptor = os.dup(int(number))
        # What this process starts reads nothing there.
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, int(number))
        os.close(null)
        threading.Thread(target=_listen, args=[descriptor], name="lifeline", daemon=True).start()


def announce_ready() -> None:
    """Tell the supervisor, if it waits for that, that this process does its work now."""
    number = os.environ.get(READY_VARIABLE)
    if number:
        with contextlib.suppress(OSError):  # it knows already, or waits no longer
            os.write(int(number), b"1")


def wait_to_begin() -> None:
    """Wait until the supervisor, if there is one, says that the database is ready."""
    if os.environ.get(VARIABLE):
        _begun.wait()


def is_draining() -> bool:
    """Whether this process is about to be stopped and should get no new requests."""
    return _draining.is_set()


def _listen(descriptor: int) -> None:
    while signal_byte := os.read(descriptor, 1):
        {BEGIN: _begun, DRAIN: _draining}[signal_byte].set()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
