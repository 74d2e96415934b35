"""What a stage still needs, and what that costs: looked at before anything is published."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, Q
from django.utils import timezone

from core.money.fees import reward_fee
from crowd import bundles
from crowd.kinds import PendingUnit, kind_of
from crowd.models import Assignment, Hit, HitUnit, Stage
from crowd.selectors.wage import Wage

State = Assignment.State


@dataclass(frozen=True, slots=True)
class Quote:
    """What publishing what is pending would cost, in cents, and in how many HITs and assignments.

    `work_seconds` is people's time, all assignments together, as the researcher expects it; None: no guess.
    """

    units: int
    hits: int
    assignments: int
    reward_cents: int
    fee_cents: int
    top_up_cents: int
    budget_left_cents: int
    work_seconds: int | None = None

    @property
    def total_cents(self) -> int:
        """Rewards and fees, without expected top-ups."""
        return self.reward_cents + self.fee_cents

    @property
    def affordable(self) -> bool:
        """The budgets of stage and project cover it."""
        return self.total_cents <= self.budget_left_cents


#: Share of assignments that experience says must be replaced (rejected, removed by filters, expired).
EXPECTED_REPLACED = 0.10


def left_to_ask(stage: Stage, pending: Iterable[PendingUnit] | None = None) -> list[PendingUnit]:
    """Units with the people they still need, beyond those who may still answer open HITs.

    What is needed is what the kind says, or `pending` where something is weighed that is not so yet.
    """
    under_way = _under_way(stage)
    return [
        PendingUnit(item.unit, item.missing - under_way[item.unit])
        for item in (kind_of(stage).pending(stage) if pending is None else pending)
        if item.missing > under_way[item.unit]
    ]


def _under_way(stage: Stage) -> dict[str, int]:
    """Per unit, how many people may still answer it through HITs that are planned or open."""
    now = timezone.now()
    gone = [State.WORKING, State.ENDED, State.QUARANTINED]
    living = Hit.objects.filter(stage=stage, state__in=[Hit.State.PLANNED, Hit.State.OPEN]).annotate(
        answered=Count("assignments", filter=~Q(assignments__state__in=gone)),
        working=Count("assignments", filter=Q(assignments__state=State.WORKING)),
    )
    open_for: dict[int, int] = {}
    for pk, places, expires_at, answered, working in living.values_list(
        "pk", "places", "expires_at", "answered", "working"
    ):
        left = places - answered
        open_for[pk] = left if expires_at is None or expires_at > now else min(left, working)
    counts: dict[str, int] = defaultdict(int)
    units = HitUnit.objects.filter(
        hit__stage=stage,
        hit__state__in=[Hit.State.PLANNED, Hit.State.OPEN],
        role=HitUnit.Role.UNIT,
    )
    for hit_pk, unit in units.values_list("hit_id", "unit").iterator():
        counts[unit] += open_for[hit_pk]
    return counts


def quote(stage: Stage, left: Sequence[PendingUnit] | None = None) -> Quote:
    """What publishing everything pending costs, with the endpoint's real fee tiers; or what `left` would."""
    made = bundles_to_publish(stage, left)
    reward = fees = hits = people = 0
    for bundle in made:
        for size in sizes(stage, bundle.people):
            hits += 1
            people += size
            reward += size * stage.reward_cents
            fees += size * fee(stage, size)
    spare = min(row.budget_cents - row.reserved_cents - row.spent_cents for row in (stage, stage.project))
    return Quote(
        units=sum(role == "unit" for bundle in made for _, role in bundle.units),
        hits=hits,
        assignments=people,
        reward_cents=reward,
        fee_cents=fees,
        top_up_cents=round((reward + fees) * EXPECTED_REPLACED),
        budget_left_cents=spare,
        work_seconds=people * stage.expected_seconds if stage.expected_seconds else None,
    )


def bundles_to_publish(stage: Stage, left: Sequence[PendingUnit] | None = None) -> list[bundles.Bundle]:
    """What is left to ask, in bundles; or these units."""
    kind = kind_of(stage)
    wave = Hit.objects.filter(stage=stage).aggregate(wave=Max("wave"))["wave"]
    pending = left_to_ask(stage) if left is None else left
    several = pending and stage.units_per_hit > 1
    return bundles.bundle(
        pending,
        units_per_hit=stage.units_per_hit,
        overlap=kind.overlap(stage),
        checks=kind.checks(stage),
        checks_per_hit=stage.checks_per_hit,
        seed=stage.seed + (0 if wave is None else wave + 1),
        together=kind.together(stage, [item.unit for item in pending]) if several else {},
    )


def sizes(stage: Stage, people: int) -> list[int]:
    """Sizes of the HITs that ask so many people."""
    return bundles.places(people, reward_cents=stage.reward_cents, fee_profile=stage.endpoint.fee_profile)


def fee(stage: Stage, places: int) -> int:
    """Fee in cents per assignment of a HIT of this size."""
    return reward_fee(stage.endpoint.fee_profile, reward_cents=stage.reward_cents, max_assignments=places)


# What a stage would cost by its terms alone, before it exists or knows its units. Asks no database.

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
