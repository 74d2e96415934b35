"""Which answers count, and for what."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.flags import FlagQuery
from annotation.models import Answer, CuratedPassage, HeldOutWorker, Query, QuerySource, QueryStep
from crowd.counted_work import NEVER, counting, not_counting
from crowd.models import Assignment, Stage

#: Answers that count: references, and towards what their query needs.
COUNTED = Q(state__in=Answer.COUNTED) & counting("assignment")
#: Those, and answers whose work waits for a person.
GIVEN = Q(state__in=Answer.COUNTED, assignment__state__in=Assignment.GOOD)
#: Queries whose answers are counted together.
_AT_ONCE = 2_000
#: Whether their work counts or not, which needs no look at it.
_WRITTEN = Q(state__in=Answer.COUNTED)


def with_counts(queries: QuerySet[Query], stage: Stage, which: Q = COUNTED) -> QuerySet[Any]:
    """Queries with `counted`: how many answers of the stage count for each, or are as `which` says."""
    counts = (
        Answer.objects.filter(which, stage=stage, query=OuterRef("pk"))
        .order_by()
        .values("query")
        .annotate(n=Count("*"))  # of the key, no index alone could tell
        .values("n")
    )
    return queries.annotate(counted=Coalesce(Subquery(counts), 0))


def waiting(stage: Stage) -> Iterator[tuple[int, int]]:
    """Curated queries of the stage's project that lack answers, with how many they have."""
    queries = Query.objects.filter(
        project=stage.project_id, status=Query.Status.CURATED, curated_set__isnull=False
    )
    return _lacking(queries, stage)


def _lacking(queries: QuerySet[Query], stage: Stage) -> Iterator[tuple[int, int]]:
    """Those of the queries that lack answers, with how many they have.

    An answer whose work waits for a person is there: while it does, no one else is asked in its place. All
    are counted by query, which an index alone tells, and the few of other work are taken off.
    """
    never = Assignment.objects.filter(stage=stage, state__in=NEVER)
    others = Answer.objects.filter(_WRITTEN, stage=stage, assignment__in=never.values("pk"))
    aside = dict(others.order_by().values_list("query").annotate(n=Count("*")))
    written = Answer.objects.filter(_WRITTEN, stage=stage).order_by().values_list("query")
    keys = queries.order_by("pk").values_list("pk", flat=True).iterator(_AT_ONCE)
    while batch := list(islice(keys, _AT_ONCE)):
        counts = dict(written.filter(query__in=batch).annotate(n=Count("*")))
        for query in batch:
            if (counted := counts.get(query, 0) - aside.get(query, 0)) < stage.redundancy:
                yield query, counted


def dialogues(stage: Stage) -> QuerySet[Query]:
    """Queries of the project that people can continue as a dialogue: any that were not excluded or taken out.

    How far a query is in the pipeline does not matter otherwise, as in judging.
    """
    return Query.objects.filter(project=stage.project_id, source__state=QuerySource.State.READY).exclude(
        status__in=(Query.Status.EXCLUDED, Query.Status.WITHDRAWN)
    )


def uncontinued(stage: Stage, *, with_turns: bool) -> Iterator[tuple[int, int]]:
    """Dialogues that lack continuations, with how many they have; `with_turns`: no first messages."""
    queries = dialogues(stage)
    if with_turns:
        queries = queries.exclude(context=[])
    return _lacking(queries, stage)


def complete(stage: Stage) -> QuerySet[Any]:
    """Curated queries that have all their answers; those with too few of whatever work are left out first."""
    queries = Query.objects.filter(project=stage.project_id, status=Query.Status.CURATED)
    needed = max(1, stage.redundancy)
    enough = with_counts(queries, stage, _WRITTEN).filter(counted__gte=needed)
    mine = with_counts(queries.filter(pk__in=enough.values("pk")), stage)
    return mine.filter(counted__gte=needed).order_by("pk")


def unchecked_queries(stage: Stage) -> list[int]:
    """Queries with an answer of this stage whose flags were not computed yet."""
    fresh = Answer.objects.filter(stage=stage, checked_at=None).order_by("query").values_list("query")
    return [query for (query,) in fresh.distinct()]


def incomplete_again(stage: Stage) -> QuerySet[Any]:
    """Queries that this stage moved on as answered, and that lack answers now.

    First those are found that can: too few answers whether their work counts or not, which an index alone
    tells, or one whose work does not count. Joining every answer with its work takes twenty times as long.
    """
    moved_by = (
        QueryStep.objects.filter(query=OuterRef("pk"), after=Query.Status.ANSWERED)
        .order_by("-pk")
        .values("stage")[:1]
    )
    queries = Query.objects.filter(project=stage.project_id, status=Query.Status.ANSWERED)
    aside = Assignment.objects.filter(not_counting(), stage=stage).values("pk")
    not_all = Q(pk__in=Answer.objects.filter(stage=stage, assignment__in=aside).values("query"))
    few = with_counts(queries, stage, _WRITTEN).filter(Q(counted__lt=stage.redundancy) | not_all)
    mine = with_counts(queries.filter(pk__in=few.values("pk")), stage).annotate(moved_by=Subquery(moved_by))
    lacking: QuerySet[Any] = mine.filter(moved_by=stage.pk, counted__lt=stage.redundancy).order_by("pk")
    return lacking


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer as others use it. `entities` are spans {start, end, text} of its text."""

    pk: int
    query: int
    worker: int
    text: str
    opinion: str
    entities: tuple[dict[str, Any], ...]
    approved: bool


def _written(queries: Collection[int], *, held_out: bool) -> Iterator[WrittenAnswer]:
    aside = HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    rows = Answer.objects.filter(COUNTED, query__in=queries).annotate(aside=Exists(aside))
    for answer in rows.filter(aside=held_out).order_by("query", "pk").iterator(2000):
        yield WrittenAnswer(
            answer.pk,
            answer.query_id,
            answer.worker_id,
            answer.text,
            answer.opinion,
            tuple(answer.entities),
            answer.state == Answer.State.APPROVED,
        )


def has_approved_answer() -> Exists:
    """Of a query: whether one of its references was approved; looks at few answers of each."""
    aside = HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    approved = Answer.objects.filter(COUNTED, query=OuterRef("pk"), state=Answer.State.APPROVED)
    return Exists(approved.exclude(Exists(aside)))


def references(queries: Collection[int]) -> dict[int, list[WrittenAnswer]]:
    """The reference answers of queries: all that count, without those held out."""
    return _by_query(_written(queries, held_out=False))


def human_candidates(queries: Collection[int]) -> dict[int, list[WrittenAnswer]]:
    """The answers of the candidate system `human`: those held out that count."""
    return _by_query(_written(queries, held_out=True))


def _by_query(answers: Iterator[WrittenAnswer]) -> dict[int, list[WrittenAnswer]]:
    by_query: dict[int, list[WrittenAnswer]] = defaultdict(list)
    for answer in answers:
        by_query[answer.query].append(answer)
    return dict(by_query)


# What an answer is written from: the query, the turns before it, and its curated passages.

#: Types whose answers name entities.
ENTITY_TYPES = (Query.Type.ENTITY, Query.Type.PERSON, Query.Type.LOCATION)


@dataclass(frozen=True, slots=True)
class Passage:
    """A curated passage as it is shown."""

    text: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of the conversation, and its answer where the log has it."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Material:
    """One query with what belongs to it."""

    query: Query
    passages: tuple[Passage, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Earlier turns, oldest first."""
        return tuple(
            Turn(str(turn.get("text") or ""), str(turn.get("answer") or ""))
            for turn in self.query.context
            if isinstance(turn, dict)
        )

    @property
    def wants_opinion(self) -> bool:
        """The answer is yes, no or depends."""
        return self.query.yes_no

    @property
    def wants_entities(self) -> bool:
        """The answer names people, places or things."""
        return self.query.type in ENTITY_TYPES

    def flag_query(self, language: str) -> FlagQuery:
        """As the flags see it."""
        return FlagQuery(self.query.text, tuple(passage.text for passage in self.passages), language)


def materials(queries: Collection[int]) -> dict[int, Material]:
    """The material of queries by their keys, in two statements."""
    passages: dict[int, list[Passage]] = defaultdict(list)
    rows = CuratedPassage.objects.filter(curated_set__query__in=queries).order_by("curated_set", "position")
    for query, text, title, url in rows.values_list(
        "curated_set__query", "candidate__text", "candidate__title", "candidate__url"
    ):
        passages[query].append(Passage(text, title, url))
    return {
        query.pk: Material(query, tuple(passages[query.pk])) for query in Query.objects.filter(pk__in=queries)
    }


def material(query: int) -> Material:
    """The material of one query; Query.DoesNotExist where there is none."""
    by_query = materials([query])
    if query not in by_query:
        raise Query.DoesNotExist(f"There is no query {query}.")
    return by_query[query]
