"""Decisions that the work that counts no longer bears, and what was built on them."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotation.models import Answer, Doubt, PassageSelection, Query
from annotation.units import of_query, query_of
from core.projects.models import Project
from crowd.models import Assignment, Hit, HitUnit

#: Kinds of stages that build on what a kind decides.
_LATER: Mapping[str, tuple[str, ...]] = {
    "screening": ("curation", "distillation"),
    "curation": ("distillation",),
}
_NOT_REJECTED = Q(assignment__state__in=Assignment.GOOD)
_ON_OFFER = (Hit.State.PLANNED, Hit.State.OPEN)


@dataclass(frozen=True, slots=True)
class LaterWork:
    """What later stages made of a decision: choices of passages, answers, HITs on offer."""

    selections: int = 0
    answers: int = 0
    hits: int = 0

    def __bool__(self) -> bool:
        return bool(self.selections or self.answers or self.hits)

    def __str__(self) -> str:
        parts = (
            (self.selections, "choice of passages", "choices of passages"),
            (self.answers, "answer", "answers"),
            (self.hits, "HIT on offer", "HITs on offer"),
        )
        return ", ".join(f"{count:,} {one if count == 1 else many}" for count, one, many in parts if count)


def later_work(kind: str, queries: Collection[int]) -> dict[int, LaterWork]:
    """What was built on the decisions of a kind about these queries; those without any are left out."""
    kinds = _LATER[kind]
    found: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    sources: list[tuple[int, QuerySet[PassageSelection] | QuerySet[Answer]]] = [
        (1, Answer.objects.filter(_NOT_REJECTED, query__in=queries, state__in=Answer.COUNTED))
    ]
    if "curation" in kinds:
        sources.append((0, PassageSelection.objects.filter(_NOT_REJECTED, query__in=queries)))
    for place, rows in sources:
        for query, count in rows.order_by().values_list("query").annotate(n=Count("pk")):
            found[query][place] = count
    offered = HitUnit.objects.filter(
        unit__in=[of_query(pk) for pk in queries],
        hit__state__in=_ON_OFFER,
        hit__stage__kind__in=kinds,
        hit__stage__project__in=Query.objects.filter(pk__in=queries).values("project"),
    )
    for unit, count in offered.order_by().values_list("unit").annotate(n=Count("pk")):
        found[query_of(unit)][2] = count
    return {query: LaterWork(*counts) for query, counts in found.items()}


def open_doubts(project: Project) -> QuerySet[Doubt]:
    """Doubts of a project that wait for a person."""
    return Doubt.objects.filter(query__project=project, outcome="")


@dataclass(frozen=True, slots=True)
class DoubtView:
    """An open doubt with what was built on the decision."""

    doubt: Doubt
    later: LaterWork


def doubts_about(query: Query) -> list[DoubtView]:
    """The open doubts about a query, oldest first."""
    rows = Doubt.objects.filter(query=query, outcome="").select_related("stage").order_by("pk")
    return [
        DoubtView(doubt, later_work(doubt.stage.kind, [query.pk]).get(query.pk, LaterWork()))
        for doubt in rows
    ]
