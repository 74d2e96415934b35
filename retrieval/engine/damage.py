"""What tantivy and the file system say of damaged files and full disks, as errors of ours."""

import errno
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.failures import on_failure
from retrieval.errors import IndexBrokenError, NoRoomError, RetrievalError

#: When a thread of tantivy's dies it does not say of what; with less room than this it was the disk.
LEAST_ROOM = 32_000_000
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}
_NUMBER = re.compile(r"os error (\d+)")


@contextmanager
def damage_told(what: str, folder: Path) -> Iterator[None]:
    """Tantivy's errors as ours. Of short files it panics, which is no Exception in Python."""

    def tell_panic(error: BaseException) -> None:
        if type(error).__name__ == "PanicException":
            raise IndexBrokenError(f"{what}: {error}") from error

    try:
        with on_failure(tell_panic):
            yield
    except (ValueError, OSError) as error:
        raise told(what, error, folder) from error


def told(what: str, error: Exception, folder: Path) -> RetrievalError:
    """A full disk where the error says so, or where a thread died and there is no room; else damage."""
    number = _NUMBER.search(str(error))
    full = getattr(error, "errno", None) in _FULL or (number is not None and int(number[1]) in _FULL)
    if not full and "thread" in str(error):
        full = shutil.disk_usage(_there(folder)).free < LEAST_ROOM
    if full:
        return NoRoomError(
            f"{what}: the disk with {folder.parent} is full, or this user may use no more of it. Make "
            "room and try again; what the index held before it still holds."
        )
    return IndexBrokenError(f"{what}: {error}")


def _there(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())
