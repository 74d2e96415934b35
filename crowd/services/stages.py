"""A stage's life: draft → open → paused → closed; publishing, topping up, closing.

Everything here plans operations; `crowd.outbox` performs them. Calling any of it again after a crash goes on
where it stopped.
"""

import uuid
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, Q, Sum
from django.urls import reverse
from django.utils import timezone

from crowd import budget, bundles
from crowd.budget import Cost, For
from crowd.errors import BudgetError, NotArmedError, StageStateError
from crowd.kinds import Pending, config_of, kind_of
from crowd.models import Assignment, Hit, HitUnit, MarketOperation, Stage
from crowd.outbox.planning import plan
from money.amounts import dollars
from money.fees import reward_fee
from projects.services import record

Status = Stage.Status
#: HITs planned in one transaction.
_BATCH = 200


@dataclass(frozen=True, slots=True)
class Quote:
    """What publishing what is pending would cost, in cents, and in how many HITs and assignments."""

    units: int
    hits: int
    assignments: int
    reward_cents: int
    fee_cents: int
    top_up_cents: int
    budget_left_cents: int

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


def left_to_ask(stage: Stage) -> list[Pending]:
    """Units with the people they still need, beyond those who may still answer open HITs."""
    under_way = _under_way(stage)
    return [
        Pending(item.unit, item.missing - under_way[item.unit])
        for item in kind_of(stage).pending(stage)
        if item.missing > under_way[item.unit]
    ]


def _under_way(stage: Stage) -> dict[str, int]:
    """Per unit, how many people may still answer it through HITs that are planned or open."""
    now = timezone.now()
    living = Hit.objects.filter(stage=stage).filter(Q(state=Hit.State.PLANNED) | Q(state=Hit.State.OPEN))
    answered: dict[int, int] = defaultdict(int)
    for row in (
        Assignment.objects.filter(hit__in=living)
        .exclude(state__in=[Assignment.State.WORKING, Assignment.State.ENDED, Assignment.State.QUARANTINED])
        .values("hit_id")
        .annotate(n=Sum(1))
    ):
        answered[row["hit_id"]] = row["n"]
    working: dict[int, int] = defaultdict(int)
    for row in (
        Assignment.objects.filter(hit__in=living, state=Assignment.State.WORKING)
        .values("hit_id")
        .annotate(n=Sum(1))
    ):
        working[row["hit_id"]] = row["n"]
    open_for: dict[int, int] = {}
    for pk, places, expires_at in living.values_list("pk", "places", "expires_at"):
        left = places - answered[pk]
        open_for[pk] = left if expires_at is None or expires_at > now else min(left, working[pk])
    counts: dict[str, int] = defaultdict(int)
    for hit_pk, unit in HitUnit.objects.filter(hit__in=living, role=HitUnit.Role.UNIT).values_list(
        "hit_id", "unit"
    ):
        counts[unit] += open_for[hit_pk]
    return counts


def quote(stage: Stage) -> Quote:
    """What publishing everything pending costs, with the endpoint's real fee tiers."""
    made = _bundles(stage)
    reward = fee = hits = people = 0
    for bundle in made:
        for size in _sizes(stage, bundle.people):
            hits += 1
            people += size
            reward += size * stage.reward_cents
            fee += size * _fee(stage, size)
    left = min(row.budget_cents - row.reserved_cents - row.spent_cents for row in (stage, stage.project))
    return Quote(
        units=sum(role == "unit" for bundle in made for _, role in bundle.units),
        hits=hits,
        assignments=people,
        reward_cents=reward,
        fee_cents=fee,
        top_up_cents=round((reward + fee) * EXPECTED_REPLACED),
        budget_left_cents=left,
    )


def _bundles(stage: Stage) -> list[bundles.Bundle]:
    kind = kind_of(stage)
    wave = Hit.objects.filter(stage=stage).aggregate(wave=Max("wave"))["wave"]
    return bundles.bundle(
        left_to_ask(stage),
        units_per_hit=stage.units_per_hit,
        overlap=kind.overlap(stage),
        checks=kind.checks(stage),
        checks_per_hit=stage.checks_per_hit,
        seed=stage.seed + (0 if wave is None else wave + 1),
    )


def _sizes(stage: Stage, people: int) -> list[int]:
    return bundles.places(people, reward_cents=stage.reward_cents, fee_profile=stage.endpoint.fee_profile)


def _fee(stage: Stage, places: int) -> int:
    return reward_fee(stage.endpoint.fee_profile, reward_cents=stage.reward_cents, max_assignments=places)


def open_stage(*, stage: Stage, actor: Any = None, typed_cents: int | None = None) -> Quote:
    """Open a draft or paused stage and plan its HITs.

    Raises NotArmedError where real money would be spent and `typed_cents` is not the stage's budget, and
    BudgetError where the budget does not cover the quote.
    """
    config_of(stage)
    if stage.status not in (Status.DRAFT, Status.PAUSED):
        raise StageStateError(f"The stage is {stage.status}; only a draft or paused stage can be opened.")
    if stage.endpoint.real_money and stage.armed_cents < stage.budget_cents:
        if typed_cents != stage.budget_cents:
            raise NotArmedError(
                f"This stage spends real money at {stage.endpoint.label}. "
                f"Type its budget, {dollars(stage.budget_cents)}, to confirm."
            )
        Stage.objects.filter(pk=stage.pk).update(armed_cents=typed_cents)
    offer = quote(stage)
    if not offer.affordable:
        raise BudgetError(
            f"Publishing costs {dollars(offer.total_cents)}, and {dollars(offer.budget_left_cents)} is left "
            "of the budget. Raise the budget, or ask fewer people."
        )
    with transaction.atomic():
        Stage.objects.filter(pk=stage.pk).update(
            status=Status.OPEN, opened_at=stage.opened_at or timezone.now()
        )
        record(project=stage.project, action="stage.opened", subject=stage.slug, actor=actor)
    stage.refresh_from_db()
    publish_pending(stage)
    return offer


def publish_pending(stage: Stage) -> int:
    """Plan HITs for everything that still needs people; the number of HITs planned.

    The first call publishes, later ones top up what was rejected, removed or expired. Stops quietly where
    the budget ends, with an event.
    """
    planned = 0
    made = _bundles(stage)
    wave = (Hit.objects.filter(stage=stage).aggregate(wave=Max("wave"))["wave"] or 0) + 1
    wave = wave if Hit.objects.filter(stage=stage).exists() else 0
    try:
        for start in range(0, len(made), _BATCH):
            with transaction.atomic():
                locked = Stage.objects.select_for_update().get(pk=stage.pk)
                if locked.status != Status.OPEN:
                    break
                for bundle in made[start : start + _BATCH]:
                    planned += _plan_bundle(locked, bundle, wave)
    except BudgetError as error:
        record(
            project=stage.project,
            action="stage.budget_reached",
            subject=stage.slug,
            details={"why": str(error)},
        )
    return planned


def _plan_bundle(stage: Stage, bundle: bundles.Bundle, wave: int) -> int:
    sizes = _sizes(stage, bundle.people)
    group = uuid.uuid4() if len(sizes) > 1 else None
    for size in sizes:
        last = Hit.objects.filter(stage=stage).aggregate(last=Max("ordinal"))["last"]
        hit = Hit.objects.create(
            stage=stage,
            ordinal=0 if last is None else last + 1,
            places=size,
            reward_cents=stage.reward_cents,
            fee_cents=_fee(stage, size),
            wave=wave,
            split_group=group,
        )
        HitUnit.objects.bulk_create(
            HitUnit(hit=hit, unit=unit, role=role, position=position)
            for position, (unit, role) in enumerate(bundle.units)
        )
        plan(
            kind=MarketOperation.Kind.PUBLISH,
            endpoint=stage.endpoint,
            stage=stage,
            hit=hit,
            target=f"hit:{hit.pk}",
            purpose="publish",
            payload=_listing(stage, hit),
            cost=Cost(stage.reward_cents, hit.fee_cents) * size,
        )
    return len(sizes)


def _listing(stage: Stage, hit: Hit) -> dict[str, Any]:
    base = settings.TASK_URL
    return {
        "title": stage.task_title,
        "description": stage.task_description,
        "keywords": stage.task_keywords,
        "reward_cents": stage.reward_cents,
        "currency": stage.endpoint.currency,
        "work_seconds": stage.work_seconds,
        "open_seconds": stage.open_seconds,
        "auto_approve_seconds": stage.auto_approve_seconds,
        "places": hit.places,
        "entry_url": base + reverse("crowd:task", args=[hit.key]),
        "frame_height": 0,
        "eligibility": stage.eligibility,
    }


def pause_stage(*, stage: Stage, actor: Any = None, why: str = "") -> None:
    """Publish nothing more for now; what is on offer stays, and is collected."""
    _move(stage, (Status.OPEN,), Status.PAUSED, "stage.paused", actor=actor, why=why)


def close_stage(*, stage: Stage, actor: Any = None, why: str = "") -> None:
    """Take everything off offer; work in progress may still come in and is paid."""
    _move(
        stage, (Status.DRAFT, Status.OPEN, Status.PAUSED), Status.CLOSED, "stage.closed", actor=actor, why=why
    )
    for hit in Hit.objects.filter(stage=stage, state=Hit.State.OPEN).iterator():
        expire_hit(hit=hit, purpose="close")


def reopen_stage(*, stage: Stage, actor: Any = None, why: str = "") -> None:
    """A closed stage back to paused; open it to publish what is still missing."""
    _move(stage, (Status.CLOSED,), Status.PAUSED, "stage.reopened", actor=actor, why=why)


@transaction.atomic
def _move(stage: Stage, before: tuple[str, ...], after: str, action: str, *, actor: Any, why: str) -> None:
    moved = Stage.objects.filter(pk=stage.pk, status__in=before).update(status=after)
    if not moved:
        raise StageStateError(f"The stage is {stage.status}; this is possible from: {', '.join(before)}.")
    record(
        project=stage.project,
        action=action,
        subject=stage.slug,
        actor=actor,
        details={"why": why} if why else {},
    )
    stage.status = after


def expire_hit(*, hit: Hit, purpose: str) -> MarketOperation:
    """Plan to take one HIT off offer."""
    return plan(
        kind=MarketOperation.Kind.CLOSE,
        endpoint=hit.stage.endpoint,
        stage=hit.stage,
        hit=hit,
        target=f"hit:{hit.pk}",
        purpose=purpose,
        payload={"ref": hit.external_id},
    )


def extend_hit_time(*, hit: Hit, until: datetime) -> MarketOperation:
    """Plan to keep one HIT on offer longer."""
    return plan(
        kind=MarketOperation.Kind.DEADLINE,
        endpoint=hit.stage.endpoint,
        stage=hit.stage,
        hit=hit,
        target=f"hit:{hit.pk}",
        purpose=f"until {until:%Y-%m-%dT%H:%M:%S}",
        payload={"ref": hit.external_id, "when": until.isoformat()},
    )


def extend_hit_places(*, hit: Hit, places: int, purpose: str) -> MarketOperation:
    """Plan more places for one HIT; never from fewer than ten to ten or more."""
    if hit.places < bundles.SMALL_HIT + 1 <= hit.places + places:
        raise StageStateError(
            f"A HIT of {hit.places} places cannot grow to {hit.places + places}: "
            "from ten on the marketplace charges the higher fee. Publish another HIT instead."
        )
    return plan(
        kind=MarketOperation.Kind.EXTEND,
        endpoint=hit.stage.endpoint,
        stage=hit.stage,
        hit=hit,
        target=f"hit:{hit.pk}",
        purpose=purpose,
        payload={"ref": hit.external_id, "places": places},
        cost=Cost(hit.reward_cents, hit.fee_cents) * places,
    )


@transaction.atomic
def settle_closed_hit(hit: Hit, *, at: datetime) -> bool:
    """Close the books of a HIT that takes nobody any more and has all its work in.

    What its unused places had reserved goes back; submitted work that nobody decided keeps its reservation.
    """
    closed = Hit.objects.filter(pk=hit.pk, state=Hit.State.OPEN).update(state=Hit.State.CLOSED)
    if not closed:
        return False
    used = (
        Assignment.objects.filter(hit=hit)
        .exclude(
            state__in=[
                Assignment.State.WORKING,
                Assignment.State.STORED,
                Assignment.State.ENDED,
                Assignment.State.QUARANTINED,
            ]
        )
        .count()
    )
    hit.refresh_from_db(fields=["places"])
    unused = hit.places - used
    budget.release(
        hit.stage,
        Cost(hit.reward_cents, hit.fee_cents) * unused,
        For("unused places", hit=hit),
        at=at,
    )
    return True
