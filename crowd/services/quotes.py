"""What a stage still needs, and what that costs: looked at before anything is published."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, Q
from django.utils import timezone

from core.money import reward_fee
from crowd import bundles
from crowd.bundles import Bundle
from crowd.kinds import PendingUnit, kind_of
from crowd.models import Assignment, Hit, HitUnit, MarketOperation, Stage
from crowd.selectors.wage import Wage
from crowd.sources import PlacesBySource, SourcePlaces, divided, source_rows, stages_at

State = Assignment.State
#: How the purpose of closing a HIT begins whose free places go to the other sources.
MOVE = "move"


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
    sources: "tuple[SourceQuote, ...]" = ()

    @property
    def total_cents(self) -> int:
        """Rewards and fees, without expected top-ups."""
        return self.reward_cents + self.fee_cents

    @property
    def affordable(self) -> bool:
        """The budgets of stage and project cover it."""
        return self.total_cents <= self.budget_left_cents


@dataclass(frozen=True, slots=True)
class SourceQuote:
    """The part of a quote that one of several sources has."""

    label: str
    hits: int
    assignments: int
    reward_cents: int
    fee_cents: int

    @property
    def total_cents(self) -> int:
        """Rewards and fees."""
        return self.reward_cents + self.fee_cents


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


@dataclass(frozen=True, slots=True)
class _HitPlaces:
    """A HIT's places: answered by work that counts, still to be answered, taken away from its source."""

    source: int | None
    good: int
    open_for: int
    taken_away: int


def _hit_places(stage: Stage, *states: str) -> dict[int, _HitPlaces]:
    """The places of the stage's HITs in these states.

    What was taken from a source goes to the others only when nobody can answer it there any more: where
    people accept HITs at a marketplace, we know that once the HIT's books are closed.
    """
    now = timezone.now()
    gone = [State.WORKING, State.ENDED, State.QUARANTINED]
    rows = Hit.objects.filter(stage=stage, state__in=states, compensates=None)
    rows = rows.annotate(
        answered=Count("assignments", filter=~Q(assignments__state__in=gone)),
        working=Count("assignments", filter=Q(assignments__state=State.WORKING)),
        good=Count("assignments", filter=Q(assignments__state__in=Assignment.GOOD)),
    )
    accepted, moved = _accepted_elsewhere(stage), _moved_hits(stage)
    places: dict[int, _HitPlaces] = {}
    for pk, source, state, count, expires_at, answered, working, good in rows.values_list(
        "pk", "source", "state", "places", "expires_at", "answered", "working", "good"
    ):
        left = 0 if state == Hit.State.CLOSED else count - answered
        is_moved = pk in moved
        over = expires_at is not None and expires_at <= now
        if over and not (is_moved and source in accepted):
            left = min(left, working)
        places[pk] = _HitPlaces(source, good, left, count - answered - left if is_moved else 0)
    return places


def _moved_hits(stage: Stage) -> set[int]:
    """HITs whose free places were taken from their source, for good."""
    if not source_rows(stage):
        return set()
    closed = MarketOperation.objects.filter(
        stage=stage, kind=MarketOperation.Kind.CLOSE, purpose__startswith=MOVE
    ).exclude(state=MarketOperation.State.REFUSED)
    return set(closed.values_list("hit", flat=True))


def _accepted_elsewhere(stage: Stage) -> set[int | None]:
    """Sources where people accept HITs without us."""
    there = [row for row in source_rows(stage) if not row.endpoint.deals_work]
    return {row.pk for row in there} | {None for row in there if row.position == 0}


def _under_way(stage: Stage) -> dict[str, int]:
    """Per unit, how many people may still answer it through HITs that are planned or open."""
    living = [Hit.State.PLANNED, Hit.State.OPEN]
    places = _hit_places(stage, *living)
    counts: dict[str, int] = defaultdict(int)
    units = HitUnit.objects.filter(hit__stage=stage, hit__state__in=living, role=HitUnit.Role.UNIT)
    for hit_pk, unit in units.values_list("hit_id", "unit").iterator():
        if hit_pk in places:
            counts[unit] += places[hit_pk].open_for
    return counts


def places_by_source(stage: Stage) -> PlacesBySource:
    """What counts towards the quotas, by the source that HITs name."""
    found: dict[int | None, SourcePlaces] = defaultdict(SourcePlaces)
    rows = _hit_places(stage, Hit.State.PLANNED, Hit.State.OPEN, Hit.State.CLOSED)
    for each in rows.values():
        found[each.source] += SourcePlaces(each.good, each.open_for, each.taken_away)
    return found


def parts_to_publish(stage: Stage, left: Sequence[PendingUnit] | None = None) -> list[tuple[Stage, Bundle]]:
    """What is left to ask, or `left`, in bundles, each with the stage as its source meets it."""
    made = bundles_to_publish(stage, left)
    return divided(stage, made, places_by_source(stage) if made and source_rows(stage) else {})


def quote(stage: Stage, left: Sequence[PendingUnit] | None = None) -> Quote:
    """What publishing everything pending costs, with the fee tiers of each source; or what `left` would."""
    parts = parts_to_publish(stage, left)
    by_source: dict[str, list[int]] = {here.endpoint.label: [0, 0, 0, 0] for here in stages_at(stage)}
    for here, bundle in parts:
        found = by_source.setdefault(here.endpoint.label, [0, 0, 0, 0])
        for size in sizes(here, bundle.people):
            new = (1, size, size * here.reward_cents, size * fee(here, size))
            found[:] = [before + more for before, more in zip(found, new, strict=True)]
    hits, people, reward, fees = (sum(column) for column in zip(*by_source.values(), strict=True))
    spare = min(row.budget_cents - row.reserved_cents - row.spent_cents for row in (stage, stage.project))
    units = {id(bundle.units): bundle.units for _, bundle in parts}
    return Quote(
        units=sum(role == "unit" for each in units.values() for _, role in each),
        hits=hits,
        assignments=people,
        reward_cents=reward,
        fee_cents=fees,
        top_up_cents=round((reward + fees) * EXPECTED_REPLACED),
        budget_left_cents=spare,
        work_seconds=people * stage.expected_seconds if stage.expected_seconds else None,
        sources=tuple(SourceQuote(label, *counts) for label, counts in by_source.items())
        if source_rows(stage)
        else (),
    )


def bundles_to_publish(stage: Stage, left: Sequence[PendingUnit] | None = None) -> list[Bundle]:
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
