"""Django's PostgreSQL backend with fewer round trips: health checks, and `core.short_transactions`.

With CONN_HEALTH_CHECKS each request begins with `SELECT 1`: a question and an answer more where a page has
four. A server that ended a connection has said so on its socket, which can be looked at without asking.
"""

import select
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base
from django.db.backends.utils import debug_transaction

from core import prepared_statements

#: A connection that was not asked for so long is asked: a server that vanished says nothing.
ASKED_EVERY_SECONDS = 5.0

_BEGIN = b"BEGIN"
#: One message to the server. The COMMIT waits for no disk and lets go of the locks; the record after it is
#: committed as the installation has set (`synchronous_commit`), and the log is flushed in its order.
_COMMIT = (
    b"SET LOCAL synchronous_commit TO off",
    b"COMMIT",
    b"SELECT pg_catalog.pg_logical_emit_message(true, 'distillery', '')",
)


# The stubs describe Django's backend for the later driver only: hence what is ignored below.


class _ShortCursor(base.Cursor):
    """A cursor of a short transaction: what was to go with the next statement goes with it."""

    wrapper: "DatabaseWrapper"

    def execute(self, query: Any, vars: Any = None) -> None:
        """Execute the statement behind those that wait, in one message; the result is its own."""
        if self.wrapper.has_waiting_statements:
            text = self.mogrify(query, vars)  # type: ignore[attr-defined]
            query, vars = self.wrapper.join_waiting(text), None
        super().execute(query, vars)  # type: ignore[misc]

    def executemany(self, query: Any, vars_list: Any) -> None:
        """Execute it for all parameters, behind what waits."""
        self.wrapper.send_waiting()
        super().executemany(query, vars_list)  # type: ignore[misc]

    def callproc(self, procname: Any, parameters: Any = None) -> None:
        """Call a procedure, behind what waits."""
        self.wrapper.send_waiting()
        super().callproc(procname, parameters)

    def copy_expert(self, sql: Any, file: Any, size: int = 8192) -> None:
        """Copy from or to a file, behind what waits."""
        self.wrapper.send_waiting()
        super().copy_expert(sql, file, size)  # type: ignore[misc]


class DatabaseWrapper(base.DatabaseWrapper):
    """The connection that settings name as ENGINE "distillery.postgresql"."""

    health_check_enabled: bool
    health_check_done: bool
    _asked_at = 0.0
    #: The next transaction is short; the present one is.
    _begins_short = _is_short = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._waiting: list[bytes] = []

    def close_if_health_check_failed(self) -> None:
        """Close the connection if it no longer works; looked at once for each request."""
        if self.connection is None or not self.health_check_enabled or self.health_check_done:
            return
        now = time.monotonic()
        if now - self._asked_at < ASKED_EVERY_SECONDS and self._is_silent():
            self.health_check_done = True
            return
        super().close_if_health_check_failed()
        self._asked_at = now

    def _is_silent(self) -> bool:
        """Whether the server has said nothing since its last answer: neither a notice nor good-bye."""
        if self.connection.closed:
            return False
        poller = select.poll()
        poller.register(self.connection.fileno(), select.POLLIN | select.POLLRDHUP)
        return not poller.poll(0)

    # Short transactions: what `core.short_transactions` says of them. To the driver the connection commits by
    # itself; BEGIN, COMMIT and ROLLBACK are texts of ours.

    @contextmanager
    def short_transaction(self) -> Iterator[None]:
        """The transaction that begins within the block is a short one."""
        self._begins_short = True
        try:
            yield
        finally:
            self._begins_short = self._is_short = False
            self._waiting.clear()

    @property
    def is_short(self) -> bool:
        """Whether a short transaction is open."""
        return self._is_short

    @property
    def has_waiting_statements(self) -> bool:
        """Whether something is to be sent before the next statement."""
        return bool(self._waiting)

    def send_later(self, sql: str, parameters: Sequence[Any]) -> None:
        """Have a statement of a short transaction go with the next one, at the latest with COMMIT."""
        with self.wrap_database_errors, self.connection.cursor() as cursor:
            self._waiting.append(cursor.mogrify(sql, parameters))

    def join_waiting(self, *statements: bytes) -> bytes:
        """The text of what waits and of these statements; nothing waits afterwards."""
        text = b";".join([*self._waiting, *statements])
        self._waiting.clear()
        return text

    def send_waiting(self) -> None:
        """Send what waits, before something that it cannot go with."""
        if self._waiting:
            with self.wrap_database_errors, self.connection.cursor() as cursor:
                cursor.execute(self.join_waiting())

    def create_cursor(self, name: str | None = None) -> Any:
        """A cursor; within a short transaction one that takes with it what waits."""
        if not self._is_short:
            return super().create_cursor(name)
        if name:
            self.send_waiting()
            return super().create_cursor(name)
        cursor = self.connection.cursor(cursor_factory=_ShortCursor)
        cursor.wrapper = self
        cursor.tzinfo_factory = self.tzinfo_factory if settings.USE_TZ else None
        return cursor

    def _start_transaction_under_autocommit(self) -> None:
        # Django's own hook for databases whose driver begins no transaction; here for short ones.
        with debug_transaction(self, "BEGIN"):
            if self._begins_short:
                self._begins_short, self._is_short = False, True
                self._waiting[:] = [_BEGIN]
            else:
                self._set_autocommit(False)  # type: ignore[attr-defined]

    def _commit(self) -> None:
        if not self._is_short:
            super()._commit()  # type: ignore[misc]
            return
        with debug_transaction(self, "COMMIT"), self.wrap_database_errors:
            if self._waiting != [_BEGIN]:
                self._execute_alone(self.join_waiting(*_COMMIT))
        self._is_short = False

    def _rollback(self) -> None:
        if not self._is_short:
            super()._rollback()  # type: ignore[misc]
            return
        has_begun = _BEGIN not in self._waiting
        self._waiting.clear()
        self._is_short = False
        if has_begun:
            with debug_transaction(self, "ROLLBACK"), self.wrap_database_errors:
                self._execute_alone(b"ROLLBACK")

    def _execute_alone(self, text: bytes) -> None:
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(text)
        except base.Database.Error as error:  # type: ignore[attr-defined]
            if error.pgcode == prepared_statements.NO_SUCH_STATEMENT:
                prepared_statements.note_lost_sessions()
            raise
