"""How far a stage is."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncHour
from django.utils import timezone

from crowd.kinds import kind_of
from crowd.models import Assignment, Hit, Stage
from crowd.selectors.pace import Pace, pace

#: States in which a worker does not have a place any more.
_GONE = (Assignment.State.ENDED, Assignment.State.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of a stage. `expired_places` expired before a worker took them."""

    hits: dict[str, int] = field(default_factory=dict)
    assignments: dict[str, int] = field(default_factory=dict)
    places: int = 0
    open_places: int = 0
    expired_places: int = 0
    held: int = 0
    simulated: int = 0
    units_missing: int = 0
    answers_missing: int = 0
    per_hour: list[tuple[datetime, int]] = field(default_factory=list)
    pace: Pace | None = None

    @property
    def answered(self) -> int:
        """Assignments whose answer is stored and not rejected."""
        return sum(self.assignments.get(state, 0) for state in Assignment.GOOD)


def stage_progress(stage: Stage) -> Progress:
    """Counts by state, submissions per hour of the last three days, and when it may be done, in 6 queries."""
    now = timezone.now()
    hits = dict(Hit.objects.filter(stage=stage).values_list("state").annotate(n=Count("pk")))
    totals = Hit.objects.filter(stage=stage).aggregate(
        all=Sum("places"),
        open=Sum("places", filter=Q(state__in=[Hit.State.PLANNED, Hit.State.OPEN])),
        closed=Sum("places", filter=Q(state=Hit.State.CLOSED)),
    )
    mine = Assignment.objects.filter(stage=stage)
    states = dict(mine.values_list("state").annotate(n=Count("pk")))
    marks = mine.aggregate(
        held=Count("pk", filter=Q(held=True)),
        simulated=Count("pk", filter=Q(worker__simulated=True)),
        in_open=Count(
            "pk",
            filter=Q(hit__state__in=[Hit.State.PLANNED, Hit.State.OPEN]) & ~Q(state__in=_GONE),
        ),
        in_closed=Count("pk", filter=Q(hit__state=Hit.State.CLOSED) & ~Q(state__in=_GONE)),
    )
    per_hour = list(
        mine.filter(stored_at__gte=now - timedelta(days=3))
        .annotate(hour=TruncHour("stored_at"))
        .values_list("hour")
        .annotate(n=Count("pk"))
        .order_by("hour")
    )
    units = missing = 0
    for item in kind_of(stage).pending(stage):  # a million of them are no list
        units, missing = units + 1, missing + item.missing
    return Progress(
        hits=hits,
        assignments=states,
        places=totals["all"] or 0,
        open_places=max(0, (totals["open"] or 0) - marks["in_open"]),
        expired_places=max(0, (totals["closed"] or 0) - marks["in_closed"]),
        held=marks["held"],
        simulated=marks["simulated"],
        units_missing=units,
        answers_missing=missing,
        per_hour=per_hour,
        pace=pace(per_hour, missing, stage.units_per_hit, now) if stage.status == Stage.Status.OPEN else None,
    )
