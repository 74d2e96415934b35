"""HIT types and HITs: making, extending, expiring, disposing."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import transaction

from marketplace import ids, ledger
from marketplace.errors import Refusal, invalid_value
from marketplace.ledger import Kind, Movement
from marketplace.models import HIT, Batch, HITType, Requester
from marketplace.questions import parse_question
from marketplace.requirements import Requirement
from marketplace.selectors import hit_status, is_expired
from marketplace.services.holds import settle_hold
from marketplace.services.locking import lock_hit
from money import fees

#: A HIT created with fewer places than this can never have as many (the fee tier would change).
LARGE_HIT = 10


@dataclass(frozen=True, slots=True)
class TypeProperties:
    """What makes a HIT type: two HITs with the same properties belong to one type. Times in seconds."""

    title: str
    description: str
    keywords: str
    reward_cents: int
    duration_s: int
    auto_approval_s: int
    requirements: list[Requirement]

    def digest(self) -> str:
        """SHA-256 of the normalised values."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def create_hit_type(*, requester: Requester, properties: TypeProperties, now: datetime) -> HITType:
    """The requester's HIT type with these properties, made if there is none yet."""
    hit_type, _ = HITType.objects.get_or_create(
        requester=requester,
        value_digest=properties.digest(),
        defaults={
            **asdict(properties),
            "type_id": ids.new_entity_id(),
            "group_id": ids.new_entity_id(),
            "created_at": now,
        },
    )
    return hit_type


def create_hit(
    *,
    hit_id: str,
    hit_type: HITType,
    question: str,
    batch: Batch | None = None,
    max_assignments: int,
    lifetime_s: int,
    annotation: str,
    now: datetime,
) -> HIT:
    """Publish a HIT and put its whole cost on hold. Must run in a transaction.

    Raises Refusal for a question that cannot be shown and for missing funds.
    """
    parse_question(question)
    requester = hit_type.requester
    created = now.replace(microsecond=0)
    hit = HIT(
        requester=requester,
        hit_type=hit_type,
        hit_id=hit_id,
        question=question,
        batch=batch,
        annotation=annotation,
        created_at=created,
        expires_at=created + timedelta(seconds=lifetime_s),
        max_assignments=max_assignments,
        max_at_creation=max_assignments,
        open_places=max_assignments,
        held_places=max_assignments,
        reward_cents=hit_type.reward_cents,
        fee_profile=requester.fee_profile,
        fee_cents=fees.reward_fee(
            requester.fee_profile,
            reward_cents=hit_type.reward_cents,
            max_assignments=max_assignments,
            qualification_ids=[item["QualificationTypeId"] for item in hit_type.requirements],
        ),
    )
    hit.save(force_insert=True)
    cost = max_assignments * (hit.reward_cents + hit.fee_cents)
    ledger.post(requester.pk, [Movement(Kind.HOLD, cents=cost, hit=hit)], at=created)
    return hit


def add_places(*, hit: HIT, places: int, now: datetime) -> HIT:
    """More places for a HIT, with their cost put on hold unless it has expired."""
    hit = lock_hit(hit.pk)
    _refuse_disposed(hit)
    total = hit.max_assignments + places
    if hit.max_at_creation < LARGE_HIT <= total:
        raise Refusal(
            "InvalidMaximumAssignmentsIncrease",
            f"A HIT created with fewer than {LARGE_HIT} assignments cannot be extended to that many; "
            f"this one has {hit.max_assignments}. Create another HIT instead.",
        )
    if total > 1_000_000_000:
        raise invalid_value("NumberOfAdditionalAssignments", "a HIT has at most 1,000,000,000 assignments.")
    hit.max_assignments = total
    hit.open_places += places
    hit.reviewing = False
    settle_hold(hit, now)
    hit.save(update_fields=["max_assignments", "open_places", "held_places", "reviewing"])
    return hit


def set_expiration(*, hit: HIT, expires_at: datetime, now: datetime) -> HIT:
    """Expire a HIT now (a moment that has passed) or later than it would; never earlier in the future."""
    hit = lock_hit(hit.pk)
    _refuse_disposed(hit)
    if expires_at <= now:
        if not is_expired(hit, now):
            hit.expires_at = now.replace(microsecond=0)
    elif expires_at < hit.expires_at:
        raise invalid_value(
            "ExpireAt", f"a HIT's life can be ended now or made longer; it already lasts to {hit.expires_at}."
        )
    else:
        hit.expires_at = expires_at
        if hit_status(hit, now) == "Assignable":
            hit.reviewing = False
    settle_hold(hit, now)
    hit.save(update_fields=["expires_at", "held_places", "reviewing"])
    return hit


def set_reviewing(*, hit: HIT, reviewing: bool, now: datetime) -> HIT:
    """Mark a Reviewable HIT as Reviewing, or back."""
    hit = lock_hit(hit.pk)
    wanted = "Reviewable" if reviewing else "Reviewing"
    if (status := hit_status(hit, now)) != wanted:
        raise _wrong_state(status, wanted)
    hit.reviewing = reviewing
    hit.save(update_fields=["reviewing"])
    return hit


def dispose(*, hit: HIT, now: datetime) -> HIT:
    """Delete a HIT whose work is all decided; its record stays, its rejections become final."""
    hit = lock_hit(hit.pk)
    status = hit_status(hit, now)
    if status not in ("Reviewable", "Reviewing") or hit.submitted:
        raise _wrong_state(status, "Reviewing, Reviewable")
    hit.disposed_at = now
    settle_hold(hit, now)
    hit.save(update_fields=["disposed_at", "held_places"])
    return hit


def _wrong_state(status: str, wanted: str) -> Refusal:
    return Refusal(
        "InvalidHITState",
        f"This HIT is currently in the state '{status}'.  "
        f"This operation can be called with a status of: {wanted}",
    )


def _refuse_disposed(hit: HIT) -> None:
    if hit.disposed_at:
        raise _wrong_state("Disposed", "Assignable, Unassignable, Reviewable, Reviewing")


@transaction.atomic
def release_expired(*, hit_pk: int, now: datetime) -> None:
    """Give back what is held for the open places of an expired HIT."""
    hit = lock_hit(hit_pk)
    settle_hold(hit, now)
    hit.save(update_fields=["held_places"])
