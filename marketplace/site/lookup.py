"""From what a URL names to a row: rows that are not this worker's do not exist."""

import re
from functools import cache

from django.db.models import Q
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse

from core.composed_queries import ComposedQuery
from marketplace.models import HITType, Holding, Worker

_ENTITY_ID = re.compile(r"[A-Z0-9]{1,64}")


def entity_id(named: str | None) -> str:
    """An id from a form or a query, or "" where none was given; what cannot be an id is not found."""
    if named and not _ENTITY_ID.fullmatch(named):
        raise Http404("There is nothing of this name.")
    return named or ""


_GROUP = ComposedQuery(
    HITType,
    ["group_id", "type_id"],
    lambda group_id, type_id: (
        HITType.objects.select_related("requester")
        .filter(Q(group_id=group_id) | Q(type_id=type_id))
        .order_by("pk")
    ),
)


def group_named(name: str) -> HITType:
    """HIT type by its group id, or by its own id as the real service's links have it."""
    found = _GROUP.first(name, name)
    if found is None:
        raise Http404("There is no such group of HITs.")
    return found


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
