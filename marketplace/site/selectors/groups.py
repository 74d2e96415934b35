"""Groups of HITs as one worker (or a visitor) may see them, with their ratings."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page
from django.db.models import Avg, Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery, TextField
from django.db.models.expressions import OrderBy
from django.db.models.functions import Cast
from django.http import HttpRequest

from marketplace.eligibility import Verdict, verdicts
from marketplace.models import HIT, HITType, Holding, Rating, Worker
from marketplace.selectors import assignable
from marketplace.site.pagination import numbered

# Ratings of HIT groups as others may see them: a mean, once enough people have rated.

#: Ratings below which a mean would tell who thinks what.
SHOWN_FROM = 3


@dataclass(frozen=True, slots=True)
class Opinion:
    """What those who worked on a group think of it."""

    mean: float
    count: int

    @property
    def words(self) -> str:
        """The mean as it is written: one digit after the point."""
        return f"{self.mean:.1f}"


def load_opinions(hit_types: Iterable[HITType]) -> dict[int, Opinion]:
    """Opinions by primary key of the HIT type, in one query; groups with few ratings have none."""
    rows = (
        Rating.objects.filter(hit_type__in=list(hit_types))
        .order_by()
        .values("hit_type")
        .annotate(mean=Avg("stars"), count=Count("pk"))
        .filter(count__gte=SHOWN_FROM)
    )
    return {row["hit_type"]: Opinion(row["mean"], row["count"]) for row in rows}


def group_opinion(hit_type: HITType) -> Opinion | None:
    """Opinion of one group."""
    return load_opinions([hit_type]).get(hit_type.pk)


def means() -> QuerySet[Any, Any]:
    """Mean of the HIT type of the outer query, for ordering; null where there are few ratings."""
    rows = Rating.objects.filter(hit_type=OuterRef("pk")).order_by().values("hit_type")
    shown = rows.annotate(count=Count("pk"), mean=Avg("stars")).filter(count__gte=SHOWN_FROM)
    return shown.values("mean")


#: Orders of the list of groups, by their name in the URL.
SORTS: dict[str, tuple[str | OrderBy, ...]] = {
    "newest": ("-newest", "-pk"),
    "reward": ("-reward_cents", "-newest", "-pk"),
    "time": ("duration_s", "-reward_cents", "-pk"),
    "available": ("-open_hits", "-newest", "-pk"),
    "rating": (F("rated").desc(nulls_last=True), "-newest", "-pk"),
}
DEFAULT_SORT = "newest"
MAX_SEARCH = 200
MAX_WORDS = 8


@dataclass(frozen=True, slots=True)
class Group:
    """A HIT group as one worker sees it."""

    hit_type: HITType
    available: int
    newest: datetime
    verdict: Verdict
    opinion: Opinion | None


def listed_groups(
    *, request: HttpRequest, worker: Worker | None, search: str, sort: str, now: datetime
) -> tuple[list[Group], Page[HITType]]:
    """One page of the groups that `worker` (None: a visitor) may discover and has work left in."""
    open_types = _without_hidden(_searched(_open_types(worker, now), search), worker)
    newest = _open_hits(now).filter(hit_type=OuterRef("pk")).order_by("-pk").values("created_at")[:1]
    rows = open_types.annotate(newest=Subquery(newest)).select_related("requester")
    if sort == "available":
        count = _open_hits(now).filter(hit_type=OuterRef("pk")).order_by().values("hit_type")
        rows = rows.annotate(open_hits=Subquery(count.annotate(n=Count("pk")).values("n")))
    if sort == "rating":
        rows = rows.annotate(rated=Subquery(means()))
    found = numbered(rows.order_by(*SORTS[sort]), request)
    hit_types = list(found.object_list)
    counts = _available(hit_types, worker, now)
    judged = verdicts(worker=worker, hit_types=hit_types)
    opinions = load_opinions(hit_types)
    shown = [
        Group(
            hit_type=each,
            available=counts[each.pk],
            newest=each.newest,
            verdict=judged[each.pk],
            opinion=opinions.get(each.pk),
        )
        for each in hit_types
    ]
    return shown, found


def available(*, hit_type: HITType, worker: Worker | None, now: datetime) -> int:
    """HITs of the group that `worker` can still take."""
    return _available([hit_type], worker, now)[hit_type.pk]


def _open_hits(now: datetime) -> QuerySet[HIT]:
    return HIT.objects.filter(assignable(now))


def _open_types(worker: Worker | None, now: datetime) -> QuerySet[HITType]:
    hits = _open_hits(now).filter(hit_type=OuterRef("pk"))
    if worker is not None:
        hits = hits.exclude(pk__in=_taken(worker).values("hit_id"))
    types = HITType.objects.filter(Exists(hits))
    if worker is not None and worker.guest_of_id is not None:
        return types.filter(requester=worker.guest_of_id)
    return types


def _taken(worker: Worker) -> QuerySet[Holding]:
    return Holding.objects.filter(worker=worker, state__in=Holding.OCCUPYING)


def _searched(hit_types: QuerySet[HITType], search: str) -> QuerySet[HITType]:
    for word in search.split()[:MAX_WORDS]:
        hit_types = hit_types.filter(
            Q(title__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    return hit_types


def _without_hidden(hit_types: QuerySet[HITType], worker: Worker | None) -> QuerySet[HITType]:
    """Leave out what the worker may not discover.

    Groups share few sets of requirements, so one group of each set is judged, however many there are.
    """
    by_rules = hit_types.annotate(rules=Cast("requirements", TextField()))
    guarded = by_rules.filter(rules__contains="DiscoverPreviewAndAccept").order_by()
    examples = dict(guarded.values("rules").annotate(example=Min("pk")).values_list("example", "rules"))
    if not examples:
        return hit_types
    judged = verdicts(worker=worker, hit_types=HITType.objects.filter(pk__in=examples))
    hidden = [examples[pk] for pk, verdict in judged.items() if not verdict.discover]
    return by_rules.exclude(rules__in=hidden) if hidden else hit_types


def _available(hit_types: list[HITType], worker: Worker | None, now: datetime) -> dict[int, int]:
    def count(hits: QuerySet[HIT]) -> dict[int, int]:
        found = hits.filter(hit_type__in=hit_types).order_by().values("hit_type").annotate(n=Count("pk"))
        return dict(found.values_list("hit_type", "n"))

    offered = count(_open_hits(now))
    taken = count(_open_hits(now).filter(pk__in=_taken(worker).values("hit_id"))) if worker else {}
    return {each.pk: offered.get(each.pk, 0) - taken.get(each.pk, 0) for each in hit_types}
