"""Queries whose passages are to be chosen, and what editors chose."""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import CandidatePassage, PassageSelection, Query, QuerySource
from annotation.rules.curation import Selection
from crowd.counted_work import counting
from crowd.models import Assignment, Stage

Status = Query.Status


def open_statuses(*, screened: bool) -> list[str]:
    """Statuses in which a query's passages can be chosen."""
    return [Status.ACCEPTED] if screened else [Status.WAITING, Status.ACCEPTED]


def to_curate(stage: Stage, *, screened: bool) -> QuerySet[Query]:
    """Queries of the project in such a status that have a candidate to look at."""
    shown = CandidatePassage.objects.filter(query=OuterRef("pk"), folded_into=None)
    return Query.objects.filter(
        Exists(shown),
        project=stage.project_id,
        status__in=open_statuses(screened=screened),
        source__state=QuerySource.State.READY,
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
        PassageSelection.objects.filter(
            counting("assignment"), stage=stage, query__status__in=open_statuses(screened=screened)
        )
    )


def selections_that_count(stage: Stage, queries: Collection[int]) -> dict[int, list[Selection]]:
    """The selections of this stage that count, by query; a query without any has none."""
    mine = PassageSelection.objects.filter(counting("assignment"), stage=stage, query__in=queries)
    return {query: [] for query in queries} | _by_query(mine)


def _by_query(selections: QuerySet[PassageSelection]) -> dict[int, list[Selection]]:
    rows = selections.order_by("query_id", "pk").values_list("query_id", "answerable", "passages")
    return {
        pk: [frozenset(passages if answerable else ()) for _, answerable, passages in group]
        for pk, group in groupby(rows.iterator(), key=itemgetter(0))
    }


def candidates_by_key(queries: Sequence[int]) -> dict[int, dict[str, int]]:
    """Primary keys of candidates by key, for each query, the best ranked first."""
    rows = CandidatePassage.objects.filter(query_id__in=queries).order_by("query_id", "rank")
    found: dict[int, dict[str, int]] = {query: {} for query in queries}
    for query, key, pk in rows.values_list("query_id", "key", "pk"):
        found[query][key] = pk
    return found
