"""A requester's decisions on submitted work, and the money that follows them."""

import re
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from core.money import bonus_fee
from marketplace.activity import note
from marketplace.errors import ParameterRefusal, Refusal
from marketplace.lifecycle.holds import lock_hit
from marketplace.lifecycle.notifications import emit_event
from marketplace.models import HIT, Bonus, Holding, Requester, Worker
from marketplace.money import ledger
from marketplace.money.amounts import money
from marketplace.money.ledger import Kind, Movement

State = Holding.State
#: How long after submission a rejection can be turned into an approval.
OVERRIDE_WITHIN = timedelta(days=30)
NO_MONEY = (
    "This person came by a study link for which nothing is paid here, so there is no bonus either. "
    "Pay it where they are paid: by the panel, or in the course."
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MAX_FEEDBACK = 1024


def is_feedback(text: str) -> bool:
    """Whether a text can be shown to a worker as feedback."""
    return len(text) <= _MAX_FEEDBACK and not _CONTROL.search(text)


def wrong_assignment_state(expected: str) -> Refusal:
    """The protocol's refusal of an operation that needs another assignment state."""
    return Refusal(
        "InvalidAssignmentState",
        "This operation can be called with a status of: " + expected,
    )


@transaction.atomic
def approve(*, holding: Holding, feedback: str | None, override: bool, now: datetime) -> Holding:
    """Approve submitted work and pay its reward; with `override` also work that was rejected."""
    hit = lock_hit(holding.hit_id)
    holding = _current(holding)
    if holding.state == State.REJECTED and override:
        return _override_rejection(holding, hit, feedback, now)
    # Test controls can delay answers: until then the requester knows of none.
    if holding.visible_at and holding.visible_at > now:
        raise wrong_assignment_state("null")
    if holding.state != State.SUBMITTED:
        raise wrong_assignment_state("Submitted")
    approve_locked(holding=holding, hit=hit, at=now, feedback=feedback)
    note(hit.requester_id, "assignment.approved", holding.assignment_id, holding.worker.worker_id)
    return holding


def approve_locked(
    *, holding: Holding, hit: HIT, at: datetime, auto: bool = False, feedback: str | None = None
) -> None:
    """Approve a submitted assignment of a locked HIT and pay it from what is on hold."""
    approved = Holding.objects.filter(pk=holding.pk, state=State.SUBMITTED).update(
        state=State.APPROVED,
        approved_at=at,
        auto_approved=auto,
        paid_cents=0 if holding.unpaid else hit.reward_cents,
        feedback=feedback or holding.feedback,
    )
    if not approved:
        raise wrong_assignment_state("Submitted")
    holding.state = State.APPROVED
    hit.submitted -= 1
    hit.approved += 1
    hit.held_places -= 1
    hit.save(update_fields=["submitted", "approved", "held_places"])
    _pay_reward(holding, hit, at)
    Worker.objects.filter(pk=holding.worker_id).update(approved_count=F("approved_count") + 1)
    emit_event("AssignmentApproved", hit, assignment_id=holding.assignment_id, at=at)


def _pay_reward(holding: Holding, hit: HIT, at: datetime) -> None:
    """Pay reward and fee from what is on hold; where nothing is paid here, the hold goes back."""
    if holding.unpaid:
        back = Movement(
            Kind.RELEASE,
            hit.reward_cents + hit.fee_cents,
            hit=hit,
            memo=f"{holding.assignment_id}: study link",
        )
        ledger.post(hit.requester_id, [back], at=at)
        return
    ledger.post(
        hit.requester_id,
        [
            Movement(Kind.REWARD, hit.reward_cents, hit=hit, holding=holding, worker=holding.worker),
            Movement(Kind.REWARD_FEE, hit.fee_cents, hit=hit, holding=holding),
        ],
        at=at,
    )


def _override_rejection(holding: Holding, hit: HIT, feedback: str | None, now: datetime) -> Holding:
    assert holding.submitted_at is not None
    if hit.disposed_at or holding.submitted_at < now - OVERRIDE_WITHIN:
        raise Refusal(
            "InvalidAssignmentState",
            "A rejection can be overridden within 30 days of submission, while the HIT is not deleted. "
            "This operation can be called with a status of: Submitted",
        )
    # The rejection gave the hold back, so the money has to be there once more.
    if not holding.unpaid:
        ledger.post(
            hit.requester_id, [Movement(Kind.HOLD, hit.reward_cents + hit.fee_cents, hit=hit)], at=now
        )
    Holding.objects.filter(pk=holding.pk).update(
        state=State.APPROVED,
        approved_at=now,
        rejected_at=None,
        paid_cents=0 if holding.unpaid else hit.reward_cents,
        feedback=feedback or "",  # the words of the rejection are over
    )
    hit.rejected -= 1
    hit.approved += 1
    hit.save(update_fields=["rejected", "approved"])
    if not holding.unpaid:
        _pay_reward(holding, hit, now)
    Worker.objects.filter(pk=holding.worker_id).update(
        approved_count=F("approved_count") + 1, rejected_count=F("rejected_count") - 1
    )
    emit_event("AssignmentApproved", hit, assignment_id=holding.assignment_id, at=now)
    note(hit.requester_id, "assignment.unrejected", holding.assignment_id, holding.worker.worker_id)
    return holding


@transaction.atomic
def reject(*, holding: Holding, feedback: str, now: datetime) -> Holding:
    """Reject submitted work: nothing is paid, the hold is released, the place stays used."""
    hit = lock_hit(holding.hit_id)
    holding = _current(holding)
    if holding.visible_at and holding.visible_at > now:
        raise wrong_assignment_state("null")
    reject_locked(holding=holding, hit=hit, feedback=feedback, at=now)
    note(hit.requester_id, "assignment.rejected", holding.assignment_id, holding.worker.worker_id)
    return holding


def reject_locked(*, holding: Holding, hit: HIT, feedback: str, at: datetime) -> None:
    """Reject a submitted assignment of a locked HIT and release what is on hold for it."""
    updated = Holding.objects.filter(pk=holding.pk, state=State.SUBMITTED).update(
        state=State.REJECTED, rejected_at=at, feedback=feedback
    )
    if not updated:
        raise wrong_assignment_state("Submitted")
    holding.state = State.REJECTED
    hit.submitted -= 1
    hit.rejected += 1
    hit.held_places -= 1
    hit.save(update_fields=["submitted", "rejected", "held_places"])
    ledger.post(
        hit.requester_id,
        [Movement(Kind.RELEASE, hit.reward_cents + hit.fee_cents, hit=hit, memo=holding.assignment_id)],
        at=at,
    )
    Worker.objects.filter(pk=holding.worker_id).update(rejected_count=F("rejected_count") + 1)
    emit_event("AssignmentRejected", hit, assignment_id=holding.assignment_id, at=at)


@transaction.atomic
def send_bonus(*, holding: Holding, worker_id: str, cents: int, reason: str, now: datetime) -> Bonus:
    """Pay a bonus to the worker who submitted this assignment."""
    # Without a lock on the HIT: a bonus is paid from what is available, and no count of the HIT changes.
    holding = Holding.objects.select_related("hit__requester", "worker").get(pk=holding.pk)
    if holding.worker.worker_id != worker_id:
        raise ParameterRefusal("WorkerId", worker_id)
    if holding.unpaid:
        raise Refusal("InvalidAssignmentState", NO_MONEY)
    requester: Requester = holding.hit.requester
    fee_cents = bonus_fee(requester.fee_profile, bonus_cents=cents)
    bonus = Bonus.objects.create(
        requester=requester,
        holding=holding,
        hit=holding.hit,
        worker=holding.worker,
        assignment_id=holding.assignment_id,
        cents=cents,
        fee_cents=fee_cents,
        reason=reason,
        granted_at=now,
    )
    ledger.post(
        requester.pk,
        [
            Movement(Kind.BONUS, cents, hit=holding.hit, holding=holding, worker=holding.worker),
            Movement(Kind.BONUS_FEE, fee_cents, hit=holding.hit, holding=holding),
        ],
        at=now,
    )
    note(requester.pk, "bonus.paid", holding.assignment_id, f"{money(cents)} to {worker_id}")
    return bonus


def _current(holding: Holding) -> Holding:
    return Holding.objects.select_related("worker").get(pk=holding.pk)
