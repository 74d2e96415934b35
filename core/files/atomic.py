"""Writing files, all or none of several, texts and JSON; and temporary folders that outlive no process."""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from pydantic_core import to_json

if sys.platform != "win32":
    import fcntl

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
    with tempfile.TemporaryDirectory(prefix=prefix, dir=root, ignore_cleanup_errors=True) as folder:
        number = -1
        try:
            # Where folders cannot be locked, nobody can tell that it is left over: then it stays.
            with suppress(OSError):
                number = os.open(folder, os.O_RDONLY)
                _lock(number)
            yield Path(folder)
        finally:
            if number >= 0:
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
    if sys.platform == "win32":
        raise OSError("Folders cannot be locked here.")
    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


Write = Callable[[IO[bytes]], object]
_READABLE = 0o666


def text_of(page: str) -> Write:
    """A text as UTF-8."""

    def write(file: IO[bytes]) -> None:
        file.write(page.encode())

    return write


def json_of(report: Mapping[str, Any], *, lists: Container[str] = ()) -> Write:
    """A report as JSON; those of its parts that are `lists` have a line per row."""

    def write(file: IO[bytes]) -> None:
        file.write(b"{")
        for number, (name, value) in enumerate(report.items()):
            file.write((b",\n  " if number else b"\n  ") + to_json(name) + b": ")
            if name in lists and value:
                first = next(iter(value[0]))
                between = b'},{"' + first.encode() + b'":'
                # A quotation mark inside a text is escaped, so this occurs between rows only.
                rows = to_json(value, inf_nan_mode="null")[1:-1].replace(between, b"},\n    " + between[2:])
                file.write(b"[\n    " + rows + b"\n  ]")
            else:
                file.write(to_json(value, indent=2, inf_nan_mode="null").replace(b"\n", b"\n  "))
        file.write(b"\n}\n")

    return write


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
