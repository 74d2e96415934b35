"""What a stage would cost by its terms alone, before it exists or knows its units. Asks no database."""

from dataclasses import dataclass

from core.money.fees import reward_fee
from crowd import bundles
from crowd.selectors.wage import Wage
from crowd.services.quotes import EXPECTED_REPLACED

#: Costs are told per so many units, unless the kind knows how many there will be.
PER = 1000


@dataclass(frozen=True, slots=True)
class Terms:
    """What the cost of a stage depends on; money in cents, `seconds` is what one HIT takes by guess."""

    units_per_hit: int
    redundancy: int
    reward_cents: int
    fee_profile: str
    seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of asking about `units` units, in cents, with people's time and what it pays."""

    units: int
    hits: int
    assignments: int
    reward_cents: int
    fee_cents: int
    pay: Wage
    work_seconds: int | None

    @property
    def total_cents(self) -> int:
        """Rewards and fees, without what must be asked again."""
        return self.reward_cents + self.fee_cents

    @property
    def top_up_cents(self) -> int:
        """What experience says that replacements will add."""
        return round(self.total_cents * EXPECTED_REPLACED)


def estimate(terms: Terms, *, units: int, wage_floor_cents: int) -> Estimate:
    """Whole HITs for all units, each done by `redundancy` people, split where that saves fees.

    Attention checks and units that everybody gets are extra work in a HIT, and cost nothing more.
    """
    bundled = -(-units // terms.units_per_hit)
    sizes = bundles.places(terms.redundancy, reward_cents=terms.reward_cents, fee_profile=terms.fee_profile)
    fees = sum(
        size * reward_fee(terms.fee_profile, reward_cents=terms.reward_cents, max_assignments=size)
        for size in sizes
    )
    people = bundled * terms.redundancy
    per_hour = int(terms.reward_cents * 3600 / terms.seconds) if terms.seconds else None
    return Estimate(
        units=units,
        hits=bundled * len(sizes),
        assignments=people,
        reward_cents=people * terms.reward_cents,
        fee_cents=bundled * fees,
        pay=Wage(0, float(terms.seconds) if terms.seconds else None, per_hour, wage_floor_cents),
        work_seconds=people * terms.seconds if terms.seconds else None,
    )
