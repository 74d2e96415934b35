"""What a stage still needs and costs, and its planned HITs: in batches, by one planner, within the budget."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Max, Q
from django.urls import reverse
from django.utils import timezone

from core.money import reward_fee
from core.projects.services import record
from crowd import budget, bundles, rights
from crowd.budget import Cost
from crowd.bundles import Bundle
from crowd.errors import BudgetError
from crowd.kinds import PendingUnit, kind_of
from crowd.models import Assignment, Hit, HitUnit, LedgerEntry, MarketOperation, Stage
from crowd.outbox import epoch
from crowd.outbox.calls import plan
from crowd.selectors.known_people import KnownPeople
from crowd.selectors.wage import Wage
from crowd.services import rollback
from crowd.services.groups import rules_apart, rules_for_part, with_groups
from crowd.services.panel_pay import screen_outs_to_reserve
from crowd.sources import (
    PlacesBySource,
    SourcePlaces,
    divided,
    is_closed,
    source_for_hit,
    source_rows,
    stages_at,
)

State = Assignment.State
#: How the purpose of closing a HIT begins whose free places go to the other sources.
MOVE = "move"


@dataclass(frozen=True, slots=True)
class Quote:
    """What publishing what is pending would cost, in cents, and in how many HITs and assignments.

    `screen_out_cents` is what a panel's paid screen-outs may cost, with their fee, where its study is still
    to be made. `work_seconds` is people's time, all assignments together, as the researcher expects it;
    None: no guess.
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
    screen_out_cents: int = 0

    @property
    def total_cents(self) -> int:
        """What is set aside: rewards, fees and paid screen-outs, without expected top-ups."""
        return self.reward_cents + self.fee_cents + self.screen_out_cents

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
    screen_out_cents: int = 0

    @property
    def total_cents(self) -> int:
        """Rewards, fees and paid screen-outs."""
        return self.reward_cents + self.fee_cents + self.screen_out_cents


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
    rows = [row for row in source_rows(stage) if not row.endpoint.deals_work]
    return {row.pk for row in rows} | {None for row in rows if row.position == 0}


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
    places: dict[int | None, SourcePlaces] = defaultdict(SourcePlaces)
    rows = _hit_places(stage, Hit.State.PLANNED, Hit.State.OPEN, Hit.State.CLOSED)
    for each in rows.values():
        places[each.source] += SourcePlaces(each.good, each.open_for, each.taken_away)
    return places


def parts_to_publish(stage: Stage, left: Sequence[PendingUnit] | None = None) -> list[tuple[Stage, Bundle]]:
    """What is left to ask, or `left`, in bundles, each with the stage as its source meets it."""
    stage_bundles = bundles_to_publish(stage, left)
    return divided(
        stage, stage_bundles, places_by_source(stage) if stage_bundles and source_rows(stage) else {}
    )


def quote(stage: Stage, left: Sequence[PendingUnit] | None = None) -> Quote:
    """What publishing everything pending costs, with the fee tiers of each source; or what `left` would."""
    parts = parts_to_publish(stage, left)
    source_stages = stages_at(stage)
    screen_outs = (
        screen_outs_to_reserve(stage)
        if any(source_stage.endpoint.is_panel for source_stage in source_stages)
        else {}
    )
    by_source: dict[str, list[int]] = {
        source_stage.endpoint.label: [
            0,
            0,
            0,
            0,
            0 if is_closed(source_stage) else screen_outs.get(source_stage.endpoint.pk, 0),
        ]
        for source_stage in source_stages
    }
    for source_stage, bundle in parts:
        sums = by_source.setdefault(source_stage.endpoint.label, [0, 0, 0, 0, 0])
        for size in sizes(source_stage, bundle.people):
            new = (1, size, size * source_stage.reward_cents, size * fee(source_stage, size), 0)
            sums[:] = [before + more for before, more in zip(sums, new, strict=True)]
    hits, people, reward, fees, screened = (sum(column) for column in zip(*by_source.values(), strict=True))
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
        screen_out_cents=screened,
    )


def bundles_to_publish(stage: Stage, left: Sequence[PendingUnit] | None = None) -> list[Bundle]:
    """What is left to ask, in bundles; or these units."""
    kind = kind_of(stage)
    pending = left_to_ask(stage) if left is None else left
    if not pending:
        return []
    wave = Hit.objects.filter(stage=stage).aggregate(wave=Max("wave"))["wave"]
    several = stage.units_per_hit > 1
    units = [item.unit for item in pending]
    people = KnownPeople(stage) if several and wave is not None and _is_accepted_elsewhere(stage) else None
    return bundles.bundle(
        pending,
        units_per_hit=stage.units_per_hit,
        overlap=kind.overlap(stage),
        checks=kind.checks(stage),
        checks_per_hit=stage.checks_per_hit,
        seed=stage.seed + (0 if wave is None else wave + 1),
        together=kind.together(stage, units) if several else {},
        known_people=len(people.persons) if people else 0,
        barred=people.find_barred(units) if people else {},
    )


def _is_accepted_elsewhere(stage: Stage) -> bool:
    """Whether any source's people accept HITs as they are; where we deal, a person gets what they may do."""
    return any(not source_stage.endpoint.deals_work for source_stage in stages_at(stage))


def sizes(stage: Stage, people: int) -> list[int]:
    """Sizes of the HITs that ask so many people."""
    return bundles.places(people, reward_cents=stage.reward_cents, fee_profile=stage.endpoint.fee_profile)


def fee(stage: Stage, places: int) -> int:
    """Fee in cents per assignment of a HIT of this size."""
    return budget.payment_fee(stage.endpoint, stage.reward_cents, places=places)


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
    unpaid: bool = False


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
    seconds = float(terms.seconds) if terms.seconds else None
    per_hour = int(terms.reward_cents * 3600 / seconds) if seconds and not terms.unpaid else None
    return Estimate(
        units=units,
        hits=bundled * len(sizes),
        assignments=people,
        reward_cents=people * terms.reward_cents,
        fee_cents=bundled * fees,
        pay=Wage(0, seconds, per_hour, wage_floor_cents, unpaid=terms.unpaid),
        work_seconds=people * terms.seconds if terms.seconds else None,
    )


# From what is left to ask to planned HITs

#: HITs planned in one transaction.
_BATCH = 200
#: How long a planner may be silent before another one takes over.
_LEASE = timedelta(minutes=2)


def publish_pending(stage: Stage, *, actor: Any = None) -> int:
    """Plan HITs for everything that still needs people; the number of HITs planned.

    Plans nothing (0) after a restore, while what was published since the backup is unknown.
    SpendingRightError where who acts, or for what goes on by itself who opened the stage, may not spend
    from its endpoints.
    The first call publishes, later ones top up what was rejected, removed or expired. One planner works on a
    stage at a time, so nothing is published twice. Stops quietly where the budget ends, with an event.
    """
    owner = uuid.uuid4()
    if any(epoch.is_halted(source_stage.endpoint) for source_stage in stages_at(stage)):
        return 0
    rights.refuse_stage(stage, actor)
    if not _take_planning(stage, owner):
        return 0
    planned = 0
    try:
        parts = parts_to_publish(stage)
        wave = Hit.objects.filter(stage=stage).aggregate(wave=Max("wave"))["wave"]
        hits = _hits(stage, parts, 0 if wave is None else wave + 1)
        for start in range(0, len(hits), _BATCH):
            done = _plan_batch(stage, owner, hits[start : start + _BATCH])
            planned += done
            if done < len(hits[start : start + _BATCH]):
                break
    finally:
        Stage.objects.filter(pk=stage.pk, planner=owner).update(planner=None, planner_until=None)
    return planned


def _take_planning(stage: Stage, owner: uuid.UUID) -> bool:
    now = timezone.now()
    free = Q(planner=None) | Q(planner_until__lt=now)
    return bool(
        Stage.objects.filter(free, pk=stage.pk, status=Stage.Status.OPEN).update(
            planner=owner, planner_until=now + _LEASE
        )
    )


#: A HIT that is not planned yet, with the stage as its source meets it, and what is in it.
NewHit = tuple[Hit, Stage, Bundle]


def _hits(stage: Stage, bundle_parts: Sequence[tuple[Stage, Bundle]], wave: int) -> list[NewHit]:
    planned: list[NewHit] = []
    for source_stage, bundle in bundle_parts:
        parts = sizes(source_stage, bundle.people)
        planned.extend(
            (
                Hit(
                    stage=stage,
                    source=source_for_hit(source_stage),
                    places=size,
                    reward_cents=source_stage.reward_cents,
                    fee_cents=fee(source_stage, size),
                    wave=wave,
                    part=part if len(parts) > 1 else None,
                    part_count=len(parts),
                ),
                source_stage,
                bundle,
            )
            for part, size in enumerate(parts)
        )
    return planned


@transaction.atomic
def _plan_batch(stage: Stage, owner: uuid.UUID, batch: Sequence[NewHit]) -> int:
    """Plan as much of a batch as the budget allows; the number of HITs."""
    now = timezone.now()
    mine = Stage.objects.filter(pk=stage.pk, planner=owner, status=Stage.Status.OPEN)
    if not mine.update(planner_until=now + _LEASE):
        return 0
    new_hits = list(batch)
    while new_hits:
        total = Cost(0)
        for hit, _, _ in new_hits:
            total = total + budget.unit_cost(hit) * hit.places
        try:
            budget.set_aside(stage, total)
            break
        except BudgetError as error:
            new_hits = new_hits[: len(new_hits) // 2]
            if not new_hits:
                _note_the_end(stage, str(error))
    return len(insert_hits(stage, new_hits, at=now))


def insert_hits(stage: Stage, new_hits: Sequence[NewHit], *, at: datetime) -> list[MarketOperation]:
    """Rows of new HITs and their planned publication; the caller holds the stage and set the money aside."""
    ordinal = next_ordinal(stage)
    for number, (hit, _, _) in enumerate(new_hits):
        hit.ordinal = ordinal + number
    hits = Hit.objects.bulk_create([hit for hit, _, _ in new_hits])
    HitUnit.objects.bulk_create(
        HitUnit(hit=hit, unit=unit, role=role, position=position)
        for hit, (_, _, bundle) in zip(hits, new_hits, strict=True)
        for position, (unit, role) in enumerate(bundle.units)
    )
    kind_of(stage).freeze(stage, sorted({unit for _, _, bundle in new_hits for unit, _ in bundle.units}))
    rules = _rules(new_hits)
    installation = epoch.installation()
    operations = MarketOperation.objects.bulk_create(
        MarketOperation(
            kind=MarketOperation.Kind.PUBLISH,
            endpoint=source_stage.endpoint,
            endpoint_url=source_stage.endpoint.url,
            stage=stage,
            hit=hit,
            target=f"hit:{hit.pk}",
            purpose="publish",
            payload=listing(
                source_stage,
                hit,
                bundle.units,
                title=stage.task_title,
                description=stage.task_description,
                rules=rules[source_stage.endpoint.pk, hit.part],
                installation=installation,
            ),
            amount_cents=hit.reward_cents * hit.places,
            fee_cents=hit.fee_cents * hit.places,
            planned_at=at,
            not_before=at,
        )
        for hit, (_, source_stage, bundle) in zip(hits, new_hits, strict=True)
    )
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            stage=stage,
            operation=operation,
            hit=operation.hit,
            kind=LedgerEntry.Kind.RESERVE,
            cents=operation.amount_cents,
            fee_cents=operation.fee_cents,
            reason="publish",
            at=at,
        )
        for operation in operations
        if operation.amount_cents + operation.fee_cents
    )
    return operations


def _rules(new_hits: Sequence[NewHit]) -> dict[tuple[int, int | None], list[dict[str, Any]]]:
    """What the listings of new HITs ask of workers, by endpoint and part; each endpoint has its groups."""
    by_endpoint = {source_stage.endpoint.pk: source_stage for _, source_stage, _ in new_hits}
    common = {
        pk: [*with_groups(source_stage), *rules_apart(source_stage)]
        for pk, source_stage in by_endpoint.items()
    }
    rule_keys = {(source_stage.endpoint.pk, hit.part) for hit, source_stage, _ in new_hits}
    return {
        (pk, part): [*common[pk], *(rules_for_part(by_endpoint[pk], part) if part is not None else [])]
        for pk, part in sorted(rule_keys, key=lambda key: (key[0], -1 if key[1] is None else key[1]))
    }


def _note_the_end(stage: Stage, why: str) -> None:
    """Say once, not every few seconds, that the budget is used up."""
    last = stage.project.events.filter(subject=stage.slug).order_by("-pk").first()
    if last is None or last.action != "stage.budget_reached":
        record(
            project=stage.project,
            action="stage.budget_reached",
            subject=stage.slug,
            details={"why": why},
        )


def next_ordinal(stage: Stage) -> int:
    """Number of the stage's next HIT."""
    # Two planners must not take one number: a write locks the row on both databases.
    Stage.objects.filter(pk=stage.pk).update(seed=F("seed"))
    last = Hit.objects.filter(stage=stage).aggregate(last=Max("ordinal"))["last"]
    return 0 if last is None else int(last) + 1


def plan_listing(
    stage: Stage, hit: Hit, *, title: str, description: str, rules: Sequence[dict[str, Any]], actor: Any
) -> MarketOperation:
    """Plan the publication of one HIT that is not a bundle of the stage's units."""
    return plan(
        kind=MarketOperation.Kind.PUBLISH,
        endpoint=stage.endpoint,
        stage=stage,
        hit=hit,
        target=f"hit:{hit.pk}",
        purpose="publish",
        payload=listing(
            stage,
            hit,
            (),
            title=title,
            description=description,
            rules=rules,
            installation=epoch.installation(),
        ),
        cost=budget.unit_cost(hit) * hit.places,
        actor=actor,
    )


def listing(
    stage: Stage,
    hit: Hit,
    units: Sequence[tuple[str, str]],
    *,
    title: str,
    description: str,
    rules: Sequence[dict[str, Any]],
    installation: str,
) -> dict[str, Any]:
    """What the marketplace is told about a HIT, as the payload of its operation."""
    return {
        "title": title,
        "description": description,
        "keywords": stage.task_keywords,
        "reward_cents": hit.reward_cents,
        "currency": stage.endpoint.currency,
        "work_seconds": stage.work_seconds,
        "open_seconds": stage.open_seconds,
        "auto_approve_seconds": stage.auto_approve_seconds,
        "places": hit.places,
        "entry_url": settings.TASK_URL
        + reverse("crowd:task", args=[hit.key])
        + rollback.memo_query(stage, hit, units, installation),
        "frame_height": 0,
        "eligibility": list(rules),
    }
