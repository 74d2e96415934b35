"""Which answers a file has had so far, on disk, so that memory does not grow with the file."""

import sqlite3
from pathlib import Path
from types import TracebackType


class FirstAnswers:
    """Remembers the first answer of each system to each query: where it stands, and what it is.

    Both names are numbers of 63 bits; `digest` stands for the answer. A context manager.
    """

    def __init__(self, room: Path) -> None:
        self._rows = sqlite3.connect(room / "seen.sqlite", isolation_level=None)
        self._rows.execute("PRAGMA journal_mode=OFF")
        self._rows.execute("PRAGMA synchronous=OFF")
        self._rows.execute(
            "CREATE TABLE seen (system INTEGER, query INTEGER, line INTEGER, digest BLOB,"
            " PRIMARY KEY (system, query)) WITHOUT ROWID"
        )
        self._rows.execute("BEGIN")

    def __enter__(self) -> "FirstAnswers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rows.close()

    def first(self, system: int, query: int, line: int, digest: bytes) -> tuple[int, bytes] | None:
        """Line and digest of the first answer of this system to this query; None where it is this one."""
        added = self._rows.execute(
            "INSERT OR IGNORE INTO seen VALUES (?, ?, ?, ?)", (system, query, line, digest)
        )
        if added.rowcount:
            return None
        found: tuple[int, bytes] = self._rows.execute(
            "SELECT line, digest FROM seen WHERE system = ? AND query = ?", (system, query)
        ).fetchone()
        return found
