"""Queries to be screened, and what editors said about them."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from django.db.models import Count, Q

from annotation.models import Query, QuerySource, ScreeningVote
from annotation.rules.screening import Vote
from crowd.models import Assignment, Stage


def missing_votes(stage: Stage) -> Iterator[tuple[int, int]]:
    """Waiting queries of the project with how many good votes they miss, where they miss any."""
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


def votes_on_waiting(stage: Stage) -> Iterator[tuple[int, list[Vote]]]:
    """Good votes of this stage, by query, on queries that still wait."""
    rows = (
        ScreeningVote.objects.filter(
            stage=stage,
            assignment__state__in=Assignment.GOOD,
            query__status=Query.Status.WAITING,
        )
        .order_by("query_id", "pk")
        .values_list("query_id", "unambiguous", "answerable", "intent", "excluded_kind", "sensitive", "adult")
    )
    for pk, group in groupby(rows.iterator(), key=itemgetter(0)):
        yield pk, [Vote(*row[1:]) for row in group]
