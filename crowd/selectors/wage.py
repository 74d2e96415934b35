"""The wage meter: what an hour of the work really pays."""

from dataclasses import dataclass
from datetime import datetime
from statistics import median

from crowd.models import Assignment, Stage
from crowd.sources import is_closed, is_unpaid, stages_at

#: Below so many assignments the median says little, and the meter says so.
ENOUGH = 10
_MOST_LOOKED_AT = 1_000


@dataclass(frozen=True, slots=True)
class Wage:
    """Median active time in seconds and the hourly pay it makes, in cents.

    Where nobody worked yet, `assignments` is 0 and both come from what the researcher expects, or are None.
    Of `unpaid` work only the time is known.
    """

    assignments: int
    median_seconds: float | None
    cents_per_hour: int | None
    floor_cents: int
    simulated: bool = False
    unpaid: bool = False

    @property
    def below(self) -> bool:
        """The pay is under the project's floor."""
        return self.cents_per_hour is not None and self.cents_per_hour < self.floor_cents

    @property
    def enough(self) -> bool:
        """Enough assignments for the median to mean something."""
        return self.assignments >= ENOUGH

    def fair_reward_cents(self) -> int | None:
        """The least reward that pays the floor at this median, rounded up."""
        if self.median_seconds is None or self.unpaid:
            return None
        return -int(-self.median_seconds * self.floor_cents // 3600)


def wage(stage: Stage) -> Wage:
    """Median of active seconds, as measured by the task page (else from opening to sending).

    Of a stage with several sources, the lowest reward counts; of the stage as one of them meets it, that
    one's people and reward.
    """
    work = Assignment.objects.filter(stage=stage, state__in=Assignment.GOOD)
    if stage.source is not None:
        work = work.filter(worker__endpoint=stage.endpoint_id)
    rows = (
        work.exclude(stored_at=None)
        .order_by("-pk")
        .values_list("telemetry", "arrived_at", "stored_at", "worker__simulated")[:_MOST_LOOKED_AT]
    )
    seconds: list[float] = []
    simulated = 0
    for telemetry, arrived_at, stored_at, is_simulated in rows.iterator():
        seconds.append(active_seconds(telemetry, arrived_at, stored_at or arrived_at))
        simulated += is_simulated
    if not seconds:
        return expected_wage(stage)
    middle = max(1.0, median(seconds))
    return _wage(stage, len(seconds), middle, simulated=simulated == len(seconds))


def active_seconds(telemetry: object, arrived_at: datetime, stored_at: datetime) -> float:
    """How long somebody was at an assignment, as their page measured it, else from opening to sending."""
    active = telemetry.get("active_ms") if isinstance(telemetry, dict) else None
    return float(active / 1000 if active else (stored_at - arrived_at).total_seconds())


def _wage(stage: Stage, assignments: int, seconds: float | None, *, simulated: bool = False) -> Wage:
    unpaid = is_unpaid(stage)
    per_hour = int(lowest_reward(stage) * 3600 / seconds) if seconds and not unpaid else None
    return Wage(assignments, seconds, per_hour, stage.project.wage_floor_cents, simulated, unpaid)


def lowest_reward(stage: Stage) -> int:
    """The least that a HIT pays at a source that is not closed."""
    source_stages = stages_at(stage) if stage.source is None else [stage]
    rewards = [source_stage.reward_cents for source_stage in source_stages if not is_closed(source_stage)]
    return min(rewards, default=stage.reward_cents)


def expected_wage(stage: Stage) -> Wage:
    """What the time that the researcher expects would pay, before anybody worked."""
    return _wage(stage, 0, float(stage.expected_seconds) if stage.expected_seconds else None)
