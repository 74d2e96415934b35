"""Decisions that people take on pages: once however often they press, and many at a time.

What a decision is and what it costs is in `marketplace.lifecycle.review`. Here is what people need around
it: pressing twice is no error, and what somebody else decided meanwhile is said in words.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from marketplace.errors import Refusal
from marketplace.lifecycle import review
from marketplace.lifecycle.expiry import settle
from marketplace.models import HIT, Bonus, Holding, Requester, TokenUse

# Forms that do their work once, however often they are sent.

AGAIN = "This was done already; nothing was done twice."


def claim(*, requester: Requester, action: str, once: UUID, now: datetime) -> None:
    """Take the number of a form; must run in the transaction of what the form does.

    Raises Refusal("DuplicateRequest") where the form was sent before. A number is kept for two days, longer
    than any browser repeats a post by itself.
    """
    use = TokenUse(
        requester=requester, operation=f"page:{action}", token=once.hex, call_id=once, result="", at=now
    )
    try:
        # A savepoint: on PostgreSQL a row that breaks a constraint ends the transaction around it.
        with transaction.atomic():
            use.save(force_insert=True)
    except IntegrityError as error:
        raise Refusal("DuplicateRequest", AGAIN) from error


State = Holding.State
_DECIDED = {
    State.APPROVED: "It is approved already, so it cannot be rejected.",
    State.REJECTED: "It was rejected meanwhile. To approve it after all, open it.",
}


@dataclass(slots=True)
class Outcome:
    """What became of many decisions: how many were made, and why others were not, by worker id."""

    approved: int = 0
    rejected: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)


def approve_once(*, holding: Holding, feedback: str, override: bool, now: datetime) -> bool:
    """Approve and pay; False where it was approved before, and nothing is done.

    With `override` rejected work is approved, too. `holding` has its HIT loaded.
    """
    settle(hits=[holding.hit], now=now)
    try:
        review.approve(holding=holding, feedback=feedback or None, override=override, now=now)
    except Refusal as refusal:
        state = _state(holding, refusal)
        if state == State.APPROVED:
            return False
        raise _in_words(refusal, state) from refusal
    return True


def reject_once(*, holding: Holding, feedback: str, now: datetime) -> bool:
    """Reject; False where it was rejected before, and nothing is done. `holding` has its HIT loaded."""
    settle(hits=[holding.hit], now=now)
    try:
        review.reject(holding=holding, feedback=feedback, now=now)
    except Refusal as refusal:
        state = _state(holding, refusal)
        if state == State.REJECTED:
            return False
        raise _in_words(refusal, state) from refusal
    return True


@transaction.atomic
def bonus_once(*, holding: Holding, cents: int, reason: str, once: UUID, now: datetime) -> Bonus:
    """Pay a bonus for answered work; a form that was sent before raises Refusal("DuplicateRequest").

    `holding` has worker, HIT and the HIT's requester loaded.
    """
    claim(requester=holding.hit.requester, action="bonus", once=once, now=now)
    return review.send_bonus(
        holding=holding, worker_id=holding.worker.worker_id, cents=cents, reason=reason, now=now
    )


def approve_each(*, holdings: Iterable[Holding], now: datetime) -> Outcome:
    """Approve submitted work, each piece in its own transaction; what is approved already is passed over.

    `holdings` have HIT and worker loaded. What was done stays done where a later one is refused.
    """
    outcome = Outcome()
    hits: dict[int, HIT] = {}
    for holding in holdings:
        holding.hit = hits.setdefault(holding.hit_id, holding.hit)
        try:
            outcome.approved += approve_once(holding=holding, feedback="", override=False, now=now)
        except Refusal as refusal:
            outcome.refused.append((holding.worker.worker_id, refusal.message))
    return outcome


def reject_each(*, holdings: Iterable[Holding], feedback: str, now: datetime) -> Outcome:
    """Reject submitted work for one reason, as `approve_each` approves it."""
    outcome = Outcome()
    hits: dict[int, HIT] = {}
    for holding in holdings:
        holding.hit = hits.setdefault(holding.hit_id, holding.hit)
        try:
            outcome.rejected += reject_once(holding=holding, feedback=feedback, now=now)
        except Refusal as refusal:
            outcome.refused.append((holding.worker.worker_id, refusal.message))
    return outcome


def _state(holding: Holding, refusal: Refusal) -> str:
    """What state the work is in now, where the refusal was about that."""
    if refusal.code != "InvalidAssignmentState":
        return ""
    return str(Holding.objects.values_list("state", flat=True).get(pk=holding.pk))


def _in_words(refusal: Refusal, state: str) -> Refusal:
    if state == State.REJECTED and "30 days" in refusal.message:
        return Refusal(
            refusal.code,
            "A rejection can be turned into an approval within 30 days of submission, and before its HIT "
            "is deleted.",
        )
    return Refusal(refusal.code, _DECIDED[State(state)]) if state in _DECIDED else refusal
