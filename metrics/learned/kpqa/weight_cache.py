"""Weights of words that were computed before: in the process, and in a file for each model.

A file is SQLite, `kpqa-DIGEST.sqlite` in the folder of the cache, and may be used by several processes at a
time. It never is an error: one that cannot be read is set aside under another name, one that cannot be
written is left alone, and what stands in it is used only if it is whole and fits the words of the answer.
"""

import contextlib
import hashlib
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from metrics.answers.importance import SizedCache
from metrics.learned.folders import ModelFolder
from metrics.learned.words import VERSION

Weights = npt.NDArray[np.float32]
#: Bytes that a process keeps of a model, and what an entry takes beside its weights.
IN_PROCESS, _ENTRY = 1 << 27, 400
#: Bytes of a file; where they are reached, its oldest quarter is dropped.
ON_DISK = 1 << 29
_FORMAT, _ASKED, _WAIT = 1, 500, 20.0
_SUM = 4


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """What is kept of one model. Without a `file` it is kept while the process lives."""

    kept: SizedCache[Weights] = field(default_factory=lambda: SizedCache(IN_PROCESS))
    file: Path | None = None
    most: int = ON_DISK

    def get(self, sizes: Mapping[bytes, int]) -> dict[bytes, Weights]:
        """The weights of those keys that are kept, given how many words each has."""
        here = {key: self.kept.get(key) for key in sizes}
        found = {key: weights for key, weights in here.items() if weights is not None}
        asked = {key: size for key, size in sizes.items() if key not in found}
        if self.file is not None and asked:
            read = _read(self.file, asked)
            self._remember(read)
            found |= read
        return found

    def put(self, weights: Mapping[bytes, Weights]) -> None:
        """Keep the weights of keys."""
        self._remember(weights)
        if self.file is not None and weights:
            _write(self.file, weights, self.most)

    def _remember(self, weights: Mapping[bytes, Weights]) -> None:
        for key, each in weights.items():
            self.kept.put(key, each, each.nbytes + _ENTRY)


def key(question: str, answer: str) -> bytes:
    """What the weights of an answer to a question are kept under."""
    asked = question.encode("utf-8", "surrogatepass")
    said = hashlib.sha256(f"{VERSION} {len(asked)} ".encode())
    said.update(asked)
    said.update(answer.encode("utf-8", "surrogatepass"))
    return said.digest()


def file_of(cache: str, model: ModelFolder) -> Path | None:
    """Where a model's weights are kept in a cache; None without a cache."""
    return Path(cache) / f"kpqa-{model.digest}.sqlite" if cache else None


def _read(file: Path, sizes: Mapping[bytes, int]) -> dict[bytes, Weights]:
    if not file.exists():
        return {}
    found: dict[bytes, Weights] = {}
    with _forgiving(file), closing(_opened(file)) as database:
        names = list(sizes)
        for at in range(0, len(names), _ASKED):
            some = names[at : at + _ASKED]
            marks = ",".join("?" * len(some))
            query = f"SELECT key, weights FROM kept WHERE key IN ({marks})"  # noqa: S608  # question marks alone
            rows = database.execute(query, some)
            for name, blob in rows:
                weights = _unpacked(name, blob, sizes[name])
                if weights is not None:
                    found[name] = weights
    return found


def _write(file: Path, weights: Mapping[bytes, Weights], most: int) -> None:
    with _forgiving(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(_opened(file)) as database:
            database.execute("BEGIN IMMEDIATE")
            rows = ((name, _packed(name, each)) for name, each in weights.items())
            database.executemany("INSERT OR REPLACE INTO kept (key, weights) VALUES (?, ?)", rows)
            _prune(database, most)
            database.execute("COMMIT")


def _prune(database: sqlite3.Connection, most: int) -> None:
    pages, free, size = (
        database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    if (pages - free) * size > most:
        database.execute(
            "DELETE FROM kept WHERE place <= (SELECT min(place) + (max(place) - min(place)) / 4 FROM kept)"
        )


def _opened(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, timeout=_WAIT, isolation_level=None)
    with ExitStack() as undoing:
        undoing.callback(database.close)
        if database.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            _create_table(database)
        undoing.pop_all()  # it is open and good
    return database


def _create_table(database: sqlite3.Connection) -> None:
    """The table, where no other process has made it meanwhile; a file of another format is a broken one."""
    database.execute("BEGIN IMMEDIATE")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, _FORMAT) or (
        not version and database.execute("PRAGMA schema_version").fetchone()[0]
    ):
        raise sqlite3.DatabaseError("another format")
    database.execute(
        "CREATE TABLE IF NOT EXISTS kept"
        " (place INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, weights BLOB NOT NULL)"
    )
    database.execute(f"PRAGMA user_version = {_FORMAT}")
    database.execute("COMMIT")


@contextlib.contextmanager
def _forgiving(file: Path) -> Iterator[None]:
    """A file that is busy, full or out of reach is left alone, and one that is broken is set aside."""
    try:
        yield
    except (sqlite3.OperationalError, OSError):
        return
    except sqlite3.DatabaseError:
        _set_aside(file)


def _set_aside(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.replace(file.with_name(f"{file.name}.broken"))
        file.with_name(f"{file.name}-journal").unlink(missing_ok=True)


def _packed(name: bytes, weights: Weights) -> bytes:
    values = weights.astype("<f4").tobytes()
    return zlib.crc32(name + values).to_bytes(_SUM) + values


def _unpacked(name: bytes, blob: object, size: int) -> Weights | None:
    """The weights in a blob; None where it is not whole, or not as many as the words."""
    if not isinstance(blob, bytes) or len(blob) != _SUM + size * 4:
        return None
    if zlib.crc32(name + blob[_SUM:]).to_bytes(_SUM) != blob[:_SUM]:
        return None
    return np.frombuffer(blob[_SUM:], "<f4").astype(np.float32)
