"""Batches that are published, and ended, at a time that was set before; and e-mails about their end.

The times are columns of the batch. Each sweep looks for those that have come; taking one away and doing what
it is for is one transaction, so it happens once, whatever dies when. After a time in which nothing ran, what
was missed is done then, and the batch says so.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from smtplib import SMTPRecipientsRefused

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from core.accounts.security import Actor, acting_as
from core.errors import logged_failure
from core.jobs import services as jobs
from core.jobs.errors import PermanentError
from core.revisions import ShownColumns
from marketplace import clock
from marketplace.activity import note
from marketplace.batches import extensions, publication
from marketplace.batches.selectors import tallies
from marketplace.errors import Refusal
from marketplace.lifecycle.hours import Hours
from marketplace.lifecycle.selectors import assignable
from marketplace.models import HIT, Batch
from marketplace.money.amounts import money

# E-mails: at the end of a batch to who asked for it, and where a schedule could not be kept.

LETTER = "marketplace.batch-letter"
END, NOT_PUBLISHED = "end", "not published"


def ask_for_mail(*, batch: Batch, user: User, send_mail: bool) -> None:
    """Write to this person once, at the end of the batch; or not after all."""
    if send_mail and not user.email:
        raise Refusal(
            "InvalidParameterValue", "Your account has no e-mail address. Add one in your settings first."
        )
    Batch.objects.filter(pk=batch.pk).update(end_mail_to=user if send_mail else None, end_mailed_at=None)


def look_for_ends(now: datetime) -> None:
    """Have letters written about batches that have come to their end; each only once."""
    waiting = Batch.objects.filter(
        end_mail_to__isnull=False, end_mailed_at=None, state__in=(State.PUBLISHED, State.CANCELLED)
    )
    for pk in list(waiting.values_list("pk", flat=True)):
        under_way = HIT.objects.filter(assignable(now) | Q(pending__gt=0), batch=pk)
        if under_way.exists():
            continue
        with transaction.atomic():
            if waiting.filter(pk=pk).update(end_mailed_at=now):
                effect = f"{LETTER}:{pk}:{now.isoformat()}"
                jobs.enqueue(kind=LETTER, payload={"batch": pk, "about": END}, effect=effect)


def write_to_scheduler(batch: Batch) -> None:
    """Tell who scheduled a batch that it was not published."""
    jobs.enqueue(kind=LETTER, payload={"batch": batch.pk, "about": NOT_PUBLISHED})


def send_letter(*, batch_pk: int, about: str) -> None:
    """The letter of the job. A mail server that does not answer is asked again, so one may come twice."""
    rows = Batch.objects.select_related("requester", "end_mail_to", "scheduled_by")
    batch = rows.filter(pk=batch_pk).first()
    person = batch and (batch.end_mail_to if about == END else batch.scheduled_by)
    if not batch or not person or not person.is_active or not person.email:
        return
    name = " ".join(batch.name.split())
    subject = f"{name} has come to its end" if about == END else f"{name} was not published as scheduled"
    lines = _end_lines(batch) if about == END else [batch.schedule_note]
    address = reverse("requester:batch", args=[batch.requester.customer_id, batch.number])
    message = EmailMessage(
        subject=subject[:120],
        body="\n".join(
            [f"Hello {person.get_username()},", "", *lines, "", f"{settings.PUBLIC_URL}{address}", ""]
        ),
        to=[person.email],
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        message.send()
    except (SMTPRecipientsRefused, ValueError) as error:
        raise PermanentError(f"The e-mail cannot be sent: {error}"[:300]) from error


def _end_lines(batch: Batch) -> list[str]:
    tally = tallies([batch], clock.now())[batch.pk]
    return [
        f"Batch {batch.number} of {' '.join(batch.requester.name.split())} is at its end: no HIT is on offer "
        "any more, and no worker is at work on one.",
        "",
        f"{tally.answered:,} of {tally.total:,} assignments were answered.",
        f"Waiting for your decision: {tally.submitted:,}; approved: {tally.approved:,}; rejected: "
        f"{tally.rejected:,}.",
        f"{money(batch.requester.available_cents)} is available in the account.",
        "",
        "You asked for this e-mail on the page of the batch; no other follows.",
    ]


logger = logging.getLogger(__name__)
State = Batch.State
# Times.

#: What comes later than this was missed, and is said.
LATE = timedelta(minutes=5)
FARTHEST = timedelta(days=365)
_RUNNING = (State.PUBLISHING, State.PUBLISHED, State.FAILED)


def _format_moment(moment: datetime) -> str:
    return f"{moment:%-d %b %Y, %H:%M} UTC"


@transaction.atomic
def set_schedule(
    *,
    batch: Batch,
    publish_at: datetime | None,
    end_at: datetime | None,
    cents: int,
    user: User,
    seen: ShownColumns | None = None,
) -> None:
    """Publish a draft at a time, and end it at another; of a running batch only the end can be set.

    `cents` is the total that was typed where it is to be published. None takes a time away. With `seen`,
    ConflictError where its times are other than were shown.
    """
    now = clock.now()
    locked = Batch.objects.select_for_update(of=("self",), no_key=True).select_related("requester")
    row = locked.get(pk=batch.pk)
    if seen is not None:
        seen.check(row)
    if row.state == State.CANCELLED:
        raise Refusal("InvalidBatchState", "This batch is cancelled; nothing of it can be scheduled.")
    if publish_at is not None and row.state != State.DRAFT:
        raise Refusal("InvalidBatchState", f"This batch is {row.state} already.")
    if end_at is not None and row.extends_id:
        raise Refusal("InvalidBatchState", "Added rows end with their batch. Set the end there.")
    for moment, verb in ((publish_at, "publish"), (end_at, "end")):
        if moment is not None and not now < moment <= now + FARTHEST:
            raise Refusal("InvalidParameterValue", f"Choose a time to {verb} it within a year from now.")
    if publish_at and end_at and end_at <= publish_at:
        raise Refusal("InvalidParameterValue", "It ends before it is published. Choose a later end.")
    if publish_at is not None:
        total = publication.check_funds(row)
        if cents != total:
            raise Refusal("InvalidParameterValue", f"The total is {money(total)}. Type that to schedule it.")
    Batch.objects.filter(pk=row.pk).update(
        publish_at=publish_at, end_at=end_at, scheduled_by=user, schedule_note=""
    )
    times = [f"{verb} {_format_moment(at)}" for at, verb in ((publish_at, "publish"), (end_at, "end")) if at]
    note(row.requester_id, "batch.scheduled", row.name, ", ".join(times) or "nothing any more")


@transaction.atomic
def set_hours(*, batch: Batch, hours: Hours | None, seen: ShownColumns | None = None) -> None:
    """When HITs of a batch can be taken from now on; None is at any time. Running work is not touched.

    With `seen`, ConflictError where its hours are other than were shown.
    """
    if hours is not None:
        hours.check()
    row = Batch.objects.select_for_update(no_key=True).get(pk=batch.pk)
    if seen is not None:
        seen.check(row)
    if row.extends_id:
        raise Refusal("InvalidBatchState", "Added rows have the hours of their batch. Set them there.")
    if row.state == State.CANCELLED:
        raise Refusal("InvalidBatchState", "This batch is cancelled; nothing of it can be taken any more.")
    stored = hours.stored() if hours else None
    if row.hours != stored:
        Batch.objects.filter(pk=row.pk).update(hours=stored)
        note(row.requester_id, "batch.hours", row.name, str(hours) if hours else "at any time")


def run_schedules(now: datetime) -> None:
    """Do what is due; a batch that cannot be published says why, and holds up no other."""
    related = Batch.objects.select_related("requester", "scheduled_by", "extends")
    for batch in related.filter(publish_at__lte=now).order_by("publish_at")[:100]:
        _as_its_person(batch, _publish_due, now)
    for batch in related.filter(end_at__lte=now).order_by("end_at")[:100]:
        _as_its_person(batch, _end_due, now)


def _as_its_person(batch: Batch, action: Callable[[Batch, datetime], None], now: datetime) -> None:
    who = Actor(user=batch.scheduled_by)
    failure = "The schedule of batch %s could not be followed; it is tried again."
    with logged_failure(logger, failure, batch.pk), acting_as(lambda: who):
        action(batch, now)


def _lateness(planned: datetime, now: datetime, what: str) -> str:
    if now - planned < LATE:
        return f"{what} as scheduled, {_format_moment(planned)}."
    late = f"{what.lower()} late, {_format_moment(now)}"
    return f"Scheduled for {_format_moment(planned)} and {late}: the installation was not running."


def _publish_due(batch: Batch, now: datetime) -> None:
    planned = batch.publish_at
    assert planned is not None
    if batch.end_at is not None and batch.end_at <= now:
        schedule_note = (
            f"Scheduled from {_format_moment(planned)} to {_format_moment(batch.end_at)}; the installation "
            "was not running then, so nothing was published."
        )
        _claim(batch, planned, schedule_note=schedule_note, end_at=None)
        return
    try:
        with transaction.atomic():
            schedule_note = _lateness(planned, now, "Published")
            if not _claim(batch, planned, schedule_note=schedule_note):
                return
            if batch.extends_id:
                extensions.add_rows(draft=batch)
                Batch.objects.filter(pk=batch.extends_id).update(schedule_note=f"Rows: {schedule_note}")
            else:
                publication.publish(batch=batch)
    except Refusal as refusal:
        # With it the time was put back; taken away once more it is not tried again at each sweep.
        schedule_note = f"Was to be published {_format_moment(planned)}, and was not: {refusal.message}"
        with transaction.atomic():
            if _claim(batch, planned, schedule_note=schedule_note[:500]):
                write_to_scheduler(batch)


def _claim(batch: Batch, planned: datetime, **values: object) -> int:
    """Take the time away; 0 where another sweep has, or the batch was changed or published meanwhile."""
    mine = Batch.objects.filter(pk=batch.pk, state=State.DRAFT, publish_at=planned)
    return mine.update(publish_at=None, **values)


@transaction.atomic
def _end_due(batch: Batch, now: datetime) -> None:
    planned = batch.end_at
    assert planned is not None
    schedule_note = _lateness(planned, now, "Ended")
    mine = Batch.objects.filter(pk=batch.pk, end_at=planned)
    if mine.filter(state__in=_RUNNING).update(end_at=None, schedule_note=schedule_note):
        publication.cancel(batch=batch)
    elif not mine.filter(state=State.DRAFT, publish_at__isnull=False).exists():
        mine.update(end_at=None)
