"""How a stage stands at the moment: everything that its live page says."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum
from django.utils import timezone

from crowd.models import LedgerEntry, Stage
from crowd.selectors.alarms import Alarm, alarms
from crowd.selectors.operations import waiting
from crowd.selectors.progress import Progress, stage_progress
from crowd.selectors.stage_sizes import is_large
from crowd.selectors.wage import Wage, wage
from web.cache import cached, moment


@dataclass(frozen=True, slots=True)
class StageStatus:
    """Counts, pay, alarms and what was spent; `counted_at` is None where all of it is of this moment."""

    progress: Progress
    pay: Wage
    alarms: list[Alarm]
    waiting: int
    rewards_cents: int
    fees_cents: int
    counted_at: datetime | None = None


def standing(stage: Stage) -> StageStatus:
    """How a stage stands; of a large one as it was some seconds ago, for counting it takes long."""
    if not is_large(stage):
        return _build_status(stage, None)
    stamp = (moment(), stage.status, stage.budget_cents, stage.redundancy)
    return cached(
        f"standing:{stage.pk}", stamp, lambda: _build_status(stage, timezone.now()), large=True, dated=True
    )


def _build_status(stage: Stage, counted_at: datetime | None) -> StageStatus:
    spent = LedgerEntry.objects.filter(stage=stage, kind=LedgerEntry.Kind.SPEND)
    totals = spent.aggregate(rewards=Sum("cents"), fees=Sum("fee_cents"))
    return StageStatus(
        progress=stage_progress(stage),
        pay=wage(stage),
        alarms=alarms(stage),
        waiting=waiting(stage),
        rewards_cents=totals["rewards"] or 0,
        fees_cents=totals["fees"] or 0,
        counted_at=counted_at,
    )
