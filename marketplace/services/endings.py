"""Endings: assignments returned or abandoned, HITs that expire or become Reviewable."""

from datetime import datetime

from django.db import transaction
from django.db.models import F

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import HIT, Holding, Place, Worker
from marketplace.notifications import emit_event
from marketplace.policies import plurality
from marketplace.selectors import is_expired, is_reviewable
from marketplace.services.holds import settle_hold
from marketplace.services.locking import lock_hit, lock_people

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
    if is_reviewable(hit, now):
        plurality.review(hit, now)
    if is_reviewable(hit, now):
        emit_event("HITReviewable", hit, at=at)


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
    emit_event(event, hit, assignment_id=holding.assignment_id, at=at)
    notice_reviewable(hit, now, at=max(at, hit.expires_at))
