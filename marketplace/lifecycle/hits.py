"""HIT types and HITs: made, extended, expired, disposed of; and how assignments end without an answer."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from core import money
from core.extensions import parts_of
from marketplace import clock, ids
from marketplace.errors import Refusal, invalid_value
from marketplace.forms.questions import MAX_QUESTION_BYTES, MAX_TASK_BYTES, parse_question
from marketplace.lifecycle.holds import (
    LONGEST_LIFE,
    add_places_locked,
    lengthen_locked,
    lock_hit,
    lock_people,
    settle_hold,
)
from marketplace.lifecycle.notifications import emit_event
from marketplace.lifecycle.selectors import (
    DISPOSE_AFTER,
    hit_status,
    is_expired,
    is_reviewable,
    watches_expiry,
)
from marketplace.models import HIT, Batch, HITType, Holding, Place, Requester, Worker
from marketplace.money import ledger
from marketplace.money.ledger import Kind, Movement
from marketplace.parts import ReviewRules
from marketplace.qualifications.eligibility import Requirement


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
    digest = properties.digest()
    hit_type, _ = HITType.objects.get_or_create(
        requester=requester,
        value_digest=digest,
        defaults={
            **asdict(properties),
            "type_id": ids.new_entity_id(),
            "group_id": ids.new_entity_id(),
            "created_at": now,
        },
    )
    hit_type.requester = requester
    return hit_type


def create_hit(
    *,
    hit_id: str,
    hit_type: HITType,
    question: str,
    batch: Batch | None = None,
    layout_id: str = "",
    max_assignments: int,
    lifetime_s: int,
    annotation: str,
    now: datetime,
    assignment_review_policy: dict[str, Any] | None = None,
    hit_review_policy: dict[str, Any] | None = None,
) -> HIT:
    """Publish a HIT and put its whole cost on hold. Must run in a transaction.

    A question that is made of a layout may have what templates may. Raises Refusal for a question that
    cannot be shown, a review policy that cannot be followed, and for missing funds.
    """
    parse_question(question, most_bytes=MAX_TASK_BYTES if layout_id else MAX_QUESTION_BYTES)
    for rules in parts_of(ReviewRules):
        rules.check(assignment_review_policy, hit_review_policy)
    requester = hit_type.requester
    # The wire carries whole seconds: a CreationTime that is cut here is the same in every answer.
    created = now.replace(microsecond=0)
    hit = HIT(
        requester=requester,
        hit_type=hit_type,
        hit_id=hit_id,
        question=question,
        batch=batch,
        layout_id=layout_id,
        annotation=annotation,
        assignment_review_policy=assignment_review_policy,
        hit_review_policy=hit_review_policy,
        created_at=created,
        expires_at=created + timedelta(seconds=lifetime_s),
        max_assignments=max_assignments,
        max_at_creation=max_assignments,
        open_places=max_assignments,
        held_places=max_assignments,
        reward_cents=hit_type.reward_cents,
        fee_profile=requester.fee_profile,
    )
    hit.fee_cents = _fee(hit)
    hit.expiry_watched = watches_expiry(hit)
    # Before the hold: from there on other calls of the requester wait.
    emit_event("HITCreated", hit, at=created)
    hit.save(force_insert=True)
    cost = max_assignments * (hit.reward_cents + hit.fee_cents)
    ledger.post(requester.pk, [Movement(Kind.HOLD, cost, hit=hit)], at=created)
    return hit


def create_hits(
    *,
    hit_type: HITType,
    questions: Sequence[str],
    batch: Batch,
    layout_id: str = "",
    max_assignments: int,
    lifetime_s: int,
    annotation: str,
    now: datetime,
) -> list[HIT]:
    """Publish HITs that differ by their question only, as cheaply as one. Must run in a transaction.

    The questions were read with `parse_question`. Raises Refusal for missing funds; then none is there.
    """
    requester = hit_type.requester
    created = now.replace(microsecond=0)
    hits = [
        HIT(
            requester=requester,
            hit_type=hit_type,
            hit_id=ids.new_entity_id(),
            question=question,
            batch=batch,
            layout_id=layout_id,
            annotation=annotation,
            created_at=created,
            expires_at=created + timedelta(seconds=lifetime_s),
            max_assignments=max_assignments,
            max_at_creation=max_assignments,
            open_places=max_assignments,
            held_places=max_assignments,
            reward_cents=hit_type.reward_cents,
            fee_profile=requester.fee_profile,
        )
        for question in questions
    ]
    # One type and one size, so one fee for all.
    fee, watched = _fee(hits[0]), watches_expiry(hits[0])
    for hit in hits:
        hit.fee_cents, hit.expiry_watched = fee, watched
    HIT.objects.bulk_create(hits)
    cost = max_assignments * (hit_type.reward_cents + fee)
    ledger.post(requester.pk, [Movement(Kind.HOLD, cents=cost, hit=hit) for hit in hits], at=created)
    for hit in hits:
        emit_event("HITCreated", hit, at=created)
    return hits


def change_type(*, hit: HIT, hit_type: HITType, now: datetime) -> HIT:
    """Give a HIT the properties of another type of its requester; what is on hold follows the new price.

    The fee keeps the profile and the size at the HIT's creation. Work that was taken at a price is never paid
    less: a lower reward is refused while somebody works on the HIT, waits for a decision or was rejected.
    """
    hit = lock_hit(hit.pk)
    _refuse_disposed(hit)
    if hit.hit_type_id == hit_type.pk:
        return hit
    if hit_type.reward_cents < hit.reward_cents and (hit.pending or hit.submitted or hit.rejected):
        raise invalid_value(
            "HITTypeId",
            "it pays less than the HIT does, and people took the HIT at its present reward. "
            "Expire the HIT and create another one instead.",
        )
    notice_expiry(hit, now)
    before = hit.reward_cents + hit.fee_cents
    hit.hit_type = hit_type
    hit.reward_cents = hit_type.reward_cents
    hit.fee_cents = _fee(hit)
    hit.expiry_watched = not is_expired(hit, now) and watches_expiry(hit)
    change = hit.held_places * (hit.reward_cents + hit.fee_cents - before)
    kind = Kind.HOLD if change > 0 else Kind.RELEASE
    ledger.post(hit.requester_id, [Movement(kind, abs(change), hit=hit, memo="another HIT type")], at=now)
    hit.save(update_fields=["hit_type", "reward_cents", "fee_cents", "expiry_watched"])
    return hit


def _fee(hit: HIT) -> int:
    return money.reward_fee(
        hit.fee_profile,
        reward_cents=hit.reward_cents,
        max_assignments=hit.max_at_creation,
        qualification_ids=[item["QualificationTypeId"] for item in hit.hit_type.requirements],
    )


def add_places(*, hit: HIT, places: int, now: datetime) -> HIT:
    """More places for a HIT, with their cost put on hold unless it has expired."""
    hit = lock_hit(hit.pk)
    _refuse_disposed(hit)
    notice_expiry(hit, now)
    add_places_locked(hit, places, now)
    return hit


def set_expiration(*, hit: HIT, expires_at: datetime, now: datetime) -> HIT:
    """Expire a HIT now (a moment that has passed) or later than it would; never earlier in the future.

    Raises Refusal for a moment more than LONGEST_LIFE from now: the calendar ends in the year 9999, and what
    is reckoned from the end of a HIT's life must stay within it.
    """
    if expires_at > now + LONGEST_LIFE:
        raise invalid_value("ExpireAt", "a HIT stays on offer for at most a year from now.")
    hit = lock_hit(hit.pk)
    _refuse_disposed(hit)
    notice_expiry(hit, now)
    if expires_at <= now:
        if not is_expired(hit, now):
            hit.expires_at = now.replace(microsecond=0)
            settle_hold(hit, now)
            hit.save(update_fields=["expires_at", "held_places"])
            notice_expiry(hit, now)
    elif expires_at < hit.expires_at:
        raise invalid_value(
            "ExpireAt", f"a HIT's life can be ended now or made longer; it already lasts to {hit.expires_at}."
        )
    elif expires_at > hit.expires_at:
        lengthen_locked(hit, expires_at, now)
        emit_event("HITExtended", hit, at=now)
    return hit


def set_reviewing(*, hit: HIT, reviewing: bool, now: datetime) -> HIT:
    """Mark a Reviewable HIT as Reviewing, or back."""
    hit = lock_hit(hit.pk)
    expected = "Reviewable" if reviewing else "Reviewing"
    if (status := hit_status(hit, now)) != expected:
        raise _wrong_state(status, expected)
    hit.reviewing = reviewing
    hit.save(update_fields=["reviewing"])
    return hit


def dispose(*, hit: HIT, now: datetime) -> HIT:
    """Delete a HIT whose work is all decided; its record stays, its rejections become final."""
    hit = lock_hit(hit.pk)
    notice_expiry(hit, now)
    if not is_reviewable(hit, now) or hit.submitted:
        raise _wrong_state(hit_status(hit, now), "Reviewing, Reviewable")
    return _dispose_locked(hit, now, at=now)


@transaction.atomic
def dispose_old(*, hit_pk: int, now: datetime) -> None:
    """Dispose of a HIT whose time is over, as of that time."""
    hit = lock_hit(hit_pk)
    if not hit.disposed_at and not hit.held_places and hit.expires_at <= now - DISPOSE_AFTER:
        _dispose_locked(hit, now, at=hit.expires_at + DISPOSE_AFTER)


def _dispose_locked(hit: HIT, now: datetime, *, at: datetime) -> HIT:
    hit.disposed_at = at
    hit.expiry_watched = False
    settle_hold(hit, now)
    hit.save(update_fields=["disposed_at", "expiry_watched", "held_places"])
    emit_event("HITDisposed", hit, at=at)
    return hit


def _wrong_state(status: str, expected: str) -> Refusal:
    return Refusal(
        "InvalidHITState",
        f"This HIT is currently in the state '{status}'.  "
        f"This operation can be called with a status of: {expected}",
    )


def _refuse_disposed(hit: HIT) -> None:
    if hit.disposed_at:
        raise _wrong_state("Disposed", "Assignable, Unassignable, Reviewable, Reviewing")


@transaction.atomic
def end_life(*, hit_pk: int, now: datetime) -> None:
    """Tell of the expiry of a HIT for which that is due, and give back what is held for its open places."""
    hit = lock_hit(hit_pk)
    notice_expiry(hit, now)
    settle_hold(hit, now)
    hit.save(update_fields=["held_places"])


# The turns in a HIT's life that no row records: its expiry, and becoming Reviewable.
#
# A HIT's state is computed from counts and clock. So whoever holds its lock and changes the counts says here
# what follows, once each time: events, and the HIT's review policy. The end of its life is a turn without
# anybody's doing; `expiry_watched` marks the HITs for which it still has to be told.


def notice_expiry(hit: HIT, now: datetime) -> None:
    """Tell that a locked HIT's life has ended, if that is due, before anything else changes it.

    Everything that may make the HIT Reviewable begins with this: whom its policy may decide about is locked.
    """
    if hit.hit_review_policy is not None:
        lock_people(hit)
    if not (hit.expiry_watched and is_expired(hit, now)):
        return
    hit.expiry_watched = False
    hit.save(update_fields=["expiry_watched"])
    emit_event("HITExpired", hit, at=hit.expires_at)
    if hit.open_places:
        notice_reviewable(hit, now, at=hit.expires_at)


def notice_reviewable(hit: HIT, now: datetime, *, at: datetime) -> None:
    """Tell that a locked HIT, which was not Reviewable before, now is, if it is.

    Its review policy comes first, for it may extend the HIT.
    """
    if hit.hit_review_policy is not None and is_reviewable(hit, now):
        for rules in parts_of(ReviewRules):
            rules.review_hit(hit, now)
    if is_reviewable(hit, now):
        emit_event("HITReviewable", hit, at=at)


# Assignments that end without an answer: returned by the worker, or abandoned when the deadline passed.

State = Holding.State


def return_assignment(*, holding: Holding) -> None:
    """Return an assignment unfinished: its place, with its AssignmentId, is open to the next worker."""
    _end_without_answer(holding, State.RETURNED, clock.now())


def abandon(*, holding: Holding) -> None:
    """End a hold whose deadline has passed, at the deadline. Doing it twice changes nothing."""
    try:
        _end_without_answer(holding, State.ABANDONED, holding.deadline)
    except Refusal:
        return


@transaction.atomic
def _end_without_answer(holding: Holding, state: Holding.State, at: datetime) -> None:
    hit = lock_hit(holding.hit_id)
    now = clock.now()
    notice_expiry(hit, now)
    ended = Holding.objects.filter(pk=holding.pk, state=State.ACCEPTED)
    if state == State.RETURNED:
        ended = ended.filter(deadline__gt=at)
    # The update is the decision: of a return, a submission and the sweep at once, one changes the row.
    if not ended.update(state=state, ended_at=at):
        raise Refusal("InvalidAssignmentState", gettext("This assignment is no longer yours to return."))
    Place.objects.filter(pk=holding.place_id).update(free=True)
    hit.pending -= 1
    hit.open_places += 1
    if not is_expired(hit, now):
        hit.reviewing = False
    settle_hold(hit, now)
    hit.save(update_fields=["pending", "open_places", "held_places", "reviewing"])
    counter = "returned_count" if state == State.RETURNED else "abandoned_count"
    Worker.objects.filter(pk=holding.worker_id).update(**{counter: F(counter) + 1})
    event = "AssignmentReturned" if state == State.RETURNED else "AssignmentAbandoned"
    emit_event(event, hit, assignment_id=holding.assignment_id, at=at)
    notice_reviewable(hit, now, at=max(at, hit.expires_at))
