"""What the simulator knows: one SQLite file in which each call is one transaction, and a clock that moves."""

import json
import logging
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.errors import logged_failure

Thing = dict[str, Any]
LOG = logging.getLogger(__name__)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS things (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, id TEXT NOT NULL UNIQUE,
  parent TEXT NOT NULL, owner TEXT NOT NULL, status TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS things_by_parent ON things (kind, parent, status);
CREATE INDEX IF NOT EXISTS things_in_order ON things (kind, parent, seq);
CREATE INDEX IF NOT EXISTS things_by_owner ON things (kind, owner, parent);
CREATE INDEX IF NOT EXISTS things_by_status ON things (kind, status, seq);
CREATE TABLE IF NOT EXISTS counts (
  kind TEXT NOT NULL, parent TEXT NOT NULL, status TEXT NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (kind, parent, status)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS count_added AFTER INSERT ON things BEGIN
  INSERT INTO counts VALUES (new.kind, new.parent, new.status, 1)
  ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER IF NOT EXISTS count_removed AFTER DELETE ON things BEGIN
  UPDATE counts SET count = count - 1
  WHERE kind = old.kind AND parent = old.parent AND status = old.status;
END;
CREATE TRIGGER IF NOT EXISTS count_moved AFTER UPDATE OF status ON things WHEN old.status <> new.status BEGIN
  UPDATE counts SET count = count - 1
  WHERE kind = old.kind AND parent = old.parent AND status = old.status;
  INSERT INTO counts VALUES (new.kind, new.parent, new.status, 1)
  ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TABLE IF NOT EXISTS tasks (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, due REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS tasks_by_due ON tasks (due, seq);
CREATE TABLE IF NOT EXISTS payments (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, kind TEXT NOT NULL, workspace_id TEXT NOT NULL,
  study_id TEXT NOT NULL, submission_id TEXT NOT NULL, participant_id TEXT NOT NULL, amount INTEGER NOT NULL,
  fees INTEGER NOT NULL, vat INTEGER NOT NULL, currency TEXT NOT NULL, bulk_id TEXT
);
"""
_TABLES = ("facts", "things", "counts", "tasks", "payments")


@dataclass(frozen=True, slots=True)
class Options:
    """What an account has from its contract with the panel; kept with the state it began with."""

    balance: int = 1_000_000
    currency: str = "USD"
    fee_percent: int = 33
    vat_percent: int = 20
    #: How long a call that moves money holds the wallet, in real seconds.
    wallet_seconds: float = 0.02
    bonus_seconds: int = 180
    #: For choices by share: faults, participants, jitter.
    seed: int = 1


class State:
    """The file. Use `with state.call():` around everything that reads or writes."""

    def __init__(self, path: Path | str, options: Options | None = None) -> None:
        self.path = str(path)
        self.begin: Callable[[], None] = lambda: None
        self.handlers: dict[str, Callable[[Thing], None]] = {}
        self.wake = threading.Event()
        self._lock = threading.RLock()
        self._depth = 0
        self._moment: float | None = None
        self._base = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=30)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        self._base.executescript(_SCHEMA)
        with self._transaction():
            stored_options = self.fact("options") or {}
            # A file of a version before may have more of them.
            stored_options = {
                name: stored_options[name] for name in Options.__slots__ if name in stored_options
            }
            self._given = options or Options(**stored_options)
            self.options = Options(**stored_options) if stored_options else self._given
            self.keep("options", asdict(self.options))

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._base.close()

    @contextmanager
    def call(self) -> Iterator[None]:
        """One call: what is due by now happens first, in a transaction of its own, then the call."""
        with self._lock:
            if self._depth == 0:
                self.run_due()
            with self._transaction():
                if self.fact("user") is None:
                    self.begin()
                yield

    def run_due(self) -> None:
        """Do what the clock brought: each task is one transaction, at the moment for which it was planned."""
        with self._lock:
            while True:
                row = self._base.execute(
                    "SELECT seq, due, kind, body FROM tasks WHERE due <= ? ORDER BY due, seq LIMIT 1",
                    (self.now(),),
                ).fetchone()
                if row is None:
                    return
                with logged_failure(LOG, "A task could not be done and is left out: %s %s", row[2], row[3]):
                    with self._transaction(), self._at(row[1]):
                        self._forget_task(row[0])
                        self.handlers[row[2]](json.loads(row[3]))
                    continue
                with self._transaction():
                    self._forget_task(row[0])

    def _forget_task(self, seq: int) -> None:
        self._base.execute("DELETE FROM tasks WHERE seq = ?", (seq,))

    def reset(self) -> None:
        """Forget everything; a new account begins with the options that were given at the start."""
        for table in _TABLES:
            self._base.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
        self.options = self._given
        self.keep("options", asdict(self.options))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            self._depth += 1
            try:
                if self._depth > 1:
                    yield
                else:
                    self._base.execute("BEGIN IMMEDIATE")
                    with self._base:  # commits, or rolls back where the block fails
                        yield
            finally:
                self._depth -= 1

    @contextmanager
    def _at(self, moment: float) -> Iterator[None]:
        self._moment = moment
        try:
            yield
        finally:
            self._moment = None

    # The clock

    def now(self) -> float:
        """Seconds since 1970, by the simulator's clock."""
        if self._moment is not None:
            return self._moment
        return time.time() + float(self.fact("clock_offset") or 0)

    def stamp(self, moment: float | None = None) -> str:
        """A moment as the API writes it."""
        when = datetime.fromtimestamp(self.now() if moment is None else moment, UTC)
        return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def move_clock(self, seconds: float) -> None:
        """Put the clock forward."""
        self.keep("clock_offset", float(self.fact("clock_offset") or 0) + seconds)

    def plan(self, after: float, kind: str, body: Thing) -> None:
        """Have a handler called so many seconds from now."""
        self._base.execute(
            "INSERT INTO tasks (due, kind, body) VALUES (?, ?, ?)",
            (self.now() + after, kind, json.dumps(body)),
        )
        self.wake.set()

    # Single facts

    def fact(self, name: str) -> Any:
        """A kept value; None where there is none."""
        row = self._base.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else None

    def keep(self, name: str, value: Any) -> None:
        """Keep a value."""
        self._base.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    # Things with ids

    def add(self, kind: str, body: Thing, *, parent: str = "", owner: str = "", status: str = "") -> Thing:
        """A new thing; it gets an id of 24 hexadecimal digits."""
        body = {"id": secrets.token_hex(12), **body}
        self._base.execute(
            "INSERT INTO things (kind, id, parent, owner, status, body) VALUES (?, ?, ?, ?, ?, ?)",
            (kind, body["id"], parent, owner, status, json.dumps(body)),
        )
        return body

    def get(self, kind: str, key: Any) -> Thing | None:
        """A thing by its id; none for what is no id."""
        if not isinstance(key, str):
            return None
        row = self._base.execute("SELECT body FROM things WHERE id = ? AND kind = ?", (key, kind)).fetchone()
        return json.loads(row[0]) if row else None

    def save(self, body: Thing, *, status: str | None = None) -> None:
        """Write a thing back; its status too where it has one."""
        if status is None:
            self._base.execute("UPDATE things SET body = ? WHERE id = ?", (json.dumps(body), body["id"]))
        else:
            self._base.execute(
                "UPDATE things SET body = ?, status = ? WHERE id = ?", (json.dumps(body), status, body["id"])
            )

    def remove(self, key: str) -> None:
        """Take a thing away."""
        self._base.execute("DELETE FROM things WHERE id = ?", (key,))

    def find(
        self,
        kind: str,
        *,
        parent: str | None = None,
        owner: str | None = None,
        statuses: Sequence[str] = (),
        newest_first: bool = False,
        limit: int = -1,
        offset: int = 0,
    ) -> list[Thing]:
        """Things in the order they were made."""
        where, values = _conditions(kind, parent, owner, statuses)
        order = "DESC" if newest_first else "ASC"
        rows = self._base.execute(
            f"SELECT body FROM things WHERE {where} ORDER BY seq {order} LIMIT ? OFFSET ?",  # noqa: S608 - conditions of ours
            (*values, limit, offset),
        )
        return [json.loads(row[0]) for row in rows]

    def count(
        self, kind: str, *, parent: str | None = None, owner: str | None = None, statuses: Sequence[str] = ()
    ) -> int:
        """How many things there are."""
        where, values = _conditions(kind, parent, owner, statuses)
        what = "COALESCE(SUM(count), 0) FROM counts" if owner is None else "COUNT(*) FROM things"
        row = self._base.execute(f"SELECT {what} WHERE {where}", values).fetchone()
        return int(row[0])

    def count_statuses(self, kind: str, parent: str) -> dict[str, int]:
        """How many things of a parent have which status."""
        rows = self._base.execute(
            "SELECT status, COUNT(*) FROM things WHERE kind = ? AND parent = ? GROUP BY status",
            (kind, parent),
        )
        return {status: int(count) for status, count in rows}

    # Payments

    def write_payment(self, payment: Thing) -> None:
        """A payment that is made: listed and taken off the balance by the same row."""
        names = list(payment)
        self._base.execute(
            f"INSERT INTO payments ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",  # noqa: S608 - names of ours
            [payment[name] for name in names],
        )

    def payments(self) -> list[Thing]:
        """All payments in the order in which they were made."""
        cursor = self._base.execute("SELECT * FROM payments ORDER BY seq")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def sum_payments(self, workspace_id: str) -> int:
        """What a workspace paid, fees and tax among it."""
        row = self._base.execute(
            "SELECT COALESCE(SUM(amount + fees + vat), 0) FROM payments WHERE workspace_id = ?",
            (workspace_id,),
        ).fetchone()
        return int(row[0])


def _conditions(
    kind: str, parent: str | None, owner: str | None, statuses: Sequence[str]
) -> tuple[str, list[str]]:
    parts, values = ["kind = ?"], [kind]
    for column, value in (("parent", parent), ("owner", owner)):
        if value is not None:
            parts.append(f"{column} = ?")
            values.append(value)
    if statuses:
        parts.append(f"status IN ({', '.join('?' * len(statuses))})")
        values.extend(statuses)
    return " AND ".join(parts), values
