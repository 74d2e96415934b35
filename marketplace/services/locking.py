"""Row locks, always taken in the order HIT, requester, worker, so that no two transactions wait in a ring.

They are "no key" locks: rows elsewhere that refer to a locked row can be committed meanwhile.

On SQLite every transaction begins IMMEDIATE and is alone with the database; the locks are no-ops there.
"""

from core.composed_queries import ComposedQuery
from marketplace.models import HIT, Holding, Requester, Worker

_HIT = ComposedQuery(
    HIT,
    ["id"],
    lambda pk: (
        HIT.objects.select_related("hit_type", "requester")
        .select_for_update(of=("self",), no_key=True)
        .filter(pk=pk)
    ),
)


def lock_hit(pk: int) -> HIT:
    """The HIT as it is now, locked until the transaction ends, with type and requester loaded."""
    return _HIT.get(pk)


def lock_people(hit: HIT) -> None:
    """Lock whom decisions about all work of a locked HIT concern: requester, then workers in one order."""
    Requester.objects.select_for_update(no_key=True).get(pk=hit.requester_id)
    undecided = Holding.objects.filter(hit=hit, state__in=(Holding.State.ACCEPTED, Holding.State.SUBMITTED))
    workers = Worker.objects.filter(pk__in=undecided.values("worker"))
    list(workers.select_for_update(no_key=True).order_by("pk").values_list("pk"))


_WORKER = ComposedQuery(
    Worker, ["id"], lambda pk: Worker.objects.select_for_update(no_key=True).filter(pk=pk)
)


def lock_worker(pk: int) -> Worker:
    """The worker as they are now, locked until the transaction ends."""
    return _WORKER.get(pk)
