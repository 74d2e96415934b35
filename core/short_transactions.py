"""Transactions of few statements that change what many wait for in turn, such as a requester's balance.

PostgreSQL keeps a transaction's locks until its COMMIT is on the disk, some milliseconds, and each statement
is a round trip. In a short transaction BEGIN goes with the first statement, what has no result with the next
one, and COMMIT asks for the disk only after it has let go of the locks, in the same message: the next in line
begins, and one flush serves all who wait for one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction


@contextmanager
def short_transaction() -> Iterator[None]:
    """One transaction, as `transaction.atomic`; the block is left when its commit is on the disk.

    So nothing is answered, and no hook of `transaction.on_commit` is run, that a power cut takes away; where
    `synchronous_standby_names` has commits wait for standbys, these have it, too. Others see the rows up to
    one flush before that. The log is written and flushed in its order: a transaction that builds on such
    rows, or claims a message about them before sending it, is never on the disk without them. Only what was
    read and nothing else (GetHIT of a HIT whose own call is not yet answered) may be gone after a power cut.

    Killed between any two steps, the transaction is there as a whole or not at all, and its caller has no
    answer: the call is repeated with its token. A transaction that ends in an error waits for no disk;
    refusals of calls do, with their line in the log of calls.

    Inside of another transaction it is a part of that one; on other databases it is an ordinary one.
    """
    wrapper: Any = transaction.get_connection()
    if not hasattr(wrapper, "short_transaction") or wrapper.in_atomic_block:
        with transaction.atomic():
            yield
        return
    with wrapper.short_transaction(), transaction.atomic():
        yield
