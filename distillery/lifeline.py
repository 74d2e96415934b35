"""How a child process notices that its supervisor is gone, even when that was killed outright.

The supervisor holds the only write end of a pipe and never writes. Whatever ends it closes the pipe, and
every child, at the read end, comes to the end of it. A second pipe, which it closes earlier, tells them that
they are about to be stopped. A third one it closes as soon as the database is ready: a child that was started
before loads its modules meanwhile. A child that takes another's place has one into which it says that it is
ready.
"""

import contextlib
import os
import select
import signal
import threading
import time

VARIABLE = "DISTILLERY_LIFELINE"
READY_VARIABLE = "DISTILLERY_READY"
DRAIN_VARIABLE = "DISTILLERY_DRAIN"
BEGIN_VARIABLE = "DISTILLERY_BEGIN"
GRACE_SECONDS = 5
#: Set by a process without a supervisor when a signal asks it to stop.
draining = threading.Event()


def watch() -> None:
    """Watch the pipe that the environment names, if any, from a thread; again in every forked process."""
    number = os.environ.get(VARIABLE)
    if number:
        os.set_inheritable(int(number), False)
        threading.Thread(target=_leave_at_its_end, args=[int(number)], name="lifeline", daemon=True).start()


def announce_ready() -> None:
    """Tell the supervisor, if it waits for that, that this process does its work now."""
    number = os.environ.get(READY_VARIABLE)
    if number:
        with contextlib.suppress(OSError):  # it knows already, or waits no longer
            os.write(int(number), b"1")


def wait_to_begin() -> None:
    """Wait until the supervisor says that the database is ready."""
    number = os.environ.get(BEGIN_VARIABLE)
    if number:
        os.read(int(number), 1)


def is_draining() -> bool:
    """Whether this process is about to be stopped and should get no new requests."""
    number = os.environ.get(DRAIN_VARIABLE)
    if draining.is_set() or not number:
        return draining.is_set()
    end = select.poll()
    end.register(int(number), select.POLLHUP)
    return bool(end.poll(0))


def _leave_at_its_end(descriptor: int) -> None:
    os.read(descriptor, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
