"""How a child process notices that its supervisor is gone, even when that was killed outright.

The supervisor holds the only write end of a pipe and never writes. Whatever ends it closes the pipe, and
every child, at the read end, comes to the end of it.
"""

import os
import signal
import threading
import time

VARIABLE = "DISTILLERY_LIFELINE"
GRACE_SECONDS = 5


def watch() -> None:
    """Watch the pipe that the environment names, if any, from a thread; anew in every forked process."""
    number = os.environ.get(VARIABLE)
    if number:
        os.set_inheritable(int(number), False)
        threading.Thread(target=_leave_at_its_end, args=[int(number)], name="lifeline", daemon=True).start()


def _leave_at_its_end(descriptor: int) -> None:
    os.read(descriptor, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
