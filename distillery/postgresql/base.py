"""Django's PostgreSQL backend, but a connection that was used just now is not asked whether it still works.

With CONN_HEALTH_CHECKS each request begins with `SELECT 1`: a question and an answer more where a page has
four. A server that ended a connection has said so on its socket, which can be looked at without asking.
"""

import select
import time

from django.db.backends.postgresql import base

#: A connection that was not asked for so long is asked: a server that vanished says nothing.
ASKED_EVERY_SECONDS = 5.0


class DatabaseWrapper(base.DatabaseWrapper):
    """The connection that settings name as ENGINE "distillery.postgresql"."""

    health_check_enabled: bool
    health_check_done: bool
    _asked_at = 0.0

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
