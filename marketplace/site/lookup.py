"""From what a URL names to rows: a worker's own alone, right to the second, and in pages."""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse

from marketplace.lifecycle.expiry import settle
from marketplace.models import HITType, Holding, Requester, Worker

_ENTITY_ID = re.compile(r"[A-Z0-9]{1,64}")


def entity_id(named: str | None) -> str:
    """An id from a form or a query, or "" where none was given; what cannot be an id is not found."""
    if named and not _ENTITY_ID.fullmatch(named):
        raise Http404("There is nothing of this name.")
    return named or ""


def group_named(name: str) -> HITType:
    """HIT type by its group id, or by its own id as the real service's links have it."""
    groups = HITType.objects.select_related("requester")
    group = groups.filter(Q(group_id=name) | Q(type_id=name)).first()
    if group is None:
        raise Http404("There is no such group of HITs.")
    return group


def own_holding(worker: Worker, pk: int) -> Holding:
    """An assignment of this worker."""
    mine = Holding.objects.select_related("hit__hit_type__requester").defer("answer")
    return get_object_or_404(mine, worker=worker, pk=pk)


@cache
def _work_path() -> str:
    return reverse("site:work", args=["GROUP", "HIT"]).replace("GROUP", "{}").replace("HIT", "{}")


def work_url(holding: Holding) -> str:
    """Address of the working page of a holding; its HIT and HIT type must be loaded."""
    path = _work_path().format(holding.hit.hit_type.group_id, holding.hit.hit_id)
    return f"{path}?assignment_id={holding.assignment_id}"


# States on a page are right to the second: what is due is applied before it is read. The periodic sweep does
# the same for everything; these look only at what the page is about, in one query where nothing is due.

State = Holding.State
#: A page waits for no more than these; what is beyond them is the sweep's.
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


# Pages of lists that are too long for one, numbered or by what comes after a row.

ROWS = 20
M = TypeVar("M", bound=Model)


def numbered(rows: QuerySet[Any] | Sequence[Any], request: HttpRequest, *, name: str = "page") -> Page[Any]:
    """The page that the URL asks for; the nearest one where it asks for nonsense."""
    return Paginator(rows, ROWS).get_page(request.GET.get(name))


def after(rows: QuerySet[M], request: HttpRequest, *, name: str = "before") -> tuple[list[M], int | None]:
    """Rows of an endless log, newest first, older than the one in the URL, and where the next page starts.

    Costs the same on the first page and on the thousandth; nothing is counted.
    """
    start = request.GET.get(name, "")
    if start.isascii() and start.isdigit():
        rows = rows.filter(pk__lt=min(int(start), 2**63 - 1))
    batch = list(rows.order_by("-pk")[: ROWS + 1])
    return batch[:ROWS], batch[ROWS - 1].pk if len(batch) > ROWS else None
