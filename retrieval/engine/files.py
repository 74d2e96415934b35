"""Where the files of an index lie: a folder per generation, and a pointer to the one that answers.

FOLDER/current     {"generation": 3, "chain": "english-1"}
FOLDER/g3/         tantivy's files
FOLDER/lock        held by the one writer
"""

import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from retrieval.errors import IndexBrokenError, NotIndexedError


@dataclass(frozen=True)
class Pointer:
    """Which generation answers, and by which rules for words it was made."""

    generation: int
    chain: str


@lru_cache(maxsize=256)
def _read(path: Path, seen: tuple[int, ...]) -> Pointer:
    """The pointer in a file, read once for each state that was seen of it."""
    facts = json.loads(path.read_bytes())
    return Pointer(int(facts["generation"]), str(facts["chain"]))


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

    def of(self, generation: int) -> Path:
        """Folder of a generation."""
        return self.path / f"g{generation}"

    def current(self) -> Pointer:
        """The generation that answers. NotIndexedError where there is none yet."""
        try:
            status = self.pointer.stat()
            return _read(self.pointer, (status.st_ino, status.st_mtime_ns, status.st_size))
        except FileNotFoundError as error:
            raise NotIndexedError("There is no index yet. Run manage.py index build.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise IndexBrokenError(f"{self.pointer} cannot be read. Run manage.py index build.") from error

    def point(self, pointer: Pointer) -> None:
        """Let another generation answer, at once and for good even if the power fails."""
        written = self.path / "current.new"
        with written.open("w", encoding="utf-8") as file:
            json.dump({"generation": pointer.generation, "chain": pointer.chain}, file)
            file.flush()
            os.fsync(file.fileno())
        written.replace(self.pointer)

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
        for path in (self.path / "current.new", self.lock):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.path.rmdir()

    def remove_others(self, generation: int) -> None:
        """Remove all generations but this one; readers that have one open keep it until they close it."""
        for path in self.path.glob("g*"):
            if path != self.of(generation):
                shutil.rmtree(path, ignore_errors=True)
