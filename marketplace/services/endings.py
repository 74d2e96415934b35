"""Assignments that end without an answer: returned by the worker, or abandoned at the deadline."""

from datetime import datetime

from django.db import transaction
from django.db.models import F

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import Holding, Place, Worker
from marketplace.notifications.events import emit
from marketplace.selectors import is_expired
from marketplace.services.hit_events import notice_expiry, notice_reviewable
from marketplace.services.holds import settle_hold
from marketplace.services.locking import lock_hit

State = Holding.State


def give_back(*, holding: Holding) -> None:
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
    if not ended.update(state=state, ended_at=at):
        raise Refusal("InvalidAssignmentState", "This assignment is no longer yours to return.")
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
    emit(event, hit, assignment_id=holding.assignment_id, at=at)
    notice_reviewable(hit, now, at=max(at, hit.expires_at))
