"""Digests: one e-mail a day or a week with new work that a worker may do and decisions about theirs.

A digest is claimed by setting when the next is due, in one statement, before it is sent: whatever dies
afterwards, none goes out twice in its period. `digest_since` moves only when it was sent, so what one that
was lost had to say is in the next.
"""

import logging
import zoneinfo
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from smtplib import SMTPException, SMTPRecipientsRefused, SMTPResponseException
from typing import Any

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage, get_connection
from django.db.models import Count, Max, Q, Sum
from django.urls import reverse

from core.accounts import security
from core.money import dollars
from core.notices.letters import one_line
from marketplace import clock
from marketplace.eligibility import verdicts
from marketplace.models import HIT, Bonus, Contact, HITType, Holding, Message, Worker
from marketplace.selectors import assignable

logger = logging.getLogger(__name__)

#: The hour of the worker's day at which digests are due, and the weekday of weekly ones (Monday).
HOUR, MONDAY = 8, 0
#: People of one round of the timer, lines of one kind in a digest, and HIT types that are looked at.
_PEOPLE, _LINES, _TYPES = 100, 20, 200
#: How long a server that refuses for now is left alone for this person.
_LATER = timedelta(hours=1)
_signer = signing.Signer(salt="marketplace.unsubscribe", sep=".")


def zone_of(worker: Worker) -> tzinfo:
    """The worker's time zone; UTC where they chose none, or the system no longer knows it."""
    try:
        return zoneinfo.ZoneInfo(worker.time_zone) if worker.time_zone else UTC
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return UTC


def next_due(digest: str, zone: tzinfo, now: datetime) -> datetime:
    """The next morning, or Monday morning, of somebody who lives in this zone."""
    here = now.astimezone(zone)
    day = here.replace(hour=HOUR, minute=0, second=0, microsecond=0)
    while day <= here or (digest == Contact.Digest.WEEKLY and day.weekday() != MONDAY):
        day = (day + timedelta(days=1)).replace(hour=HOUR)
    return day.astimezone(UTC)


def choose_digest(*, worker: Worker, digest: str, time_zone: str) -> None:
    """Keep how often a worker wants a digest, and the zone of all times they are shown."""
    Worker.objects.filter(pk=worker.pk).update(time_zone=time_zone)
    worker.time_zone = time_zone
    row, _ = Contact.objects.get_or_create(worker=worker)
    now = clock.now()
    if row.digest != digest:
        row.digest_since = now if digest else None
    row.digest = digest
    row.digest_due_at = next_due(digest, zone_of(worker), now) if digest else None
    row.save(update_fields=["digest", "digest_due_at", "digest_since"])


def unsubscribe_token(row: Contact) -> str:
    """What the link that ends digests holds; it works without signing in, and ends nothing else."""
    return _signer.sign(str(row.pk))


def subscribed(token: str) -> Contact | None:
    """Whose digests a link ends; None where it is no link of ours."""
    try:
        pk = int(_signer.unsign(token))
    except (signing.BadSignature, ValueError):
        return None
    return Contact.objects.select_related("worker").filter(pk=pk).first()


def unsubscribe(row: Contact) -> None:
    """End the digests of one worker."""
    Contact.objects.filter(pk=row.pk).update(digest=Contact.Digest.NEVER, digest_due_at=None)
    security.log("digest.ended", worker=row.worker.worker_id)


@dataclass(slots=True)
class Digest:
    """What is new for one worker: lines under headings; empty where there is nothing to say."""

    sections: list[tuple[str, list[str]]] = field(default_factory=list)

    def add(self, heading: str, lines: list[str]) -> None:
        """A section, unless it would be empty."""
        if lines:
            self.sections.append((heading, lines))


def digest_of(row: Contact, *, now: datetime) -> Digest:
    """What came since the last digest."""
    worker, since = row.worker, row.digest_since or now - timedelta(days=7)
    found = Digest()
    found.add("New work that you may do:", _new_work(worker, since, now))
    mine = Holding.objects.filter(worker=worker)
    approved = mine.filter(approved_at__gt=since, approved_at__lte=now).aggregate(
        count=Count("pk"), cents=Sum("paid_cents")
    )
    if approved["count"]:
        cents = dollars(approved["cents"] or 0)
        found.add("Approved:", [f"{approved['count']} of your HITs, {cents} in all"])
    rejected = mine.filter(rejected_at__gt=since, rejected_at__lte=now).select_related("hit__hit_type")
    found.add(
        "Rejected:",
        [
            f"{one_line(each.hit.hit_type.title)[:100]}: {one_line(each.feedback)[:300] or 'no reason given'}"
            for each in rejected.defer("answer", "hit__question").order_by("rejected_at")[:_LINES]
        ],
    )
    bonuses = Bonus.objects.filter(worker=worker, granted_at__gt=since, granted_at__lte=now)
    found.add(
        "Bonuses:",
        [f"{dollars(each.cents)}: {one_line(each.reason)[:300]}" for each in bonuses.order_by("pk")[:_LINES]],
    )
    messages = Message.objects.filter(worker=worker, sent_at__gt=since, sent_at__lte=now)
    zone = zone_of(worker)
    found.add(
        "Messages in your inbox:",
        [
            f"{each.sent_at.astimezone(zone):%-d %b, %H:%M}, {one_line(each.requester.name)}: "
            f"{one_line(each.subject)[:150]}"
            for each in messages.select_related("requester").order_by("pk")[:_LINES]
        ],
    )
    return found


def _count_hits(count: int) -> str:
    return f"{count:,} HIT{'' if count == 1 else 's'}"


def _new_work(worker: Worker, since: datetime, now: datetime) -> list[str]:
    """Groups with HITs that came since and that the worker may accept."""
    taken = Holding.objects.filter(worker=worker, state__in=Holding.OCCUPYING).values("hit")
    hits = HIT.objects.filter(assignable(now), created_at__gt=since).exclude(pk__in=taken).order_by()
    counts = dict(
        hits.values("hit_type")
        .annotate(count=Count("pk"), newest=Max("pk"))
        .order_by("-newest")
        .values_list("hit_type", "count")[:_TYPES]
    )
    kinds = {each.pk: each for each in HITType.objects.filter(pk__in=counts).select_related("requester")}
    judged = verdicts(worker=worker, hit_types=kinds.values())
    open_to = [kinds[pk] for pk in counts if judged[pk].accept]
    return [
        f"{one_line(each.title)[:100]} ({one_line(each.requester.name)}): {_count_hits(counts[each.pk])}, "
        f"{dollars(each.reward_cents)} each\n  {_base()}{reverse('site:preview', args=[each.group_id])}"
        for each in open_to[:_LINES]
    ]


def _base() -> str:
    return str(settings.PUBLIC_URL or settings.TASK_URL)


def send_digests() -> int:
    """Send the digests that are due, a hundred in a round; how many e-mails went out."""
    if not settings.NOTICES_BY_EMAIL:
        return 0
    now = clock.now()
    due = list(
        Contact.objects.select_related("worker")
        .filter(~Q(digest=""), ~Q(email=""), digest_due_at__lte=now, worker__closed_at=None)
        .order_by("digest_due_at", "pk")[:_PEOPLE]
    )
    if not due:
        return 0
    connection = get_connection()
    sent = 0
    try:
        connection.open()
        for row in due:
            sent += _send(row, connection, now)
    except (OSError, SMTPException) as error:
        logger.warning("The mail server does not answer: %s", error)
    finally:
        connection.close()
    return sent


def _send(row: Contact, connection: Any, now: datetime) -> int:
    """Claim one digest and send it, where there is something to say."""
    claimed = Contact.objects.filter(pk=row.pk, digest=row.digest, digest_due_at=row.digest_due_at)
    due = next_due(row.digest, zone_of(row.worker), now)
    if not claimed.update(digest_due_at=due):
        return 0
    digest = digest_of(row, now=now)
    if not digest.sections:
        Contact.objects.filter(pk=row.pk).update(digest_since=now)
        return 0
    message = _letter(row, digest, connection)
    try:
        message.send()
    except (SMTPRecipientsRefused, SMTPResponseException, ValueError) as error:
        # Nothing went out. It is tried again within the period, unless that is over by then.
        logger.warning("A digest was refused: %s", type(error).__name__)
        Contact.objects.filter(pk=row.pk, digest_due_at=due).update(digest_due_at=min(due, now + _LATER))
        return 0
    Contact.objects.filter(pk=row.pk).update(digest_since=now)
    return 1


def _letter(row: Contact, digest: Digest, connection: Any) -> EmailMessage:
    link = f"{_base()}{reverse('site:unsubscribe', args=[unsubscribe_token(row)])}"
    lines = ["Hello,", ""]
    for heading, entries in digest.sections:
        lines += [heading, *(f"- {entry}" for entry in entries), ""]
    zone = row.worker.time_zone or "UTC"
    lines += [
        f"Times are those of {zone}. Everything is on the site: {_base()}/",
        f"No more digests: {link}",
        "",
    ]
    return EmailMessage(
        subject="What is new for you: work, decisions, messages",
        body="\n".join(lines),
        to=[row.email],
        headers={
            "Auto-Submitted": "auto-generated",
            "List-Unsubscribe": f"<{link}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
        connection=connection,
    )
