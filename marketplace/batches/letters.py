"""E-mails about batches: at the end of one to who asked for it, and where a schedule could not be kept."""

from datetime import datetime
from smtplib import SMTPRecipientsRefused

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from core.jobs import services as jobs
from core.jobs.errors import PermanentError
from marketplace import clock
from marketplace.batches.selectors import tallies
from marketplace.errors import Refusal
from marketplace.models import HIT, Batch
from marketplace.selectors import assignable
from marketplace.templatetags.marketplace_money import money

LETTER = "marketplace.batch-letter"
State = Batch.State
END, NOT_PUBLISHED = "end", "not published"


def ask_for_mail(*, batch: Batch, user: User, wanted: bool) -> None:
    """Write to this person once, at the end of the batch; or not after all."""
    if wanted and not user.email:
        raise Refusal(
            "InvalidParameterValue", "Your account has no e-mail address. Add one in your settings first."
        )
    Batch.objects.filter(pk=batch.pk).update(end_mail_to=user if wanted else None, end_mailed_at=None)


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


def send(*, batch_pk: int, about: str) -> None:
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
        f"{tally.submitted:,} wait for your decision, {tally.approved:,} are approved, "
        f"{tally.rejected:,} are rejected.",
        f"{money(batch.requester.available_cents)} is available in the account.",
        "",
        "You asked for this e-mail on the page of the batch; no other follows.",
    ]
