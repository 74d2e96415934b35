"""HITs, assignments, workers and operations of a stage, as lists of pages and programs have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from core.projects.models import Project
from crowd.models import Assignment, Exclusion, Hit, MarketOperation, Stage, Worker
from web.cache import cached

State = Assignment.State


#: What came in so lately tells the pace.
LATELY = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class StageCard:
    """A stage with how much of what it published is done; `lately`: answers of the last days, since when."""

    stage: Stage
    done: int
    total: int
    held: int
    undecided: int
    lately: int = 0
    since: datetime | None = None


def stage_cards(project: Project) -> list[StageCard]:
    """All stages of a project, oldest first; where counting takes long, as of a while ago."""
    stages = list(Stage.objects.filter(project=project).select_related("endpoint").order_by("pk"))
    work = cached(("stage-cards", project.pk), partial(_count_work, project))
    nothing = (0, 0, 0, 0, 0, None)
    return [StageCard(stage, *work.get(stage.pk, nothing)) for stage in stages]


def _count_work(project: Project) -> dict[int, tuple[int, int, int, int, int, datetime | None]]:
    """By stage: places that are done, places, held work, operations that wait for a person, the last days."""
    new = Q(state__in=Assignment.GOOD, stored_at__gte=timezone.now() - LATELY)
    places = dict(
        Hit.objects.filter(stage__project=project, compensates=None)
        .exclude(state=Hit.State.REFUSED)
        .values_list("stage_id")
        .annotate(n=Sum("places"))
    )
    work = {
        stage_pk: counts_of_stage
        for stage_pk, *counts_of_stage in Assignment.objects.filter(stage__project=project)
        .values_list("stage_id")
        .annotate(
            done=Count("pk", filter=Q(state__in=Assignment.GOOD)),
            held=Count("pk", filter=Q(held=True, state=State.SUBMITTED)),
            lately=Count("pk", filter=new),
            since=Min("stored_at", filter=new),
        )
    }
    undecided = dict(
        MarketOperation.objects.filter(
            stage__project=project, needs_person=True, state=MarketOperation.State.UNKNOWN
        )
        .values_list("stage_id")
        .annotate(n=Count("pk"))
    )
    counts = {}
    for stage in {*places, *work, *undecided}:
        done, on_hold, lately, since = work.get(stage, (0, 0, 0, None))
        counts[stage] = (done, places.get(stage, 0), on_hold, undecided.get(stage, 0), lately, since)
    return counts


def _count(rows: QuerySet[Assignment]) -> Coalesce:
    return Coalesce(Subquery(rows.order_by().values("hit").annotate(n=Count("pk")).values("n")), 0)


def hits(stage: Stage, state: str, text: str = "") -> QuerySet[Hit]:
    """HITs with `answered`, `working` and `missing`, which are counted for the rows that are shown alone."""
    mine = Assignment.objects.filter(hit=OuterRef("pk"))
    gone = [State.WORKING, State.ENDED, State.QUARANTINED]
    rows = Hit.objects.filter(stage=stage).annotate(
        answered=_count(mine.exclude(state__in=gone)), working=_count(mine.filter(state=State.WORKING))
    )
    rows = rows.annotate(missing=F("places") - F("answered"))
    if text:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        rows = rows.filter(Q(external_id__icontains=text) | Q(ordinal=number))
    return rows if state == "all" else rows.filter(state=state)


_DECIDED = MarketOperation.objects.filter(
    assignment=OuterRef("pk"), kind__in=[MarketOperation.Kind.APPROVE, MarketOperation.Kind.REJECT]
).exclude(state=MarketOperation.State.REFUSED)


def work(stage: Stage, state: str, worker: str = "") -> QuerySet[Assignment]:
    """Assignments with their worker and HIT, the newest first; undecided ones have no decision on its way."""
    rows = Assignment.objects.filter(stage=stage).select_related("worker", "hit").order_by("-pk")
    undecided = Q(state__in=[State.STORED, State.SUBMITTED]) & ~Q(Exists(_DECIDED))
    filters: dict[str, Q] = {
        "waiting": undecided,
        "held": Q(held=True) & undecided,
        "all": Q(),
    }
    rows = rows.filter(filters.get(state, Q(state=state)))
    return rows.filter(worker__external_id=worker) if worker else rows


#: Filters of the table of workers, by the name of what `workers` says of each.
_STATES = {"failed": Q(failed__gt=0), "rejected": Q(rejected__gt=0), "excluded": Q(excluded=True)}


def workers_in_state(rows: QuerySet[Worker], state: str, text: str = "") -> QuerySet[Worker]:
    """Those of `workers` that a filter names."""
    if text:
        rows = rows.filter(external_id__icontains=text)
    return rows.filter(_STATES[state]) if state in _STATES else rows


def workers(stage: Stage) -> QuerySet[Worker]:
    """Who worked on a stage: how much, what became of it, and whether they are excluded."""
    mine = Q(assignments__stage=stage)
    return (
        Worker.objects.filter(mine)
        .annotate(
            done=Count("assignments", filter=mine & Q(assignments__state__in=Assignment.GOOD)),
            rejected=Count("assignments", filter=mine & Q(assignments__state=State.REJECTED)),
            held=Count("assignments", filter=mine & Q(assignments__held=True)),
            failed=Sum("assignments__failed_checks", filter=mine),
            last=Max("assignments__arrived_at", filter=mine),
            excluded=Exists(Exclusion.objects.filter(worker=OuterRef("pk"), scope=f"stage:{stage.pk}")),
        )
        .order_by("-last", "pk")
    )


def operations_of(rows: QuerySet[MarketOperation], state: str) -> QuerySet[MarketOperation]:
    """Operations in a state, or all that are not finished."""
    if state == "unfinished":
        return rows.exclude(state__in=MarketOperation.FINAL)
    return rows if state == "all" else rows.filter(state=state)


def work_stamps(stages: Sequence[Stage]) -> dict[int, tuple[object, ...]]:
    """For each stage what its work is at this moment, in one question: new work or a decision changes it."""
    rows = (
        Assignment.objects.filter(stage__in=stages)
        .order_by("stage", "state")
        .values_list("stage", "state")
        .annotate(n=Count("pk"), last=Max("pk"))
    )
    stamps: dict[int, list[object]] = {stage.pk: [] for stage in stages}
    for stage, state, n, last in rows:
        stamps[stage].append((state, n, last))
    return {stage: tuple(parts) for stage, parts in stamps.items()}
