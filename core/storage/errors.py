"""Errors of storage, in words for the person who sees them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
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
