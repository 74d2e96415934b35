"""What a form's entries would cost, as far as they make sense already."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from core.money.amounts import entered_cents
from crowd.models import Endpoint
from crowd.services.estimate import PER, Estimate, Terms, estimate

_MOST_PEOPLE, _MOST_SECONDS = 10_000, 36_000


def cost_of(
    entered: Callable[[str], Any], endpoint: Endpoint | None, *, units: int, wage_floor_cents: int
) -> Estimate | None:
    """The cost of `units` units by what was entered; None while numbers are missing or wrong."""
    try:
        minutes = entered("expected_minutes")
        seconds = round(Decimal(str(minutes)) * 60) if minutes else None
        terms = Terms(
            units_per_hit=int(entered("units_per_hit") or 1),
            redundancy=int(entered("redundancy")),
            reward_cents=entered_cents(str(entered("reward"))),
            fee_profile=endpoint.fee_profile if endpoint else "none-1",
            seconds=seconds if seconds is not None and 0 < seconds <= _MOST_SECONDS else None,
        )
    except (ValueError, ArithmeticError, TypeError):
        return None
    if not (0 < terms.units_per_hit <= PER and 0 < terms.redundancy <= _MOST_PEOPLE):
        return None
    return estimate(terms, units=units, wage_floor_cents=wage_floor_cents)
