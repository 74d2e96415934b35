"""A worker's way through an assignment: accept and submit."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils.translation import gettext, gettext_lazy

from core.extensions import parts_of
from marketplace import clock, ids
from marketplace.errors import Refusal
from marketplace.forms.questions import answers_xml
from marketplace.lifecycle import traces
from marketplace.lifecycle.events import answer_submitted
from marketplace.lifecycle.expiry import settle
from marketplace.lifecycle.hits import notice_expiry, notice_reviewable
from marketplace.lifecycle.holds import lock_hit
from marketplace.lifecycle.hours import Hours, closed_batches, outside_hours
from marketplace.lifecycle.notifications import emit_event
from marketplace.lifecycle.review import approve_locked
from marketplace.lifecycle.selectors import assignable, hit_status, is_followed
from marketplace.locks import lock_worker
from marketplace.models import HIT, HITType, Holding, Place, Worker
from marketplace.parts import ReviewRules
from marketplace.qualifications import eligibility
from people.models import Visit

#: How far back the search for where a worker was in a group goes.
_LOOK_BACK = 50

#: The HIT of the group that the worker held last, of the latest that they held; 0 where there is none.
_LAST_HELD = """COALESCE((
SELECT recent.hit_id
  FROM (SELECT hit_id, accepted_at FROM marketplace_holding
         WHERE worker_id = %s ORDER BY accepted_at DESC LIMIT %s) recent
  JOIN marketplace_hit held ON held.id = recent.hit_id
 WHERE held.hit_type_id = %s
 ORDER BY recent.accepted_at DESC LIMIT 1), 0)"""
_NEXT = """
SELECT hit.id, EXISTS (SELECT 1 FROM marketplace_batch batch
                        WHERE batch.id = hit.batch_id AND batch.hours IS NOT NULL)
  FROM marketplace_hit hit
 WHERE hit.hit_type_id = %s AND hit.open_places > 0 AND hit.disposed_at IS NULL
   AND hit.expires_at > %s AND hit.id > {start}{open_batches}
   AND NOT EXISTS (SELECT 1 FROM marketplace_holding mine
                    WHERE mine.hit_id = hit.id AND mine.worker_id = %s
                      AND mine.state IN ('accepted', 'submitted', 'approved', 'rejected'))
 ORDER BY hit.id LIMIT 1
"""


def next_hit_pk(
    *,
    worker_pk: int | None,
    hit_type_pk: int,
    now: datetime,
    lock: str = "",
    closed: Collection[int] = (),
) -> int | None:
    """Primary key of the first HIT of the group with an open place that the worker has not taken.

    The search goes on after the HIT they held last and then begins again. `lock` is "", "wait" or "skip":
    the HIT stays locked until the transaction ends, and with "skip" HITs that other workers are just taking
    are passed over. A database without row locks (SQLite) is locked as a whole and ignores it.

    HITs of `closed` batches are passed over.

    A HIT that was waited for and then found full stays locked. So that two who wait never wait for each
    other, "wait" looks at the HITs in the one order that all follow, from the first on.
    """
    candidate = _next_hit(worker_pk, hit_type_pk, now, lock, closed)
    return candidate[0] if candidate else None


def _next_hit(
    worker_pk: int | None, hit_type_pk: int, now: datetime, lock: str, closed: Collection[int]
) -> tuple[int, bool] | None:
    """The same, and whether its batch has hours in which it can be taken."""
    passed_over = ", ".join(str(int(pk)) for pk in closed)
    condition = f" AND COALESCE(hit.batch_id, 0) NOT IN ({passed_over})" if passed_over else ""
    sql = _NEXT.replace("{open_batches}", condition)
    if lock and connection.features.has_select_for_update:
        sql += " FOR NO KEY UPDATE OF hit" + (" SKIP LOCKED" if lock == "skip" else "")
    moment = connection.ops.adapt_datetimefield_value(now)
    before, after = [hit_type_pk, moment], [worker_pk]
    searches = [(sql.replace("{start}", "0"), [*before, *after])]
    if worker_pk is not None and lock != "wait":
        last_held = [worker_pk, _LOOK_BACK, hit_type_pk]
        searches.insert(0, (sql.replace("{start}", _LAST_HELD), [*before, *last_held, *after]))
    with connection.cursor() as cursor:
        for search, parameters in searches:
            cursor.execute(search, parameters)
            if row := cursor.fetchone():
                return int(row[0]), bool(row[1])
    return None


State = Holding.State
NO_WORK = gettext_lazy("There is no HIT left in this group that you could take at the moment.")
CHANGED = gettext_lazy("The requester has just changed this HIT. Look at it again before you accept it.")
LATE = gettext_lazy("The time for this HIT is over; it was offered to somebody else.")
RETURNED = gettext_lazy("You returned this HIT, perhaps in another tab, so this answer was not taken.")


def accept(*, worker: Worker, hit: HIT) -> Holding:
    """Give `worker` a place of this HIT, whose type must be loaded.

    Raises Refusal, with a sentence for the worker, where the HIT has no open place, was done or is being
    done by them, needs a qualification they lack, or their queue is full.
    """
    # Before the transaction begins: what is due locks rows of its own, in transactions of its own.
    settle(hits=[hit])
    with transaction.atomic():
        locked = HIT.objects.select_for_update(no_key=True).get(pk=hit.pk)
        # UpdateHITTypeOfHIT came between: what it pays and asks for may be other than the page said.
        if locked.hit_type_id != hit.hit_type_id:
            raise Refusal("HITUnavailable", CHANGED)
        locked.hit_type = hit.hit_type
        return accept_locked(worker, locked)


def accept_next(*, worker: Worker, hit_type: HITType) -> Holding:
    """Give `worker` a place of the next HIT of the group they have not held.

    Its cost grows neither with what they have done nor with the number of open HITs. Raises
    Refusal("NoWork") where nothing is left.
    """
    lock = "skip"
    while True:
        with transaction.atomic():
            now = clock.now()
            # Few batches have hours: who skips locked HITs asks for them when one is found.
            closed = closed_batches(hit_type.requester_id, now) if lock == "wait" else {}
            candidate = _next_hit(worker.pk, hit_type.pk, now, lock, closed)
            if candidate is not None and candidate[1] and lock == "skip":
                closed = closed_batches(hit_type.requester_id, now)
                candidate = _next_hit(worker.pk, hit_type.pk, now, lock, closed) if closed else candidate
            if candidate is not None:
                hit = HIT.objects.get(pk=candidate[0])
                hit.hit_type = hit_type
                return accept_locked(worker, hit, closed=closed)
        if next_hit(worker=worker, hit_type=hit_type) is None:
            if hours := closed_hours(worker=worker, hit_type=hit_type, now=now):
                raise outside_hours(hours, now)
            raise Refusal("NoWork", NO_WORK)
        # There is work, but others are just taking it: wait for one of them rather than refuse.
        lock = "wait"


def next_hit(*, worker: Worker | None, hit_type: HITType) -> HIT | None:
    """The HIT that `accept_next` would give at this moment, or None; a visitor gets the first open one."""
    now = clock.now()
    pk = next_hit_pk(
        worker_pk=worker.pk if worker else None,
        hit_type_pk=hit_type.pk,
        now=now,
        closed=closed_batches(hit_type.requester_id, now),
    )
    if pk is None:
        return None
    hit = HIT.objects.get(pk=pk)
    hit.hit_type = hit_type
    return hit


def closed_hours(*, worker: Worker | None, hit_type: HITType, now: datetime) -> Hours | None:
    """The hours of the HIT that could be taken if it were not for them; the first to open of several."""
    closed = closed_batches(hit_type.requester_id, now)
    if not closed:
        return None
    hits = HIT.objects.filter(assignable(now), hit_type=hit_type, batch__in=closed)
    if worker is not None:
        mine = Holding.objects.filter(worker=worker, state__in=Holding.OCCUPYING)
        hits = hits.exclude(pk__in=mine.values("hit"))
    batches = hits.order_by().values_list("batch_id", flat=True).distinct()
    waiting = [closed[pk] for pk in batches if pk is not None]
    return min(waiting, key=lambda hours: hours.next_opening(now), default=None)


def accept_locked(
    worker: Worker,
    hit: HIT,
    *,
    visit: Visit | None = None,
    unpaid: bool = False,
    closed: Mapping[int, Hours] | None = None,
) -> Holding:
    """`accept` for a HIT whose row the caller has locked; `visit` of a person who came by a study link.

    `closed` are the batches that are outside of their hours, where the caller knows them.
    """
    now = clock.now()
    # Under the worker's lock two tabs of one person come one after the other, and the queue's limit holds.
    worker = lock_worker(worker.pk)
    if closed is None:
        closed = closed_batches(hit.requester_id, now) if hit.batch_id else {}
    if hours := closed.get(hit.batch_id or 0):
        raise outside_hours(hours, now)
    if hit_status(hit, now) != "Assignable":
        raise Refusal(
            "HITUnavailable",
            gettext_lazy("Another person took the last place of this HIT, or it has expired."),
        )
    if not (verdict := eligibility.verdict(worker=worker, hit_type=hit.hit_type)).accept:
        raise _unqualified(verdict)
    in_queue = Holding.objects.filter(worker=worker, state=State.ACCEPTED, deadline__gt=now).count()
    if in_queue >= settings.MARKETPLACE_QUEUE_LIMIT:
        raise Refusal(
            "QueueFull",
            gettext(
                "Your queue holds %(in_queue)s HITs, which is the limit. Submit or return one of them first."
            )
            % {"in_queue": in_queue},
        )
    place = _open_place(hit)
    try:
        holding = Holding.objects.create(
            place=place,
            hit=hit,
            requester_id=hit.requester_id,
            worker=worker,
            visit=visit,
            unpaid=unpaid,
            assignment_id=place.assignment_id,
            accepted_at=now,
            deadline=now + timedelta(seconds=hit.hit_type.duration_s),
        )
    except IntegrityError as error:  # the refusal ends the caller's transaction, the place with it
        raise Refusal("AssignmentAlreadyExists", gettext("You have already taken this HIT.")) from error
    hit.open_places -= 1
    hit.pending += 1
    hit.save(update_fields=["open_places", "pending", "places_made"])
    emit_event("AssignmentAccepted", hit, assignment_id=holding.assignment_id, at=now)
    return holding


def _open_place(hit: HIT) -> Place:
    """A place that was given back, with its AssignmentId, else a new one."""
    # Where more places were made than are occupied, one was given back.
    occupied = hit.max_assignments - hit.open_places
    if hit.places_made > occupied:
        place = Place.objects.filter(hit=hit, free=True).order_by("ordinal").first()
        assert place is not None
        Place.objects.filter(pk=place.pk).update(free=False)
        return place
    hit.places_made += 1
    return Place.objects.create(hit=hit, ordinal=hit.places_made, assignment_id=ids.new_entity_id())


def _unqualified(verdict: eligibility.Verdict) -> Refusal:
    return Refusal("DoesNotMeetRequirements", " ".join(verdict.missing))


def submit(
    *, holding: Holding, fields: Sequence[tuple[str, str]], answer: str = "", notes_words: bool = False
) -> Holding:
    """Record a worker's answer; a second submission of the same holding changes nothing.

    The answer is `answer`, QuestionFormAnswers XML, or made of the form's fields where that is empty. Where a
    person sent it, its words are noted for reviewers (`notes_words`).
    `holding` has its HIT, HIT type and worker loaded. Raises Refusal when the deadline has passed or the
    assignment was returned.
    """
    if holding.state in Holding.ANSWERED:
        return holding
    now = clock.now()
    delay = timedelta(seconds=holding.hit.hit_type.auto_approval_s)
    record = {
        "state": State.SUBMITTED,
        "submitted_at": now,
        "auto_approve_at": now + delay,
        "answer": answer or answers_xml(fields),
    }
    marks = traces.marks_of(str(record["answer"])) if notes_words else None
    with transaction.atomic():
        followed = _locked_if_followed(holding.hit, now)
        # The HIT first, as everywhere: whoever holds its row decides about its assignments.
        HIT.objects.filter(pk=holding.hit_id, pending__gt=0).update(
            pending=F("pending") - 1, submitted=F("submitted") + 1
        )
        holdings = Holding.objects.filter(pk=holding.pk, state=State.ACCEPTED, deadline__gt=now)
        recorded = holdings.update(**record)
        if recorded:
            for name, value in record.items():
                setattr(holding, name, value)
            answer_submitted.send(Holding, holding=holding)
            if marks is not None:
                traces.note_answer(holding=holding, marks=marks)
            if followed:
                followed.pending -= 1
                followed.submitted += 1
                emit_event("AssignmentSubmitted", followed, assignment_id=holding.assignment_id, at=now)
                for rules in parts_of(ReviewRules):
                    rules.review_answer(holding, followed, now)
            if not delay and holding.state == State.SUBMITTED:
                approve_locked(holding=holding, hit=followed or lock_hit(holding.hit_id), at=now, auto=True)
            if followed:
                notice_reviewable(followed, now, at=now)
                if followed.hit_review_policy is not None:
                    holding.refresh_from_db(fields=["state"])
            Worker.objects.filter(pk=holding.worker_id).update(submitted_count=F("submitted_count") + 1)
        else:
            # The counts of the HIT were changed before it was known that there is nothing to record.
            transaction.set_rollback(True)
    if not recorded:
        holding.refresh_from_db()
        if holding.state not in Holding.ANSWERED:
            gone = RETURNED if holding.state == State.RETURNED else LATE
            raise Refusal("InvalidAssignmentState", gone)
    return holding


def _locked_if_followed(hit: HIT, now: datetime) -> HIT | None:
    """The HIT, locked and with its expiry told, where somebody wants to know what happens to it."""
    if not is_followed(hit):
        return None
    locked = lock_hit(hit.pk)
    notice_expiry(locked, now)
    return locked
