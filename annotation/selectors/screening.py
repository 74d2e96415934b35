"""Queries to be screened, and what editors said about them."""

from collections.abc import Collection, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from annotation.models import Query, QuerySource, ScreeningVote
from annotation.rules.screening import Vote
from core.projects.models import Project
from crowd.counted_work import counting
from crowd.models import Assignment, Stage


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
