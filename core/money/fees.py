"""Fee profiles: versioned tables of what the marketplace charges on top of rewards and bonuses.

Rates of `mturk-2026` as quoted in third-party pages and clients (design/marketplace.md 2.4): 20 % of
reward and bonus, 20 % more of the reward for HITs with ten or more assignments, 5 % for Masters, at least
one cent each, rounded half up. A profile never changes: new rates are a new profile.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

MASTERS_QUALIFICATIONS = frozenset({"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"})


@dataclass(frozen=True, slots=True)
class FeeProfile:
    """Rates as shares of the amount; `least_cents` is charged where a rate is above zero."""

    reward_rate: Decimal
    large_hit_rate: Decimal
    large_hit_from: int
    masters_rate: Decimal
    bonus_rate: Decimal
    least_cents: int


PROFILES = {
    "none-1": FeeProfile(Decimal(0), Decimal(0), 10, Decimal(0), Decimal(0), 0),
    "mturk-2026": FeeProfile(Decimal("0.20"), Decimal("0.20"), 10, Decimal("0.05"), Decimal("0.20"), 1),
}


#: Before a share of rewards and bonuses alike, of a panel that tells each account its own: share-0.4286.
_SHARE = "share-"
#: More than this share nobody takes; it is a mistake.
_LARGEST_SHARE = Decimal(3)


def profile_named(name: str) -> FeeProfile:
    """The profile of this name, one of the table or `share-` and a share; KeyError where there is none."""
    if not name.startswith(_SHARE):
        return PROFILES[name]
    try:
        share = Decimal(name.removeprefix(_SHARE))
    except InvalidOperation:
        raise KeyError(name) from None
    if not share.is_finite() or not 0 <= share <= _LARGEST_SHARE:
        raise KeyError(name)
    return FeeProfile(share, Decimal(0), 10, Decimal(0), share, 0)


def _charge(amount_cents: int, rate: Decimal, least_cents: int) -> int:
    if not rate:
        return 0
    return max(least_cents, int((amount_cents * rate).quantize(Decimal(1), rounding=ROUND_HALF_UP)))


def reward_fee(
    profile: str, *, reward_cents: int, max_assignments: int, qualification_ids: Iterable[str] = ()
) -> int:
    """Fee in cents per assignment of a HIT. The parts' rates are summed before rounding."""
    rates = profile_named(profile)
    rate = rates.reward_rate
    if max_assignments >= rates.large_hit_from:
        rate += rates.large_hit_rate
    if MASTERS_QUALIFICATIONS.intersection(qualification_ids):
        rate += rates.masters_rate
    return _charge(reward_cents, rate, rates.least_cents)


def bonus_fee(profile: str, *, bonus_cents: int) -> int:
    """Fee in cents on one bonus payment."""
    rates = profile_named(profile)
    return _charge(bonus_cents, rates.bonus_rate, rates.least_cents)
