"""Passage curation: queries that need it, what editors chose, estimated recall, and what waits for a person.

A researcher is asked about disagreements of editors, and about decisions whose ground changed later.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import Case, CharField, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation import models
from annotation.candidates import Region, drawn_below, overlaps
from annotation.rules import Selection
from annotation.selectors.queries import excluded_by_one_flag
from annotation.units import of_query, query_of
from core.projects.models import Project
from crowd.counted_work import counting
from crowd.models import Assignment, Hit, HitUnit, Stage
from metrics.figure import counted

# Candidate passages as editors see them.

#: key, rank, text, title, url, page, start, end, below
Row = tuple[str, int, str, str, str, str, int | None, int | None, bool]


@dataclass(frozen=True)
class ShownCandidate:
    """A candidate that is shown, and the ranks of those that it overlaps with.

    Ranks are those of the search: where a repetition was folded, a number is left out. `below`: it was drawn
    from below the cut, so that recall can be estimated.
    """

    key: str
    rank: int
    text: str
    title: str
    url: str
    page: str
    start: int | None
    end: int | None
    below: bool
    overlaps: tuple[int, ...]


def shown_candidates(query_pks: Sequence[int]) -> dict[int, list[ShownCandidate]]:
    """Candidates of each query without the folded ones, best first; in one query. No entry without any."""
    rows = (
        models.CandidatePassage.objects.filter(query__in=query_pks, folded_into=None)
        .order_by("query", "rank")
        .values_list(
            "query", "key", "rank", "text", "title", "url", "page", "start", "end", "retrieval__below"
        )
    )
    by_query: dict[int, list[Row]] = defaultdict(list)
    for query, key, rank, text, title, url, page, start, end, below in rows:
        by_query[query].append((key, rank, text, title, url, page, start, end, below is not None))
    return {query: _order_candidates(fields) for query, fields in by_query.items()}


def first(candidates: Sequence[ShownCandidate], k: int) -> list[ShownCandidate]:
    """The k best, and those that were drawn from below the cut."""
    best = [each for each in candidates if not each.below][:k]
    return [*best, *(each for each in candidates if each.below)]


def _order_candidates(rows: Sequence[Row]) -> list[ShownCandidate]:
    regions = [Region(key, text, page, start, end) for key, _, text, _, _, page, start, end, _ in rows]
    return [
        ShownCandidate(*row, overlaps=tuple(rows[place][1] for place in places))
        for row, places in zip(rows, overlaps(regions), strict=True)
    ]


# How many good passages nobody sees: estimated from those that were drawn from below the cut.

_Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class PooledQuery:
    """A query whose editors also saw passages from below: how many of each kind they chose."""

    above: int
    below: int
    sampled: int
    of: int

    @property
    def missed(self) -> float:
        """Good passages below the cut, estimated: each that was chosen stands for of / sampled."""
        return self.below * self.of / self.sampled if self.sampled else 0.0


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of the passages that editors would choose which are above the cut.

    The ratio of sums over queries, with the standard error of a ratio by linearisation (Cochran 1977,
    section 6.3); it needs two queries. `recall` is None where nothing was chosen.
    """

    queries: int
    above: int
    below: int
    missed: float
    recall: float | None
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @property
    def in_words(self) -> str:
        """A sentence or two."""
        if not self.queries:
            return (
                "No query has a choice of editors who also saw passages from below the cut. Curation shows "
                "some with the option `below`, and `manage.py candidates --below N` stores some."
            )
        selection_sentence = (
            f"Queries: {self.queries:,}. Editors chose {counted(self.above, 'passage')} above the cut, and "
            f"{self.below:,} of those drawn from below, which stand for about {self.missed:.1f}."
        )
        if self.recall is None:
            return f"{selection_sentence} Nothing was chosen, so recall cannot be estimated."
        span = "" if self.low is None or self.high is None else f" (95%: {self.low:.3f} to {self.high:.3f})"
        return f"{selection_sentence} Estimated recall of what is shown: {self.recall:.3f}{span}."


def recall_of(project: Project) -> Recall:
    """Estimated over the queries of a project with good selections; two statements."""
    selected_keys: dict[int, set[str]] = {}
    selections = models.PassageSelection.objects.filter(
        counting("assignment"), query__project=project
    ).values_list("query", "passages")
    for query, keys in selections.iterator():
        selected_keys.setdefault(query, set()).update(str(key) for key in keys)
    candidates = models.CandidatePassage.objects.filter(
        counting("query__selections__assignment"), query__project=project, folded_into=None
    ).distinct()
    rows = candidates.order_by().values_list("pk", "query", "key", "retrieval").iterator()
    return estimate(_seen(((query, key, retrieval) for _, query, key, retrieval in rows), selected_keys))


def _seen(rows: Iterable[tuple[int, str, Any]], selected_keys: Mapping[int, set[str]]) -> list[PooledQuery]:
    above: dict[int, int] = {}
    below: dict[int, int] = {}
    draws: dict[int, tuple[int, int]] = {}
    for query, key, retrieval in rows:
        draw = drawn_below(retrieval)
        counts = above if draw is None else below
        counts[query] = counts.get(query, 0) + (key in selected_keys.get(query, ()))
        if draw is not None:
            draws[query] = draw
    return [
        PooledQuery(above.get(query, 0), below.get(query, 0), sampled, of)
        for query, (sampled, of) in draws.items()
    ]


def estimate(seen: Iterable[PooledQuery]) -> Recall:
    """Recall with its interval, cut to 0 and 1."""
    queries = list(seen)
    above, below = sum(each.above for each in queries), sum(each.below for each in queries)
    missed = math.fsum(each.missed for each in queries)
    total, n = above + missed, len(queries)
    if not total:
        return Recall(n, above, below, missed, None, None, None)
    recall = above / total
    if n < 2:
        return Recall(n, above, below, missed, recall, None, None)
    residuals = math.fsum((each.above - recall * (each.above + each.missed)) ** 2 for each in queries)
    error = math.sqrt(residuals * n / (n - 1)) / total
    low, high = max(0.0, recall - _Z95 * error), min(1.0, recall + _Z95 * error)
    return Recall(n, above, below, missed, recall, low, high)


Status = models.Query.Status


def open_statuses(*, screened: bool) -> list[str]:
    """Statuses in which a query's passages can be chosen."""
    return [Status.ACCEPTED] if screened else [Status.WAITING, Status.ACCEPTED]


def to_curate(stage: Stage, *, screened: bool) -> QuerySet[models.Query]:
    """Queries of the project in such a status that have a candidate to look at."""
    candidates = models.CandidatePassage.objects.filter(query=OuterRef("pk"), folded_into=None)
    return models.Query.objects.filter(
        Exists(candidates),
        project=stage.project_id,
        status__in=open_statuses(screened=screened),
        source__state=models.QuerySource.State.READY,
    )


def selection_counts(stage: Stage, *, screened: bool) -> Iterator[tuple[int, int]]:
    """Queries to curate with the number of selections that each has in this stage.

    Those that wait for a person's decision are there, though nothing is decided on them yet.
    """
    good = Q(selections__stage=stage, selections__assignment__state__in=list(Assignment.GOOD))
    rows = to_curate(stage, screened=screened).annotate(chosen=Count("selections", filter=good))
    return iter(rows.order_by("pk").values_list("pk", "chosen").iterator())


def undecided(stage: Stage, *, screened: bool) -> dict[int, list[Selection]]:
    """Selections of this stage that count, by query, of queries that still wait for a curated set."""
    return _by_query(
        models.PassageSelection.objects.filter(
            counting("assignment"), stage=stage, query__status__in=open_statuses(screened=screened)
        )
    )


def selections_that_count(stage: Stage, queries: Collection[int]) -> dict[int, list[Selection]]:
    """The selections of this stage that count, by query; a query without any has none."""
    mine = models.PassageSelection.objects.filter(counting("assignment"), stage=stage, query__in=queries)
    return {query: [] for query in queries} | _by_query(mine)


def _by_query(selections: QuerySet[models.PassageSelection]) -> dict[int, list[Selection]]:
    rows = selections.order_by("query_id", "pk").values_list("query_id", "answerable", "passages")
    return {
        pk: [frozenset(passages if answerable else ()) for _, answerable, passages in group]
        for pk, group in groupby(rows.iterator(), key=itemgetter(0))
    }


def candidates_by_key(queries: Sequence[int]) -> dict[int, dict[str, int]]:
    """Primary keys of candidates by key, for each query, the best ranked first."""
    rows = models.CandidatePassage.objects.filter(query_id__in=queries).order_by("query_id", "rank")
    candidates: dict[int, dict[str, int]] = {query: {} for query in queries}
    for query, key, pk in rows.values_list("query_id", "key", "pk"):
        candidates[query][key] = pk
    return candidates


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
    counts_by_query: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    sources: list[tuple[int, QuerySet[models.PassageSelection] | QuerySet[models.Answer]]] = [
        (1, models.Answer.objects.filter(_NOT_REJECTED, query__in=queries, state__in=models.Answer.COUNTED))
    ]
    if "curation" in kinds:
        sources.append((0, models.PassageSelection.objects.filter(_NOT_REJECTED, query__in=queries)))
    for place, rows in sources:
        for query, count in rows.order_by().values_list("query").annotate(n=Count("pk")):
            counts_by_query[query][place] = count
    offered = HitUnit.objects.filter(
        unit__in=[of_query(pk) for pk in queries],
        hit__state__in=_ON_OFFER,
        hit__stage__kind__in=kinds,
        hit__stage__project__in=models.Query.objects.filter(pk__in=queries).values("project"),
    )
    for unit, count in offered.order_by().values_list("unit").annotate(n=Count("pk")):
        counts_by_query[query_of(unit)][2] = count
    return {query: LaterWork(*counts) for query, counts in counts_by_query.items()}


def open_doubts(project: Project) -> QuerySet[models.Doubt]:
    """Doubts of a project that wait for a person."""
    return models.Doubt.objects.filter(query__project=project, outcome="")


@dataclass(frozen=True, slots=True)
class DoubtView:
    """An open doubt with what was built on the decision."""

    doubt: models.Doubt
    later: LaterWork


def doubts_about(query: models.Query) -> list[DoubtView]:
    """The open doubts about a query, oldest first."""
    rows = models.Doubt.objects.filter(query=query, outcome="").select_related("stage").order_by("pk")
    return [
        DoubtView(doubt, later_work(doubt.stage.kind, [query.pk]).get(query.pk, LaterWork()))
        for doubt in rows
    ]


TIED, DISPUTED, EXCLUDED = (
    models.Query.Status.TIED,
    models.Query.Status.DISPUTED,
    models.Query.Status.EXCLUDED,
)
_WORK = ("assignment__worker", "assignment__stage", "stage")
#: Why a query waits for a researcher, by what an address calls it.
WAITING_FOR_US = {
    "all": "All",
    "tied": "Tied in screening",
    "one-flag": "Excluded by one flag",
    "disputed": "Disputed in curation",
    "doubt": "Decided on work that no longer counts",
}


def undecided_queries(project: Project, state: str = "all") -> QuerySet[models.Query]:
    """Queries of a project on which a researcher decides, as they were imported.

    `since` is when they came to be so; `state` tells why they wait, as WAITING_FOR_US names it.
    """
    latest = models.QueryStep.objects.filter(query=OuterRef("pk")).order_by("-pk")
    doubt = open_doubts(project).filter(query=OuterRef("pk")).order_by("-pk")
    reasons = {
        "doubt": Q(Exists(doubt)),
        "tied": Q(status=TIED),
        "disputed": Q(status=DISPUTED),
        # Asked of each excluded query, for a page shows 25 of 100,000.
        "one-flag": Q(Exists(excluded_by_one_flag(project).filter(query=OuterRef("pk"))), status=EXCLUDED),
    }
    any_reason = Q()
    for name, reason in reasons.items():
        if state in ("all", name):
            any_reason |= reason
    return (
        models.Query.objects.filter(any_reason, project=project)
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


def waits_for_us(query: models.Query) -> str:
    """Why this query waits for a researcher; nothing where it does not."""
    return str(getattr(undecided_queries(query.project).filter(pk=query.pk).first(), "state", ""))


def next_undecided(project: Project, after: int) -> int | None:
    """The next undecided query after this one, else the first of all; None where nothing is left."""
    rows = undecided_queries(project).values_list("pk", flat=True)
    return rows.filter(pk__gt=after).first() or rows.exclude(pk=after).first()


def votes_on(query: models.Query) -> list[models.ScreeningVote]:
    """All screening votes on a query, oldest first, with who gave them; also those that do not count."""
    rows = models.ScreeningVote.objects.filter(query=query).select_related(*_WORK)
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

    selections: list[models.PassageSelection]
    passages: list[CandidateVotes]
    conflicts: list[Conflict]


def selections_on(query: models.Query) -> CurationVotes:
    """All selections on a query, oldest first, beside its candidates; also those that do not count."""
    rows = models.PassageSelection.objects.filter(query=query).select_related(*_WORK)
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


def _marked(candidate: ShownCandidate, selections: list[models.PassageSelection]) -> list[str]:
    spans = {
        (span["start"], span["end"])
        for each in selections
        for span in each.highlights
        if span["passage"] == candidate.key
    }
    return [candidate.text[start:end] for start, end in sorted(spans)]


def _conflicts(candidates: list[ShownCandidate], selections: list[models.PassageSelection]) -> list[Conflict]:
    ranks = {candidate.key: candidate.rank for candidate in candidates}
    return [
        Conflict(number, ranks[pair["a"]], ranks[pair["b"]], ranks.get(pair["trusted"] or ""))
        for number, each in enumerate(selections, 1)
        for pair in each.conflicts
        if pair["a"] in ranks and pair["b"] in ranks
    ]
