"""Django's SQLite backend with a queue in front of its one writer.

SQLite lets a second writer sleep and try again, for up to 100 ms a time, while late comers overtake it.
Measured with eight workers: half of the accepts took 25 ms, one in twenty 160 ms, and the processors idled.
Here a transaction first waits on a lock file beside the database; the kernel wakes the next in line when the
writer is done, or dead. Single statements outside of a transaction still wait as SQLite does.
"""

import contextlib
import os
from functools import lru_cache
from typing import Any

from django.core.files import locks
from django.db.backends.sqlite3 import base, operations

from core.errors import on_failure

_LONGEST_KEPT = 8_000


class DatabaseOperations(operations.DatabaseOperations):
    """Emptying all tables, which PostgreSQL's TRUNCATE does past triggers on rows."""

    def sql_flush(self, style: Any, tables: Any, **options: Any) -> list[str]:
        """Without the triggers that keep logs append-only; they are made again in the same transaction."""
        from core.audit import chain  # noqa: PLC0415  # needs the apps

        return chain.emptying_statements("sqlite", super().sql_flush(style, tables, **options))


@lru_cache(maxsize=512)
def _as_sqlite_has_it(query: str) -> str:
    """A query with SQLite's marks for its parameters; the same few are asked again and again."""
    return str(base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%"))


class CursorWrapper(base.SQLiteCursorWrapper):
    """Django's own, with a memory of queries of everyday length."""

    def convert_query(self, query: str, *, param_names: Any = None) -> str:
        """As the driver takes it."""
        if param_names is None and len(query) <= _LONGEST_KEPT:
            return _as_sqlite_has_it(query)
        return str(super().convert_query(query, param_names=param_names))


class DatabaseWrapper(base.DatabaseWrapper):
    """The connection that settings name as ENGINE "distillery.sqlite3"."""

    ops_class = DatabaseOperations

    _queue: int | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A file that is not there yet is made for this user alone; its journal takes the same mode."""
        if not self.is_in_memory_db():
            with contextlib.suppress(OSError):
                os.close(os.open(self.settings_dict["NAME"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        return super().get_new_connection(conn_params)

    def create_cursor(self, name: Any = None) -> Any:
        """A cursor of ours."""
        return self.connection.cursor(factory=CursorWrapper)

    def _start_transaction_under_autocommit(self) -> None:
        self._wait_in_line()
        with on_failure(lambda error: self._let_next()):
            super()._start_transaction_under_autocommit()  # type: ignore[misc]

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]
        finally:
            self._let_next()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._let_next()

    def _close(self) -> None:
        super()._close()  # type: ignore[misc]
        if self._queue is not None:
            os.close(self._queue)
            self._queue = None

    def _wait_in_line(self) -> None:
        if self.is_in_memory_db():
            return
        if self._queue is None:
            path = f"{self.settings_dict['NAME']}-queue"
            self._queue = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        locks.lock(self._queue, locks.LOCK_EX)

    def _let_next(self) -> None:
        if self._queue is not None:
            locks.unlock(self._queue)
