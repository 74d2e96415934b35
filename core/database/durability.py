"""Transactions that let go of their rows before the disk has them, and whose callers wait until it has."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from django.db import Error, connection, transaction

#: Writes a record to the log and commits it; the log is flushed in its order, so with all that came before.
_FLUSH = "SELECT pg_logical_emit_message(true, 'distillery', '')"


@contextmanager
def released_early() -> Iterator[None]:
    """One transaction; the block is left when its commit is on the disk.

    PostgreSQL keeps the locks of a transaction until its commit is flushed, some milliseconds on most disks.
    Where many change one row in turn (a requester's balances), that is all that can be done in a second. Here
    the locks go with the commit, the next in line begins, and one flush serves all who wait. What builds on a
    commit is flushed after it and never outlives it. A refusal waits for the flush too, since it may name
    what another call has just made. Inside of another transaction, and on other databases, it is an ordinary
    one.
    """
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    with ExitStack() as on_error:
        on_error.callback(_flush_if_possible)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL synchronous_commit = off")
            yield
        on_error.pop_all()
    _flush()


def _flush() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_FLUSH)


def _flush_if_possible() -> None:
    with suppress(Error):  # a connection that is lost has an error of its own
        _flush()
