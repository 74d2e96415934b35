"""Queries on which editors were of two minds, and what each of them said."""

from dataclasses import dataclass

from django.db.models import OuterRef, QuerySet, Subquery

from annotation.models import PassageSelection, Query, QueryStep, ScreeningVote
from annotation.selectors.candidates import ShownCandidate, shown_candidates
from projects.models import Project

TIED, DISPUTED = Query.Status.TIED, Query.Status.DISPUTED
#: Statuses in which a query waits for a researcher, by what an address calls them.
WAITING_FOR_US = {"all": (TIED, DISPUTED), "tied": (TIED,), "disputed": (DISPUTED,)}


def undecided_queries(project: Project, state: str = "all") -> QuerySet[Query]:
    """Tied and disputed queries of a project as they were imported; `since` is when they became so."""
    latest = QueryStep.objects.filter(query=OuterRef("pk")).order_by("-pk")
    return (
        Query.objects.filter(project=project, status__in=WAITING_FOR_US[state])
        .annotate(since=Subquery(latest.values("at")[:1]))
        .order_by("pk")
    )


def next_undecided(project: Project, after: int) -> int | None:
    """The next undecided query after this one, else the first of all; None where nothing is left."""
    rows = undecided_queries(project).values_list("pk", flat=True)
    return rows.filter(pk__gt=after).first() or rows.exclude(pk=after).first()


def votes_on(query: Query) -> list[ScreeningVote]:
    """All screening votes on a query, oldest first, with who gave them; also those that do not count."""
    rows = ScreeningVote.objects.filter(query=query).select_related("assignment__worker", "stage")
    return list(rows.order_by("pk"))


@dataclass(frozen=True, slots=True)
class Weighed:
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
class Weighing:
    """The candidates of a query against what its editors chose."""

    selections: list[PassageSelection]
    passages: list[Weighed]
    conflicts: list[Conflict]


def selections_on(query: Query) -> Weighing:
    """All selections on a query, oldest first, beside its candidates; also those that do not count."""
    rows = PassageSelection.objects.filter(query=query).select_related("assignment__worker", "stage")
    selections = list(rows.order_by("pk"))
    candidates = shown_candidates([query.pk]).get(query.pk, [])
    pks = dict(query.candidates.values_list("key", "pk"))
    weighed = [
        Weighed(
            candidate,
            pks[candidate.key],
            tuple(n for n, each in enumerate(selections, 1) if candidate.key in each.passages),
            tuple(_marked(candidate, selections)),
        )
        for candidate in candidates
    ]
    return Weighing(selections, weighed, _conflicts(candidates, selections))


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
