"""Stages where nothing moves: nobody sends anything, a person must decide, or the work is done."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet, Subquery

from core.notices.conditions import Condition
from core.notices.models import Notice
from crowd.models import Assignment, Hit, MarketOperation, Stage
from crowd.watch.stages import at, last_action, named

#: An open stage with open HITs is stuck when nobody sent anything for so long.
QUIET = timedelta(hours=12)
#: A stage is finished when nothing happened after its last HIT closed for so long.
SETTLED = timedelta(minutes=10)
#: So many of a stage's assignments are looked at first.
_NEWEST = 2_000
_ON_OFFER = (Hit.State.PLANNED, Hit.State.OPEN)


def stuck(now: datetime) -> Iterator[Condition]:
    """Open stages with HITs on offer where nobody sent anything for half a day."""
    since = now - QUIET
    offered = Hit.objects.filter(stage=OuterRef("pk"), state=Hit.State.OPEN, published_at__lt=since)
    undated = Hit.objects.filter(stage=OuterRef("pk"), state=Hit.State.OPEN, published_at=None)
    rows = (
        Stage.objects.filter(Exists(offered) | Exists(undated), status=Stage.Status.OPEN, opened_at__lt=since)
        .select_related("project")
        .order_by("pk")
    )
    for stage in _without_work_since(rows, since):
        hours = int(QUIET.total_seconds()) // 3600
        yield Condition(
            stage.project_id,
            "stuck",
            f"stuck:{stage.pk}",
            Notice.Level.WARNING,
            f"Nothing was submitted to {stage.title} for {hours} hours, although it has "
            "HITs on offer. Is the pay enough, and may anybody take them?",
            at("stage", stage),
        )


def _without_work_since(stages: QuerySet[Stage], since: datetime) -> list[Stage]:
    """Those of the stages to which nobody sent anything since then.

    Of a million assignments only the newest are looked at, unless those before them may be as new: work comes
    within the stage's time after it was taken.
    """
    mine = Assignment.objects.filter(stage=OuterRef("pk")).order_by("-pk")
    # One query further in: there the stage is the outer query's outer row.
    of_stage = Assignment.objects.filter(stage=OuterRef(OuterRef("pk"))).order_by("-pk")
    newest = Assignment.objects.filter(pk__in=of_stage.values("pk")[:_NEWEST])
    rows = stages.annotate(before=Subquery(mine.values("arrived_at")[_NEWEST : _NEWEST + 1]))
    quiet = list(rows.exclude(Exists(newest.filter(stored_at__gte=since))))
    unsure = {
        stage.pk
        for stage in quiet
        if stage.before is not None and stage.before >= since - timedelta(seconds=stage.work_seconds)
    }
    if unsure:
        sent = Assignment.objects.filter(stage__in=unsure, stored_at__gte=since)
        unsure &= set(sent.order_by().values_list("stage", flat=True).distinct())
    return [stage for stage in quiet if stage.pk not in unsure]


def undecided(now: datetime) -> Iterator[Condition]:
    """Calls to a marketplace that nobody answered, and that a person must decide about."""
    rows = (
        MarketOperation.objects.filter(
            needs_person=True, state=MarketOperation.State.UNKNOWN, stage__isnull=False
        )
        .order_by()
        .values("stage")
        .annotate(n=Count("pk"))
    )
    counts = {row["stage"]: row["n"] for row in rows}
    for stage in named(counts):
        count = counts[stage.pk]
        needs = "operation needs" if count == 1 else "operations need"
        yield Condition(
            stage.project_id,
            "undecided",
            f"undecided:{stage.pk}",
            Notice.Level.ALARM,
            f"{count:,} {needs} your decision in {stage.title}: the marketplace did not answer.",
            at("decisions", stage),
        )


def finished(now: datetime) -> Iterator[Condition]:
    """Open stages that published, with nothing on offer and nothing undecided, and with budget left."""
    hits = Hit.objects.filter(stage=OuterRef("pk"))
    going = Assignment.objects.filter(
        Q(state__in=(Assignment.State.STORED, Assignment.State.SUBMITTED)) | Q(decided_at__gt=now - SETTLED),
        stage=OuterRef("pk"),
    )
    rows = (
        Stage.objects.filter(
            Exists(hits.filter(state=Hit.State.CLOSED)), status=Stage.Status.OPEN, planner=None
        )
        .exclude(Exists(hits.filter(state__in=_ON_OFFER)))
        .exclude(Exists(going))
        .annotate(last=last_action())
        .select_related("project")
        .order_by("pk")
    )
    stages = {stage.pk: stage for stage in rows if stage.last != "stage.budget_reached"}
    ends = dict(
        Assignment.objects.filter(stage__in=stages, state=Assignment.State.APPROVED)
        .order_by()
        .values_list("stage")
        .annotate(Max("decided_at"))
    )
    for pk, stage in stages.items():
        if pk not in ends:
            continue
        yield Condition(
            stage.project_id,
            "finished",
            f"finished:{pk}",
            Notice.Level.NEWS,
            f"{stage.title} has all the work it asked for. Look at it, then close the stage.",
            at("stage", stage),
        )
