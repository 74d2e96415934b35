"""States on a page are right to the second: what is due is applied before it is read.

The periodic sweep does the same for everything; these look only at what the page is about, in one query
where nothing is due.
"""

from datetime import datetime

from django.db.models import Q

from marketplace.models import Holding, Requester, Worker
from marketplace.sweep import settle

State = Holding.State
_AT_ONCE = 100


def settle_overdue(now: datetime) -> None:
    """Free the places of workers who ran out of time, so that lists offer them."""
    _settle(Q(state=State.ACCEPTED, deadline__lte=now), now)


def settle_worker(worker: Worker, now: datetime) -> None:
    """Apply deadlines and automatic approvals to this worker's assignments."""
    due = Q(state=State.ACCEPTED, deadline__lte=now) | Q(state=State.SUBMITTED, auto_approve_at__lte=now)
    _settle(due & Q(worker=worker), now)


def _settle(due: Q, now: datetime) -> None:
    holdings = Holding.objects.filter(due).select_related("hit").order_by()[:_AT_ONCE]
    hits = {holding.hit_id: holding.hit for holding in holdings}
    if hits:
        settle(now=now, hits=list(hits.values()))


def settle_approvals(requester: Requester, now: datetime) -> None:
    """Free overdue places and apply automatic approvals in HITs of this requester."""
    settle_overdue(now)
    _settle(Q(state=State.SUBMITTED, auto_approve_at__lte=now, requester=requester), now)
