"""Writing files: several at once, all or none of them; and temporary folders that outlive no process."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

# Folders to work in that are gone afterwards, those of processes that were killed as well.
#
# Each is locked by the process that made it for as long as it lives. Whoever makes the next one looks at its
# neighbours and removes those that nobody holds any more: a build that was killed leaves gigabytes otherwise.

#: What somebody wrote into so lately stays, held or not: other hosts may not see each other's locks.
_QUIET_SECONDS = 3600


@contextmanager
def scratch_dir(root: Path, prefix: str) -> Iterator[Path]:
    """A folder below `root` whose name begins with `prefix`, removed at the end whatever happens."""
    root.mkdir(parents=True, exist_ok=True)
    _clear(root, prefix)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=root, ignore_cleanup_errors=True) as made:
        number = os.open(made, os.O_RDONLY)
        try:
            # Where the file system knows no locks, nobody can tell that it is left over: then it stays.
            with suppress(OSError):
                _lock(number)
            yield Path(made)
        finally:
            os.close(number)


def _clear(root: Path, prefix: str) -> None:
    """Remove what dead processes left; what cannot be looked at stays."""
    for each in root.glob(f"{prefix}*"):
        with suppress(OSError):
            if not each.is_symlink() and each.is_dir() and _quiet(each):
                number = os.open(each, os.O_RDONLY)
                try:
                    _lock(number)
                    shutil.rmtree(each)
                finally:
                    os.close(number)


def _quiet(folder: Path) -> bool:
    newest = max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))
    return newest < time.time() - _QUIET_SECONDS


def _lock(number: int) -> None:
    """Lock an open folder; OSError where another process holds it or no lock is to be had."""
    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


Write = Callable[[IO[bytes]], object]
_READABLE = 0o666


class FileWriteError(Exception):
    """A file that could not be written, and why, in a sentence."""


def write_together(files: Mapping[Path, Write], *, mode: int = _READABLE) -> None:
    """Writes all files, or none: FileWriteError names the one that could not be written.

    `mode` is what others may do with them, as far as the umask allows it.
    """
    ready: list[tuple[str, Path]] = []
    try:
        for path, write in files.items():
            with _named_errors(path):
                descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
                ready.append((name, path))
                with os.fdopen(descriptor, "wb") as file:
                    write(file)
                Path(name).chmod(mode & ~_umask())
        while ready:
            name, path = ready[0]
            with _named_errors(path):
                Path(name).replace(path)
            ready.pop(0)
    finally:
        for name, _path in ready:
            Path(name).unlink(missing_ok=True)


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileWriteError(f"{path} cannot be written: {error.strerror or error}.") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
