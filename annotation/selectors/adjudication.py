"""Queries on which editors were of two minds, and what each of them said."""

from dataclasses import dataclass

from django.db.models import Case, CharField, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation.models import PassageSelection, Query, QueryStep, ScreeningVote
from annotation.selectors.candidates import ShownCandidate, shown_candidates
from annotation.selectors.doubts import open_doubts
from annotation.selectors.screening import excluded_by_one_flag
from core.projects.models import Project

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
