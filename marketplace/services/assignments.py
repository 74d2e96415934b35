"""A worker's way through an assignment: accept and submit."""

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef

from marketplace import clock, eligibility, ids
from marketplace.errors import Refusal
from marketplace.models import HIT, HITType, Holding, Place, Worker
from marketplace.questions import answers_xml
from marketplace.selectors import assignable, hit_status
from marketplace.services.locking import lock_hit, lock_worker
from marketplace.services.review import approve_locked
from marketplace.sweep import settle

State = Holding.State
NO_WORK = "There is no HIT left in this group that you could take at the moment."
LATE = "The time for this HIT is over; it was offered to somebody else."


def accept(*, worker: Worker, hit: HIT) -> Holding:
    """Give `worker` a place of this HIT.

    Raises Refusal, with a sentence for the worker, where the HIT has no open place, was done or is being
    done by them, needs a qualification they lack, or their queue is full.
    """
    settle(hits=[hit])
    with transaction.atomic():
        return _accept_locked(worker, lock_hit(hit.pk))


def accept_next(*, worker: Worker, hit_type: HITType) -> Holding:
    """Give `worker` a place of the next HIT of the group they have not held.

    The search goes on after the HIT they held last, so its cost does not grow with what they have done, nor
    with the number of open HITs. Raises Refusal("NoWork") where nothing is left.
    """
    wait_for_others = False
    while True:
        with transaction.atomic():
            hit = next_hit(worker=worker, hit_type=hit_type, lock=True, wait_for_others=wait_for_others)
            if hit is not None:
                return _accept_locked(worker, hit)
        if next_hit(worker=worker, hit_type=hit_type) is None:
            raise Refusal("NoWork", NO_WORK)
        wait_for_others = True


def next_hit(
    *, worker: Worker | None, hit_type: HITType, lock: bool = False, wait_for_others: bool = True
) -> HIT | None:
    """First HIT of the group with an open place that `worker` has not taken; None where there is none.

    With `lock` the HIT stays locked until the transaction ends; without `wait_for_others` HITs that other
    workers are just taking are passed over.
    """
    open_hits = HIT.objects.filter(assignable(clock.now()), hit_type=hit_type).order_by("pk")
    if lock:
        open_hits = open_hits.select_for_update(of=("self",), skip_locked=not wait_for_others)
    open_hits = open_hits.select_related("hit_type", "requester")
    if worker is None:
        return open_hits.first()
    held = Holding.objects.filter(worker=worker)
    open_hits = open_hits.exclude(Exists(held.filter(hit=OuterRef("pk"), state__in=Holding.OCCUPYING)))
    last = (
        held.filter(hit__hit_type=hit_type).order_by("-accepted_at").values_list("hit_id", flat=True).first()
    )
    later = open_hits.filter(pk__gt=last).first() if last is not None else None
    return later or open_hits.first()


def _accept_locked(worker: Worker, hit: HIT) -> Holding:
    now = clock.now()
    worker = lock_worker(worker.pk)
    if hit_status(hit, now) != "Assignable":
        raise Refusal("HITUnavailable", "Somebody else took the last place of this HIT, or it has expired.")
    if Holding.objects.filter(hit=hit, worker=worker, state__in=Holding.OCCUPYING).exists():
        raise Refusal("AssignmentAlreadyExists", "You have already taken this HIT.")
    if not (verdict := eligibility.verdict(worker=worker, hit_type=hit.hit_type)).accept:
        raise _unqualified(verdict)
    in_queue = Holding.objects.filter(worker=worker, state=State.ACCEPTED, deadline__gt=now).count()
    if in_queue >= settings.MARKETPLACE_QUEUE_LIMIT:
        raise Refusal(
            "QueueFull",
            f"Your queue holds {in_queue} HITs, which is the limit. Submit or return one of them first.",
        )
    place = Place.objects.filter(hit=hit, free=True).order_by("ordinal").first()
    if place is None:
        hit.places_made += 1
        place = Place.objects.create(hit=hit, ordinal=hit.places_made, assignment_id=ids.new_entity_id())
    else:
        Place.objects.filter(pk=place.pk).update(free=False)
    holding = Holding.objects.create(
        place=place,
        hit=hit,
        worker=worker,
        assignment_id=place.assignment_id,
        accepted_at=now,
        deadline=now + timedelta(seconds=hit.hit_type.duration_s),
    )
    hit.open_places -= 1
    hit.pending += 1
    hit.save(update_fields=["open_places", "pending", "places_made"])
    return holding


def _unqualified(verdict: eligibility.Verdict) -> Refusal:
    return Refusal("DoesNotMeetRequirements", " ".join(verdict.missing))


def submit(*, holding: Holding, fields: Sequence[tuple[str, str]], visible_after_s: float = 0) -> Holding:
    """Record a worker's answer; a second submission of the same holding changes nothing.

    Raises Refusal when the deadline has passed or the assignment was returned. `visible_after_s` delays
    what the requester sees (test controls only).
    """
    now = clock.now()
    answer = answers_xml(fields)
    with transaction.atomic():
        hit = lock_hit(holding.hit_id)
        delay = timedelta(seconds=hit.hit_type.auto_approval_s)
        updated = Holding.objects.filter(pk=holding.pk, state=State.ACCEPTED, deadline__gt=now).update(
            state=State.SUBMITTED,
            submitted_at=now,
            visible_at=now + timedelta(seconds=visible_after_s) if visible_after_s else None,
            auto_approve_at=now + delay,
            answer=answer,
        )
        holding = Holding.objects.select_related("hit__hit_type", "worker").get(pk=holding.pk)
        if not updated:
            if holding.state in Holding.ANSWERED:
                return holding
            raise Refusal("InvalidAssignmentState", LATE)
        hit.pending -= 1
        hit.submitted += 1
        hit.save(update_fields=["pending", "submitted"])
        Worker.objects.filter(pk=holding.worker_id).update(submitted_count=F("submitted_count") + 1)
        if not delay:
            approve_locked(holding=holding, hit=hit, at=now, auto=True)
    return holding
