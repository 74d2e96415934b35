"""One writer at a time, over threads and processes: whoever comes second waits, then is told who writes."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retrieval.errors import BusyError

#: How long the second writer waits, in seconds.
PATIENCE = 60.0
_PAUSE = 0.05


@contextmanager
def only_writer(path: Path, what: str, *, patience: float | None = None) -> Iterator[None]:
    """Hold the lock file; the kernel lets go of it when its holder dies. BusyError after `patience`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait(handle, what, PATIENCE if patience is None else patience)
        os.truncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


def is_held(path: Path) -> bool:
    """Whether somebody writes at this moment."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _taken(handle)
    finally:
        os.close(handle)


def _wait(handle: int, what: str, patience: float) -> None:
    deadline = time.monotonic() + patience
    while not _taken(handle):
        if time.monotonic() >= deadline:
            holder = os.pread(handle, 20, 0).decode(errors="replace") or "unknown"
            raise BusyError(
                f"Another process (number {holder}) writes {what}, and still did after {patience:g} s. "
                "Try again when it is done."
            )
        time.sleep(_PAUSE)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
