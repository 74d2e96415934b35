"""Budgets of stages and projects: reserved, spent, never passed.

Each movement is one ledger row and one conditional update of the stage and of its project, in the caller's
transaction. The database holds `reserved + spent <= budget` as a constraint besides.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet, Sum

from core.money import format_amount, reward_fee
from core.projects.models import Project
from crowd.errors import BudgetError
from crowd.models import Assignment, Endpoint, Hit, LedgerEntry, MarketOperation, Stage

Kind = LedgerEntry.Kind


@dataclass(frozen=True, slots=True)
class Cost:
    """Rewards or bonuses, and the fee on them, in cents."""

    cents: int
    fee_cents: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.cents + self.fee_cents

    def __mul__(self, count: int) -> "Cost":
        return Cost(self.cents * count, self.fee_cents * count)

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.cents + other.cents, self.fee_cents + other.fee_cents)


def unit_cost(hit: Hit) -> Cost:
    """What one assignment of a HIT costs."""
    return Cost(hit.reward_cents, hit.fee_cents)


def payment_fee(endpoint: Endpoint, cents: int, *, places: int = 1) -> int:
    """Fee on a payment of so many cents, of a HIT with so many places.

    A panel rounds fee and tax up for each payment, so that no share of the amount is right for all: what it
    named for just this amount is exact, and the profile an estimate for the others.
    """
    told_fee = (endpoint.told_fees or {}).get(str(cents))
    if told_fee is not None:
        return int(told_fee)
    return reward_fee(endpoint.fee_profile, reward_cents=cents, max_assignments=places)


@dataclass(frozen=True, slots=True)
class MovementPurpose:
    """What a movement is for; an operation, or an assignment or HIT with a reason that names it once."""

    reason: str
    operation: MarketOperation | None = None
    hit: Hit | None = None
    assignment: Assignment | None = None


def reserve(stage: Stage, cost: Cost, what: MovementPurpose, *, at: datetime) -> None:
    """Set money aside; raises BudgetError, in words, where stage or project would go over."""
    if cost.total:
        set_aside(stage, cost)
        _book(stage, Kind.RESERVE, cost, what, at)


def set_aside(stage: Stage, cost: Cost) -> None:
    """The part of `reserve` without its ledger row, for those who write many rows at once.

    All or nothing: where the project has too little, nothing stays set aside for the stage either.
    """
    with transaction.atomic():
        for row, name in ((stage, "stage"), (stage.project, "project")):
            free = type(row)._default_manager.filter(
                pk=row.pk, budget_cents__gte=F("reserved_cents") + F("spent_cents") + cost.total
            )
            if not free.update(reserved_cents=F("reserved_cents") + cost.total):
                row.refresh_from_db(fields=["budget_cents", "reserved_cents", "spent_cents"])
                left = row.budget_cents - row.reserved_cents - row.spent_cents
                sums, currency = (cost.total, left, row.budget_cents), stage.endpoint.currency
                needed, rest, limit = (format_amount(each, currency) for each in sums)
                raise BudgetError(
                    f"This needs {needed}, and the budget of the {name} has {rest} left of {limit}. "
                    "Raise the budget, or ask for less."
                )


def release(stage: Stage, cost: Cost, what: MovementPurpose, *, at: datetime) -> None:
    """Give back what was reserved and will not be spent."""
    if cost.total:
        _move(stage, at, Kind.RELEASE, cost, what, reserved_cents=F("reserved_cents") - cost.total)


def spend(stage: Stage, cost: Cost, what: MovementPurpose, *, at: datetime) -> None:
    """Spend what was reserved."""
    if cost.total:
        _move(
            stage,
            at,
            Kind.SPEND,
            cost,
            what,
            reserved_cents=F("reserved_cents") - cost.total,
            spent_cents=F("spent_cents") + cost.total,
        )


def refund(stage: Stage, cost: Cost, what: MovementPurpose, *, at: datetime) -> None:
    """Take back from what was spent: less was charged than was booked. It can be spent again."""
    if cost.total:
        _move(stage, at, Kind.REFUND, cost, what, spent_cents=F("spent_cents") - cost.total)


def spent_in(movements: QuerySet[LedgerEntry]) -> Cost:
    """What these movements come to in spent money: spent, less what was taken back."""
    rows = movements.order_by().values_list("kind").annotate(Sum("cents"), Sum("fee_cents"))
    sums = {kind: Cost(cents, fees) for kind, cents, fees in rows}
    return sums.get(Kind.SPEND, Cost(0)) + sums.get(Kind.REFUND, Cost(0)) * -1


def spend_together(stage: Stage, cost: Cost) -> None:
    """The part of `spend` without its ledger row, for those who write many rows at once."""
    _change(
        stage,
        reserved_cents=F("reserved_cents") - cost.total,
        spent_cents=F("spent_cents") + cost.total,
    )


def _move(
    stage: Stage, at: datetime, kind: LedgerEntry.Kind, cost: Cost, what: MovementPurpose, **changes: Any
) -> None:
    _change(stage, **changes)
    _book(stage, kind, cost, what, at)


def _change(stage: Stage, **changes: Any) -> None:
    Stage.objects.filter(pk=stage.pk).update(**changes)
    Project.objects.filter(pk=stage.project_id).update(**changes)


def _book(stage: Stage, kind: LedgerEntry.Kind, cost: Cost, what: MovementPurpose, at: datetime) -> None:
    LedgerEntry.objects.create(
        stage=stage,
        operation=what.operation,
        hit=what.hit,
        assignment=what.assignment,
        kind=kind,
        cents=cost.cents,
        fee_cents=cost.fee_cents,
        reason=what.reason,
        at=at,
    )
