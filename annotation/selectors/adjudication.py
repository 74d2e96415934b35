"""What waits for a researcher: disagreements of editors, and decisions whose ground changed later."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Case, CharField, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation.models import Answer, Doubt, PassageSelection, Query, QueryStep, ScreeningVote
from annotation.selectors.curation import ShownCandidate, shown_candidates
from annotation.selectors.queries import excluded_by_one_flag
from annotation.units import of_query, query_of
from core.projects.models import Project
from crowd.models import Assignment, Hit, HitUnit

# Decisions that the work that counts no longer bears, and what was built on them.

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


TIED, DISPUTED, EXCLUDED = Query.Status.TIED, Query.Status.DISPUTED, Query.Status.EXCLUDED
_WORK = ("assignment__worker", "assignment__stage", "stage")
#: Why a query waits for a researcher, by what an address calls it.
WAITING_FOR_US = {
    "all": "All",
    "tied": "Tied in screening",
    "one-flag": "Excluded by one flag",
    "disputed": "Disputed in curation",
    "doubt": "Decided on work that no longer counts",
}


def undecided_queries(project: Project, state: str = "all") -> QuerySet[Query]:
    """Queries of a project on which a researcher decides, as they were imported.

    `since` is when they came to be so; `state` tells why they wait, as WAITING_FOR_US names it.
    """
    latest = QueryStep.objects.filter(query=OuterRef("pk")).order_by("-pk")
    doubt = open_doubts(project).filter(query=OuterRef("pk")).order_by("-pk")
    reasons = {
        "doubt": Q(Exists(doubt)),
        "tied": Q(status=TIED),
        "disputed": Q(status=DISPUTED),
        # Asked of each excluded query, for a page shows 25 of 100,000.
        "one-flag": Q(Exists(excluded_by_one_flag(project).filter(query=OuterRef("pk"))), status=EXCLUDED),
    }
    wanted = Q()
    for name, reason in reasons.items():
        if state in ("all", name):
            wanted |= reason
    return (
        Query.objects.filter(wanted, project=project)
        .annotate(
            since=Coalesce(Subquery(doubt.values("raised_at")[:1]), Subquery(latest.values("at")[:1])),
            state=Case(
                *(When(reason, then=Value(name)) for name, reason in reasons.items()),
                default=Value(""),
                output_field=CharField(),
            ),
            why=Coalesce(Subquery(doubt.values("why")[:1]), F("status_reason")),
        )
        .order_by("pk")
    )


def waits_for_us(query: Query) -> str:
    """Why this query waits for a researcher; nothing where it does not."""
    return str(getattr(undecided_queries(query.project).filter(pk=query.pk).first(), "state", ""))


def next_undecided(project: Project, after: int) -> int | None:
    """The next undecided query after this one, else the first of all; None where nothing is left."""
    rows = undecided_queries(project).values_list("pk", flat=True)
    return rows.filter(pk__gt=after).first() or rows.exclude(pk=after).first()


def votes_on(query: Query) -> list[ScreeningVote]:
    """All screening votes on a query, oldest first, with who gave them; also those that do not count."""
    rows = ScreeningVote.objects.filter(query=query).select_related(*_WORK)
    return list(rows.order_by("pk"))


@dataclass(frozen=True, slots=True)
class CandidateVotes:
    """A candidate with the editors who chose it, by their number in the list of selections, from 1."""

    passage: ShownCandidate
    pk: int
    chosen_by: tuple[int, ...]
    highlights: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two candidates of which an editor said that they contradict each other; ranks."""

    editor: int
    a: int
    b: int
    trusted: int | None


@dataclass(frozen=True, slots=True)
class CurationVotes:
    """The candidates of a query against what its editors chose."""

    selections: list[PassageSelection]
    passages: list[CandidateVotes]
    conflicts: list[Conflict]


def selections_on(query: Query) -> CurationVotes:
    """All selections on a query, oldest first, beside its candidates; also those that do not count."""
    rows = PassageSelection.objects.filter(query=query).select_related(*_WORK)
    selections = list(rows.order_by("pk"))
    candidates = shown_candidates([query.pk]).get(query.pk, [])
    pks = dict(query.candidates.values_list("key", "pk"))
    weighed = [
        CandidateVotes(
            candidate,
            pks[candidate.key],
            tuple(n for n, each in enumerate(selections, 1) if candidate.key in each.passages),
            tuple(_marked(candidate, selections)),
        )
        for candidate in candidates
    ]
    return CurationVotes(selections, weighed, _conflicts(candidates, selections))


def _marked(candidate: ShownCandidate, selections: list[PassageSelection]) -> list[str]:
    spans = {
        (span["start"], span["end"])
        for each in selections
        for span in each.highlights
        if span["passage"] == candidate.key
    }
    return [candidate.text[start:end] for start, end in sorted(spans)]


def _conflicts(candidates: list[ShownCandidate], selections: list[PassageSelection]) -> list[Conflict]:
    ranks = {candidate.key: candidate.rank for candidate in candidates}
    return [
        Conflict(number, ranks[pair["a"]], ranks[pair["b"]], ranks.get(pair["trusted"] or ""))
        for number, each in enumerate(selections, 1)
        for pair in each.conflicts
        if pair["a"] in ranks and pair["b"] in ranks
    ]
