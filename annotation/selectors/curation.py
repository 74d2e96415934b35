"""Queries whose passages are to be chosen, and what editors chose."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import CandidatePassage, PassageSelection, Query, QuerySource
from annotation.rules.curation import Selection
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
    """Queries to curate with the number of good selections that each has in this stage."""
    good = Q(selections__stage=stage, selections__assignment__state__in=list(Assignment.GOOD))
    rows = to_curate(stage, screened=screened).annotate(chosen=Count("selections", filter=good))
    return iter(rows.order_by("pk").values_list("pk", "chosen").iterator())


@dataclass(frozen=True, slots=True)
class Chosen:
    """A query in the status that it was read with, and the good selections of its editors."""

    query: int
    status: str
    selections: list[Selection]


def undecided(stage: Stage, *, screened: bool) -> Iterator[Chosen]:
    """Queries that still wait for a curated set and have good selections in this stage."""
    rows = (
        PassageSelection.objects.filter(
            stage=stage,
            assignment__state__in=Assignment.GOOD,
            query__status__in=open_statuses(screened=screened),
        )
        .order_by("query_id", "pk")
        .values_list("query_id", "query__status", "answerable", "passages")
    )
    for pk, group in groupby(rows.iterator(), key=itemgetter(0)):
        chosen = list(group)
        selections = [frozenset(passages if answerable else ()) for _, _, answerable, passages in chosen]
        yield Chosen(pk, chosen[0][1], selections)


def candidates_by_key(queries: Sequence[int]) -> dict[int, dict[str, int]]:
    """Primary keys of candidates by key, for each query, the best ranked first."""
    rows = CandidatePassage.objects.filter(query_id__in=queries).order_by("query_id", "rank")
    found: dict[int, dict[str, int]] = {query: {} for query in queries}
    for query, key, pk in rows.values_list("query_id", "key", "pk"):
        found[query][key] = pk
    return found
