"""How long PostgreSQL lets one of our statements run, wait for a lock, or leave a transaction open.

Without limits one stuck transaction blocks every web thread in turn. The web server and jobs workers have
limits of their own; management commands, `migrate` among them, have none. A pooler gives a connection of the
server to many clients in turn, so there the limits, and `jit`, are the database's own to set.

Statements are not compiled either (`jit`): PostgreSQL takes some of ours, with conditions that it believes
to be costly, for worth it, and then compiles for longer than it runs them: 1.7 of 1.8 s where a release is
previewed.
"""

from typing import Any

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

_SQL = (
    "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false),"
    " set_config('idle_in_transaction_session_timeout', %s, false), set_config('jit', 'off', false)"
)


def limit_connections(part: str) -> None:
    """Have every connection of this process from now on keep the limits of this part ("web" or "jobs")."""
    if settings.DATABASE_DIRECT_URL:
        return
    limits = settings.DATABASE_TIMEOUTS[part]

    def limit(connection: BaseDatabaseWrapper, **_: Any) -> None:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(_SQL, [f"{seconds}s" for seconds in limits])

    connection_created.connect(limit, weak=False, dispatch_uid="distillery.dbtimeouts")
