"""A project's queries: the table of them, how far each is, and which of them screening asks about."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, TypedDict

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django_stubs_ext import WithAnnotations

from annotation.models import (
    Answer,
    CandidatePassage,
    PassageSelection,
    Query,
    QuerySource,
    QueryStep,
    ScreeningVote,
)
from annotation.rules.screening import Vote
from core.projects.models import Project
from crowd.counted_work import counting
from crowd.models import Assignment, Stage

# Queries to be screened, and what editors said about them.


def missing_votes(stage: Stage) -> Iterator[tuple[int, int]]:
    """Waiting queries of the project with how many votes they miss, where they miss any.

    Votes that wait for a person's decision are there, though nothing is decided on them yet.
    """
    good = Q(screening_votes__stage=stage, screening_votes__assignment__state__in=list(Assignment.GOOD))
    rows = (
        Query.objects.filter(
            project=stage.project_id,
            status=Query.Status.WAITING,
            source__state=QuerySource.State.READY,
        )
        .annotate(votes=Count("screening_votes", filter=good))
        .filter(votes__lt=stage.redundancy)
        .order_by("pk")
        .values_list("pk", "votes")
    )
    for pk, votes in rows.iterator():
        yield pk, stage.redundancy - votes


def with_enough_votes(stage: Stage) -> list[int]:
    """Waiting queries on which as many votes of this stage count as it asks for."""
    rows = (
        ScreeningVote.objects.filter(counting("assignment"), stage=stage, query__status=Query.Status.WAITING)
        .order_by()
        .values("query_id")
        .annotate(votes=Count("pk"))
        .filter(votes__gte=stage.redundancy)
    )
    return sorted(rows.values_list("query_id", flat=True))


def votes_that_count(stage: Stage, queries: Collection[int]) -> dict[int, list[Vote]]:
    """The votes of this stage that count, by query; a query without any has none."""
    rows = (
        ScreeningVote.objects.filter(counting("assignment"), stage=stage, query__in=queries)
        .order_by("query_id", "pk")
        .values_list("query_id", "unambiguous", "answerable", "intent", "excluded_kind", "sensitive", "adult")
    )
    found: dict[int, list[Vote]] = {query: [] for query in queries}
    for pk, group in groupby(rows.iterator(), key=itemgetter(0)):
        found[pk] = [Vote(*row[1:]) for row in group]
    return found


def excluded_by_one_flag(project: Project) -> QuerySet[Any, Any]:
    """Keys of queries that votes excluded for one flag alone: without it most of them find the query fit."""
    fit = Q(unambiguous=True, answerable=True, intent=ScreeningVote.Intent.INFORMATIONAL, excluded_kind="")
    return (
        ScreeningVote.objects.filter(
            counting("assignment"),
            query__project=project,
            query__status=Query.Status.EXCLUDED,
            query__by_hand=False,
        )
        .order_by()
        .values("query", "stage")
        .annotate(
            fit=Count("pk", filter=fit),
            unfit=Count("pk", filter=~fit),
            flags=Count("pk", filter=Q(sensitive=True) | Q(adult=True)),
        )
        .filter(flags=1, fit__gt=F("unfit"))
        .values("query")
    )


Status = Query.Status
#: Statuses in which a query waits at, or was stopped by, each part of the pipeline.
AT: Mapping[str, tuple[Status, ...]] = {
    "screening": (Status.WAITING, Status.TIED, Status.EXCLUDED),
    "curation": (Status.ACCEPTED, Status.DISPUTED, Status.UNANSWERABLE),
    "distillation": (Status.CURATED, Status.ANSWERED),
}
#: Statuses that a query has once it came through a part of the pipeline.
THROUGH: Mapping[str, tuple[Status, ...]] = {
    "screening": AT["curation"] + AT["distillation"],
    "curation": AT["distillation"],
}
#: What the address can ask for as `status`: a status, or one of these that hold over several.
STATUSES: Mapping[str, str] = {
    "": "Any status",
    **{str(value): label[:1].upper() + label[1:] for value, label in Status.choices},
    "through-screening": "Came through screening, wherever it is now",
    "through-curation": "Came through curation, wherever it is now",
    "taken-out-screening": "Taken out before it was accepted",
    "taken-out-curation": "Taken out before it was curated",
    "taken-out-distillation": "Taken out afterwards",
}
TYPES: Mapping[str, str] = {
    "": "Any type",
    **{value: value.capitalize() for value in Query.Type.values},
    "none": "Without a type",
    "yes-no": "Yes-no queries",
}
ONLY: Mapping[str, str] = {
    "": "All",
    "rewrite": "With an answer to be rewritten",
    "flagged": "With a flagged answer that is not reviewed",
    "undecided": "With an answer without flags that is not reviewed",
    "no-answer": "Without an approved answer",
    "no-passages": "Without candidate passages",
    "by-hand": "Accepted or excluded by hand",
    "one-flag": "Excluded by one flag against a majority",
}
_LONGEST = 200
_LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Filters:
    """What an address asks for; what it has no words for is left out."""

    status: str = ""
    type: str = ""
    source: int = 0
    only: str = ""
    words: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "Filters":
        """Read from an address; nonsense counts as nothing."""

        def one_of(name: str, options: Mapping[str, object]) -> str:
            return given.get(name, "") if given.get(name, "") in options else ""

        source = given.get("source", "")
        number = int(source) if source.isascii() and source.isdigit() and len(source) < 20 else 0
        return cls(
            status=one_of("status", STATUSES),
            type=one_of("type", TYPES),
            source=number if number <= _LARGEST_ID else 0,
            only=one_of("only", ONLY),
            words=given.get("q", "").replace("\0", "").strip()[:_LONGEST],
        )


def of_project(project: Project) -> QuerySet[Query]:
    """Queries of a project whose import was finished; others are worked on by nobody."""
    return Query.objects.filter(project=project, source__state=QuerySource.State.READY)


class _Departure(TypedDict):
    left_at: str


def with_left_at(rows: QuerySet[Query]) -> "QuerySet[WithAnnotations[Query, _Departure]]":
    """Adds `left_at`, the status from which a query was last taken out; `waiting` where no step says so."""
    last = QueryStep.objects.filter(query=OuterRef("pk"), after=Status.WITHDRAWN).order_by("-pk")
    return rows.annotate(left_at=Coalesce(Subquery(last.values("before")[:1]), Value(Status.WAITING.value)))


def rows(project: Project, filters: Filters) -> QuerySet[Query]:
    """The queries that an address asks for, as they were imported, each with its source."""
    found = _in_status(of_project(project), filters.status)
    if filters.type == "yes-no":
        found = found.filter(yes_no=True)
    elif filters.type:
        found = found.filter(type="" if filters.type == "none" else filters.type)
    if filters.source:
        found = found.filter(source=filters.source)
    if filters.words:
        found = found.filter(Q(text__icontains=filters.words) | Q(key=filters.words))
    found = _only(project, found, filters.only)
    return found.select_related("source").order_by("pk")


def _in_status(found: QuerySet[Query], status: str) -> QuerySet[Query]:
    if status in Status.values:
        return found.filter(status=status)
    how, _, part = status.rpartition("-")
    if how == "through":
        statuses = THROUGH[part]
        taken_out_later = Q(status=Status.WITHDRAWN, left_at__in=statuses)
        return with_left_at(found).filter(Q(status__in=statuses) | taken_out_later)
    if how == "taken-out":
        return with_left_at(found.filter(status=Status.WITHDRAWN)).filter(left_at__in=AT[part])
    return found


def _only(project: Project, found: QuerySet[Query], only: str) -> QuerySet[Query]:
    answers = Answer.objects.filter(query=OuterRef("pk"))
    wanted = {
        "no-passages": ~Exists(CandidatePassage.objects.filter(query=OuterRef("pk"))),
        "by-hand": Q(by_hand=True),
        "one-flag": Q(pk__in=excluded_by_one_flag(project)),
        "no-answer": ~Exists(answers.filter(state=Answer.State.APPROVED)),
        "undecided": Exists(answers.filter(state=Answer.State.UNDECIDED, flags__isnull=True)),
        "rewrite": Exists(answers.filter(state=Answer.State.REWRITE)),
        "flagged": Exists(answers.filter(state=Answer.State.UNDECIDED, flags__isnull=False)),
    }
    return found.filter(wanted[only]) if only else found


@dataclass(frozen=True, slots=True)
class Progress:
    """What people have said about a query so far, as far as it counts."""

    votes: int = 0
    selections: int = 0
    answers: int = 0


def progress(queries: Iterable[int]) -> dict[int, Progress]:
    """Progress of these queries, in three questions to the database; queries that nobody saw are missing."""
    wanted = list(queries)
    that_count = counting("assignment")
    votes = _counts(ScreeningVote.objects.filter(that_count, query__in=wanted))
    selections = _counts(PassageSelection.objects.filter(that_count, query__in=wanted))
    answers = _counts(Answer.objects.filter(that_count, query__in=wanted, state__in=Answer.COUNTED))
    return {
        pk: Progress(votes.get(pk, 0), selections.get(pk, 0), answers.get(pk, 0))
        for pk in votes.keys() | selections.keys() | answers.keys()
    }


def _counts(found: QuerySet[ScreeningVote] | QuerySet[PassageSelection] | QuerySet[Answer]) -> dict[int, int]:
    return dict(found.order_by().values_list("query").annotate(n=Count("pk")))


def sources(project: Project, most: int = 200) -> list[QuerySource]:
    """Finished imports of a project, the latest first."""
    ready = QuerySource.objects.filter(project=project, state=QuerySource.State.READY)
    return list(ready.only("pk", "name").order_by("-pk")[:most])
