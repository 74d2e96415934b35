"""The files of an index: a folder per generation, a pointer to the one that answers, a lock for the writer.

FOLDER/current     {"generation": 3, "chain": "english-1"}
FOLDER/g3/         tantivy's files
FOLDER/lock        held by the one writer
FOLDER/changes     eight bytes that every writer counts up when it is done: readers have them in memory
"""

import json
import mmap
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from retrieval.errors import BusyError, IndexBrokenError, NotIndexedError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@dataclass(frozen=True)
class Pointer:
    """Which generation answers, and by which rules for words it was made."""

    generation: int
    chain: str


@lru_cache(maxsize=256)
def _read(path: str, seen: tuple[int, ...]) -> Pointer:
    """The pointer in a file, read once for each state that was seen of it."""
    facts = json.loads(Path(path).read_bytes())
    return Pointer(int(facts["generation"]), str(facts["chain"]))


_COUNT = 8


class ChangeCount:
    """How often an index was written, read without a call of the system; None where no writer counts.

    The file is never shortened, so that reading it is safe for as long as it is held.
    """

    def __init__(self, path: Path) -> None:
        self.seen: tuple[int, int] | None = None
        self._bytes: mmap.mmap | None = None
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            facts = os.fstat(handle)
            if facts.st_size >= _COUNT:
                self._bytes = mmap.mmap(handle, _COUNT, access=mmap.ACCESS_READ)
                self.seen = facts.st_dev, facts.st_ino
        finally:
            os.close(handle)

    def now(self) -> bytes | None:
        """The count."""
        return None if self._bytes is None else self._bytes[:_COUNT]

    def is_of(self, path: Path) -> bool:
        """Whether this is still the file of that name."""
        try:
            facts = path.stat()
        except FileNotFoundError:
            return self.seen is None
        return self.seen == (facts.st_dev, facts.st_ino)


def replace_json(path: Path, content: object) -> None:
    """Write a file in place of the one that is there, at once and for good even if the power fails."""
    written = path.with_name(f"{path.name}.new")
    with written.open("w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    written.replace(path)


@dataclass(frozen=True)
class IndexFolder:
    """The folder of one corpus."""

    path: Path

    @property
    def lock(self) -> Path:
        """Lock of the one writer."""
        return self.path / "lock"

    @property
    def pointer(self) -> Path:
        """The file that names the generation."""
        return self.path / "current"

    @property
    def changes(self) -> Path:
        """The file that counts what was written."""
        return self.path / "changes"

    def count_change(self) -> None:
        """Tell readers that they have to look. By the one writer, after what it has written."""
        with suppress(OSError):  # on a full disk readers see it somewhat later
            handle = os.open(self.changes, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                before = int.from_bytes(os.pread(handle, _COUNT, 0), "little")
                os.pwrite(handle, (before + 1).to_bytes(_COUNT, "little"), 0)
            finally:
                os.close(handle)

    def of(self, generation: int) -> Path:
        """Folder of a generation."""
        return self.path / f"g{generation}"

    def current(self) -> Pointer:
        """The generation that answers. NotIndexedError where there is none yet."""
        pointer = f"{self.path}/current"  # a text: paths are slow to make and to find, and every search asks
        try:
            status = os.stat(pointer)  # noqa: PTH116  # as above
            return _read(pointer, (status.st_ino, status.st_mtime_ns, status.st_size))
        except FileNotFoundError as error:
            raise NotIndexedError("There is no index yet. Run manage.py index build.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise IndexBrokenError(f"{self.pointer} cannot be read. Run manage.py index build.") from error

    def point(self, pointer: Pointer) -> None:
        """Let another generation answer, at once and for good even if the power fails."""
        replace_json(self.pointer, {"generation": pointer.generation, "chain": pointer.chain})

    def fresh(self) -> int:
        """Number of a generation that never was; what a killed build has left behind is removed."""
        present = [int(path.name[1:]) for path in self.path.glob("g*") if path.name[1:].isdigit()]
        try:
            now = self.current().generation
        except (NotIndexedError, IndexBrokenError):
            now = 0
        self.remove_others(now)
        return max([now, *present]) + 1

    def remove(self) -> None:
        """Remove all that belongs to the index; the folder too, if nothing else is in it."""
        self.pointer.unlink(missing_ok=True)
        self.remove_others(-1)
        self.count_change()
        for path in (self.path / "current.new", self.changes, self.lock):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()

    def remove_others(self, generation: int) -> None:
        """Remove all generations but this one; readers that have one open keep it until they close it."""
        for path in self.path.glob("g*"):
            if path != self.of(generation):
                shutil.rmtree(path, ignore_errors=True)


# One writer at a time, over threads and processes: the second one waits, then is told who writes.

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
        return not _lock_handle(handle)
    finally:
        os.close(handle)


def _wait(handle: int, what: str, patience: float) -> None:
    deadline = time.monotonic() + patience
    while not _lock_handle(handle):
        if time.monotonic() >= deadline:
            holder = os.pread(handle, 20, 0).decode(errors="replace") or "unknown"
            raise BusyError(
                f"Another process (number {holder}) writes {what}, and still did after {patience:g} s. "
                "Try again when it is done."
            )
        time.sleep(_PAUSE)


def _lock_handle(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
