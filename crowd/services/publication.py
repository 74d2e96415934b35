"""From what is left to ask to planned HITs: in batches, by one planner at a time, within the budget."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, Q
from django.urls import reverse
from django.utils import timezone

from core.projects.services import record
from crowd import budget
from crowd.budget import Cost
from crowd.bundles import Bundle
from crowd.errors import BudgetError
from crowd.kinds import kind_of
from crowd.models import Hit, HitUnit, LedgerEntry, MarketOperation, Stage
from crowd.outbox import epoch
from crowd.outbox.planning import plan
from crowd.services import rollback
from crowd.services.groups import rules_for_part, with_groups
from crowd.services.quotes import fee, parts_to_publish, sizes
from crowd.services.stage_exclusions import rules_apart
from crowd.sources import source_for_hit, stages_at

#: HITs planned in one transaction.
_BATCH = 200
#: How long a planner may be silent before another one takes over.
_LEASE = timedelta(minutes=2)


def publish_pending(stage: Stage) -> int:
    """Plan HITs for everything that still needs people; the number of HITs planned.

    None after a restore, while nobody knows what was published since the backup.
    The first call publishes, later ones top up what was rejected, removed or expired. One planner works on a
    stage at a time, so nothing is published twice. Stops quietly where the budget ends, with an event.
    """
    owner = uuid.uuid4()
    if any(epoch.is_halted(here.endpoint) for here in stages_at(stage)):
        return 0
    if not _take_planning(stage, owner):
        return 0
    planned = 0
    try:
        made = parts_to_publish(stage)
        wave = Hit.objects.filter(stage=stage).aggregate(wave=Max("wave"))["wave"]
        hits = _hits(stage, made, 0 if wave is None else wave + 1)
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
_NewHit = tuple[Hit, Stage, Bundle]


def _hits(stage: Stage, made: Sequence[tuple[Stage, Bundle]], wave: int) -> list[_NewHit]:
    planned: list[_NewHit] = []
    for here, bundle in made:
        parts = sizes(here, bundle.people)
        planned.extend(
            (
                Hit(
                    stage=stage,
                    source=source_for_hit(here),
                    places=size,
                    reward_cents=here.reward_cents,
                    fee_cents=fee(here, size),
                    wave=wave,
                    part=part if len(parts) > 1 else None,
                    part_count=len(parts),
                ),
                here,
                bundle,
            )
            for part, size in enumerate(parts)
        )
    return planned


@transaction.atomic
def _plan_batch(stage: Stage, owner: uuid.UUID, batch: Sequence[_NewHit]) -> int:
    """Plan as much of a batch as the budget allows; the number of HITs."""
    now = timezone.now()
    mine = Stage.objects.filter(pk=stage.pk, planner=owner, status=Stage.Status.OPEN)
    if not mine.update(planner_until=now + _LEASE):
        return 0
    chosen = list(batch)
    while chosen:
        total = Cost(0)
        for hit, _, _ in chosen:
            total = total + unit_cost(hit) * hit.places
        try:
            budget.set_aside(stage, total)
            break
        except BudgetError as error:
            chosen = chosen[: len(chosen) // 2]
            if not chosen:
                _note_the_end(stage, str(error))
    ordinal = next_ordinal(stage)
    for number, (hit, _, _) in enumerate(chosen):
        hit.ordinal = ordinal + number
    hits = Hit.objects.bulk_create([hit for hit, _, _ in chosen])
    HitUnit.objects.bulk_create(
        HitUnit(hit=hit, unit=unit, role=role, position=position)
        for hit, (_, _, bundle) in zip(hits, chosen, strict=True)
        for position, (unit, role) in enumerate(bundle.units)
    )
    kind_of(stage).freeze(stage, sorted({unit for _, _, bundle in chosen for unit, _ in bundle.units}))
    rules = _rules(chosen)
    installation = epoch.installation()
    operations = MarketOperation.objects.bulk_create(
        MarketOperation(
            kind=MarketOperation.Kind.PUBLISH,
            endpoint=here.endpoint,
            endpoint_url=here.endpoint.url,
            stage=stage,
            hit=hit,
            target=f"hit:{hit.pk}",
            purpose="publish",
            payload=listing(
                here,
                hit,
                bundle.units,
                title=stage.task_title,
                description=stage.task_description,
                rules=rules[here.endpoint.pk, hit.part],
                installation=installation,
            ),
            amount_cents=hit.reward_cents * hit.places,
            fee_cents=hit.fee_cents * hit.places,
            planned_at=now,
            not_before=now,
        )
        for hit, (_, here, bundle) in zip(hits, chosen, strict=True)
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
            at=now,
        )
        for operation in operations
        if operation.amount_cents + operation.fee_cents
    )
    return len(hits)


def _rules(chosen: Sequence[_NewHit]) -> dict[tuple[int, int | None], list[dict[str, Any]]]:
    """What the listings of new HITs ask of workers, by endpoint and part; each endpoint has its groups."""
    by_endpoint = {here.endpoint.pk: here for _, here, _ in chosen}
    common = {pk: [*with_groups(here), *rules_apart(here)] for pk, here in by_endpoint.items()}
    wanted = {(here.endpoint.pk, hit.part) for hit, here, _ in chosen}
    return {
        (pk, part): [*common[pk], *(rules_for_part(by_endpoint[pk], part) if part is not None else [])]
        for pk, part in sorted(wanted, key=lambda key: (key[0], -1 if key[1] is None else key[1]))
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


def unit_cost(hit: Hit) -> Cost:
    """What one assignment of a HIT costs."""
    return Cost(hit.reward_cents, hit.fee_cents)


def next_ordinal(stage: Stage) -> int:
    """Number of the stage's next HIT; the caller holds the stage's row."""
    Stage.objects.filter(pk=stage.pk).update(seed=F("seed"))
    last = Hit.objects.filter(stage=stage).aggregate(last=Max("ordinal"))["last"]
    return 0 if last is None else int(last) + 1


def plan_listing(
    stage: Stage, hit: Hit, *, title: str, description: str, rules: Sequence[dict[str, Any]]
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
        cost=unit_cost(hit) * hit.places,
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
