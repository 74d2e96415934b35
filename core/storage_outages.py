"""What a storage that does not answer raises, in words for people, and how long a bucket is waited for."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


class StorageUnavailableError(Exception):
    """The storage that hosts share does not answer, or refuses what was asked of it."""


@contextmanager
def name_folder_outages(root: Path) -> Iterator[None]:
    """Raise StorageUnavailableError where a shared folder is away or refuses.

    A file that is missing, or is a folder, in a storage that is there stays what it is.
    """
    try:
        yield
    except (IsADirectoryError, NotADirectoryError):
        raise
    except FileNotFoundError as error:
        if os.path.isdir(root):  # noqa: PTH112 - Path.is_dir raises where a network file system is stale
            raise
        raise StorageUnavailableError(_absent(root)) from error
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StorageUnavailableError(f"The storage {root} cannot be used ({why}).") from error


def refuse_absent_folder(root: Path) -> None:
    """StorageUnavailableError unless the folder is there: it is never made where its disk may be away."""
    if not os.path.isdir(root):  # noqa: PTH112 - as above
        raise StorageUnavailableError(_absent(root))


def _absent(root: Path) -> str:
    return f"The storage {root} is not there. Mount it, or make the folder (manage.py storage prepare)."


# How long this process waits for a bucket: a visitor of the web server less than a job or a command.


@dataclass(frozen=True, slots=True)
class BucketTimeouts:
    """Seconds until a connection is made and until the next bytes of an answer, and how often it is tried.

    botocore alone would wait a minute for each, five times.
    """

    connect: float
    read: float
    attempts: int


PATIENT = BucketTimeouts(connect=5, read=60, attempts=3)
#: A hanging bucket holds a thread of the web server for 26 seconds at most, not for three minutes.
OF_PAGES = BucketTimeouts(connect=3, read=10, attempts=2)
_timeouts = PATIENT


def choose_timeouts(timeouts: BucketTimeouts) -> None:
    """Have this process wait so long, from its next storage on."""
    global _timeouts  # noqa: PLW0603 - one choice for a whole process, as its start makes it
    _timeouts = timeouts


def bucket_timeouts() -> BucketTimeouts:
    """What was chosen; without a choice a command or job waits."""
    return _timeouts
