"""Files that belong together: written beside their places, then moved there, all of them or none."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

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
