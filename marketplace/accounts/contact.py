"""Letters to workers: their e-mail address, new passwords, and digests of what is new.

An address is theirs to give, in effect once its link was opened, and changed in no other way; the account
(`User.email`) gets it when it is confirmed. Letters are sent by jobs, so that a page takes as long for an
address that is known as for one that is not.
"""

import logging
import unicodedata
import zoneinfo
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPResponseException
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, get_connection
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.encoding import force_bytes
from django.utils.formats import date_format
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext, ngettext

from core.accounts import security
from core.accounts.models import PasswordLetter
from core.crypto import seal, unseal
from core.jobs.errors import PermanentError
from core.jobs.services import enqueue
from core.notices.letters import one_line
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.lifecycle.selectors import assignable
from marketplace.models import HIT, Bonus, Contact, HITType, Holding, Message, Worker
from marketplace.money.amounts import money
from marketplace.qualifications.eligibility import verdicts

CONFIRM, FAREWELL = "marketplace.confirm_email", "marketplace.email_farewell"
RESET = "marketplace.reset_password"
#: How long a link in a letter of confirmation works.
LINK_LASTS = timedelta(days=2)
#: Between two letters of the same kind to one person.
PAUSE = timedelta(minutes=1)
RESET_PAUSE = timedelta(minutes=10)
_SEALED_FOR = "marketplace.reset_email"
_signer = signing.Signer(salt="marketplace.confirm-email", sep=".")


def checked_address(text: str) -> str:
    """An address that fits into one header as it is; raises ValidationError with a sentence."""
    address = text.strip()
    if '"' in address or any(unicodedata.category(each)[0] in "CZ" for each in address):
        raise ValidationError(gettext("Enter an address like name@example.org, without spaces and quotes."))
    validate_email(address)
    if len(address) > 254:
        raise ValidationError(gettext("An e-mail address has at most 254 characters."))
    return address


def contact_of(worker: Worker) -> Contact | None:
    """What is known of where to write to a worker."""
    return Contact.objects.filter(worker=worker).first()


def ask_to_confirm(*, worker: Worker, email: str, base: str) -> Contact:
    """Keep an address as waiting and send its link; the address that is in effect stays until then.

    `base` is the origin of this installation, for the link. Raises Refusal with a sentence for the worker.
    """
    if not settings.NOTICES_BY_EMAIL:
        raise Refusal(
            "NoMail", gettext("This installation sends no e-mails, so no address can be confirmed.")
        )
    now = clock.now()
    with transaction.atomic():
        row = _locked(worker)
        if row.email and row.email == email:
            raise Refusal("SameAddress", gettext("This address is confirmed already."))
        if row.waiting_since is not None and row.waiting_since > now - PAUSE:
            raise Refusal(
                "TooSoon", gettext("An e-mail was sent a moment ago. Wait a minute, then try again.")
            )
        row.waiting_email, row.waiting_since = email, now
        row.save(update_fields=["waiting_email", "waiting_since"])
        enqueue(kind=CONFIRM, payload={"contact": row.pk, "base": base})
    security.log("email.asked", worker=worker.worker_id)
    return row


def _locked(worker: Worker) -> Contact:
    Contact.objects.get_or_create(worker=worker)
    return Contact.objects.select_for_update().get(worker=worker)


def send_confirmation(*, contact_pk: int, base: str) -> None:
    """Send the letter with the link, where an address still waits for it."""
    row = Contact.objects.filter(pk=contact_pk, worker__closed_at=None).exclude(waiting_email="").first()
    if row is None:
        return
    link = f"{base}{reverse('site:confirm_email', args=[token_of(row)])}"
    with translation.override(language_of(row.worker)):
        send_letter(row.waiting_email, *_confirmation(link))


def _confirmation(link: str) -> tuple[str, list[str]]:
    lines = [
        gettext("Hello,"),
        "",
        gettext("this address was entered in a worker's profile. If it was you who did it, confirm it here:"),
        link,
        "",
        gettext("The link works for %(days)s days. If it was not you, do nothing: the address is not used.")
        % {"days": LINK_LASTS.days},
        "",
    ]
    return gettext("Confirm your e-mail address"), lines


def send_letter(address: str, subject: str, lines: list[str], **headers: str) -> None:
    """One letter to one person; PermanentError where the server refuses it for good."""
    message = EmailMessage(
        subject=one_line(subject)[:120],
        body="\n".join(lines),
        to=[address],
        headers={"Auto-Submitted": "auto-generated", **headers},
    )
    try:
        message.send()
    except (SMTPRecipientsRefused, SMTPDataError, ValueError) as error:
        raise PermanentError(f"The e-mail cannot be sent: {type(error).__name__}") from error


def token_of(row: Contact) -> str:
    """What is in the link: valid for this address alone, and until another one is asked for."""
    return _signer.sign(f"{row.pk}-{_mark(row)}")


def _mark(row: Contact) -> str:
    waiting_change = f"{row.waiting_email} {row.waiting_since.isoformat() if row.waiting_since else ''}"
    return salted_hmac("marketplace.confirm-email", waiting_change, algorithm="sha256").hexdigest()[:32]


def waiting_for(token: str) -> Contact | None:
    """The address that a link confirms; None for a link that is used up, replaced or too old."""
    try:
        pk, _, mark = _signer.unsign(token).partition("-")
    except signing.BadSignature:
        return None
    since = clock.now() - LINK_LASTS
    waiting = Contact.objects.select_related("worker").exclude(waiting_email="")
    row = waiting.filter(pk=int(pk), waiting_since__gt=since, worker__closed_at=None).first()
    return row if row is not None and constant_time_compare(mark, _mark(row)) else None


def confirm(token: str) -> Contact | None:
    """Whoever has the link reads the e-mails: the address takes effect, once. None where there is none."""
    with transaction.atomic():
        contact = waiting_for(token)
        if contact is None:
            return None
        row = _locked(contact.worker)
        if not row.waiting_email or _mark(row) != _mark(contact):
            return None
        before = row.email
        row.email, row.confirmed_at = row.waiting_email, clock.now()
        row.waiting_email, row.waiting_since = "", None
        row.save()
        User.objects.filter(marketplace_worker=contact.worker).update(email=row.email)
    security.log("email.confirmed", worker=contact.worker.worker_id)
    if before:
        _tell_former(before)
    return row


def forget_address(*, worker: Worker) -> None:
    """Delete the address, and with it digests and new passwords by e-mail."""
    with transaction.atomic():
        row = _locked(worker)
        if row.email:
            User.objects.filter(marketplace_worker=worker, email=row.email).update(email="")
        before, row.email, row.confirmed_at = row.email, "", None
        row.waiting_email, row.waiting_since = "", None
        row.digest, row.digest_due_at = Contact.Digest.NEVER, None
        row.save()
    security.log("email.removed", worker=worker.worker_id)
    if before:
        _tell_former(before)


def _tell_former(address: str) -> None:
    """Say to an address that it is no longer the account's; whoever took the account over cannot hide it."""
    enqueue(kind=FAREWELL, payload={"former": seal(address, purpose=_SEALED_FOR)})


def send_farewell(sealed: str) -> None:
    """The letter to an address that was replaced or removed."""
    address = unseal(sealed, purpose=_SEALED_FOR)
    if address and settings.NOTICES_BY_EMAIL:
        lines = [
            gettext("Hello,"),
            "",
            gettext(
                "this address is no longer that of a worker's account here. If you did not want "
                "that, write to the "
                "people who run this marketplace."
            ),
            "",
        ]
        send_letter(address, gettext("Your e-mail address was removed"), lines)


def veiled(address: str) -> str:
    """An address of which only its owner recognizes the name: `r…@example.org`."""
    name, _, host = address.rpartition("@")
    return f"{name[:1]}…@{host}"


# A new password by e-mail: for confirmed addresses alone.


def ask_for_password(*, email: str, base: str) -> None:
    """Have a link sent to every account with this confirmed address; the same where there is none."""
    enqueue(kind=RESET, payload={"email": seal(email, purpose=_SEALED_FOR), "base": base})
    security.log("password.reset_asked")


def send_password_links(*, sealed: str, base: str) -> int:
    """Letters with a link, one for each account; how many. A person gets one in ten minutes at most."""
    email, now = unseal(sealed, purpose=_SEALED_FOR), clock.now()
    if not email or not settings.NOTICES_BY_EMAIL:
        return 0
    sent = _send_to_accounts(email, base)
    # Workers' own addresses open no account that has rights besides.
    rows = Contact.objects.select_related("worker__user").filter(
        email__iexact=email,
        worker__closed_at=None,
        worker__user__is_active=True,
        worker__user__is_staff=False,
        worker__user__is_superuser=False,
    )
    rested = Q(reset_mailed_at=None) | Q(reset_mailed_at__lte=now - RESET_PAUSE)
    for row in rows.order_by("pk"):
        user = row.worker.user
        if not isinstance(user, User) or not user.has_usable_password():
            continue
        if not Contact.objects.filter(rested, pk=row.pk).update(reset_mailed_at=now):
            continue
        with translation.override(language_of(row.worker)):
            send_letter(row.email, gettext("A new password"), _reset_lines(user, base))
        sent += 1
    return sent


def _send_to_accounts(email: str, base: str) -> int:
    """Letters to accounts that confirmed the address in their profile, also those with rights.

    A second factor is asked for after a new password as before, so the mailbox alone opens no such account.
    """
    now, sent = timezone.now(), 0
    rows = EmailAddress.objects.select_related("user").filter(
        email__iexact=email, verified=True, user__is_active=True
    )
    for row in rows.order_by("pk"):
        if not row.user.has_usable_password():
            continue
        letter, is_new = PasswordLetter.objects.get_or_create(user=row.user, defaults={"sent_at": now})
        rested = PasswordLetter.objects.filter(pk=letter.pk, sent_at__lte=now - RESET_PAUSE)
        if not is_new and not rested.update(sent_at=now):
            continue
        send_letter(row.email, gettext("A new password"), _reset_lines(row.user, base))
        sent += 1
    return sent


def _reset_lines(user: User, base: str) -> list[str]:
    where = [urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)]
    return [
        gettext("Hello %(name)s,") % {"name": one_line(user.get_username())},
        "",
        gettext("a new password was asked for with this address. Choose it here:"),
        f"{base}{reverse('site:new_password', args=where)}",
        "",
        gettext(
            "The link works for an hour and once. If you did not ask, do nothing: your "
            "password stays as it is."
        ),
        "",
    ]


# Digests: one e-mail a day or a week with new work that a worker may do and decisions about theirs.
#
# A digest is claimed by setting when the next is due, in one statement, before it is sent: whatever dies
# afterwards, none goes out twice in its period. `digest_since` moves only when it was sent, so what one that
# was lost had to say is in the next.

logger = logging.getLogger(__name__)

#: The hour of the worker's day at which digests are due, and the weekday of weekly ones (Monday).
HOUR, MONDAY = 8, 0
#: People of one round of the timer, lines of one kind in a digest, and HIT types that are looked at.
_PEOPLE, _LINES, _TYPES = 100, 20, 200
#: How long a server that refuses for now is left alone for this person.
_LATER = timedelta(hours=1)
_unsubscribe_signer = signing.Signer(salt="marketplace.unsubscribe", sep=".")


def language_of(worker: Worker) -> str:
    """The language of a worker's letters: that of their profile, else English."""
    return worker.language or settings.LANGUAGE_CODE


def zone_of(worker: Worker) -> tzinfo:
    """The worker's time zone; UTC where they chose none, or the system no longer knows it."""
    try:
        return zoneinfo.ZoneInfo(worker.time_zone) if worker.time_zone else UTC
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return UTC


def next_due(digest: str, zone: tzinfo, now: datetime) -> datetime:
    """The next morning, or Monday morning, of somebody who lives in this zone."""
    local_now = now.astimezone(zone)
    day = local_now.replace(hour=HOUR, minute=0, second=0, microsecond=0)
    while day <= local_now or (digest == Contact.Digest.WEEKLY and day.weekday() != MONDAY):
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
    return _unsubscribe_signer.sign(str(row.pk))


def subscribed(token: str) -> Contact | None:
    """Whose digests a link ends; None where it is no link of ours."""
    try:
        pk = int(_unsubscribe_signer.unsign(token))
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
    digest = Digest()
    digest.add(gettext("New work that you may do:"), _new_work(worker, since, now))
    mine = Holding.objects.filter(worker=worker)
    approved = mine.filter(approved_at__gt=since, approved_at__lte=now).aggregate(
        count=Count("pk"), cents=Sum("paid_cents")
    )
    if approved["count"]:
        cents = money(approved["cents"] or 0)
        digest.add(
            gettext("Approved:"),
            [
                ngettext(
                    "%(n)s of your HITs, %(sum)s in all",
                    "%(n)s of your HITs, %(sum)s in all",
                    approved["count"],
                )
                % {"n": approved["count"], "sum": cents}
            ],
        )
    rejected = mine.filter(rejected_at__gt=since, rejected_at__lte=now).select_related("hit__hit_type")
    digest.add(
        gettext("Rejected:"),
        [
            f"{one_line(each.hit.hit_type.title)[:100]}: "
            + (one_line(each.feedback)[:300] or gettext("no reason given"))
            for each in rejected.defer("answer", "hit__question").order_by("rejected_at")[:_LINES]
        ],
    )
    bonuses = Bonus.objects.filter(worker=worker, granted_at__gt=since, granted_at__lte=now)
    digest.add(
        gettext("Bonuses:"),
        [f"{money(each.cents)}: {one_line(each.reason)[:300]}" for each in bonuses.order_by("pk")[:_LINES]],
    )
    messages = Message.objects.filter(worker=worker, sent_at__gt=since, sent_at__lte=now)
    zone = zone_of(worker)
    digest.add(
        gettext("Messages in your inbox:"),
        [
            f"{_day_and_time(each.sent_at.astimezone(zone))}, {one_line(each.requester.name)}: "
            f"{one_line(each.subject)[:150]}"
            for each in messages.select_related("requester").order_by("pk")[:_LINES]
        ],
    )
    return digest


def _day_and_time(local: datetime) -> str:
    return f"{date_format(local, 'MONTH_DAY_FORMAT')}, {local:%H:%M}"


def _count_hits(count: int) -> str:
    return ngettext("%(number)s HIT", "%(number)s HITs", count) % {"number": intcomma(count)}


def _new_work(worker: Worker, since: datetime, now: datetime) -> list[str]:
    """Groups with HITs that came since and that the worker may accept."""
    occupied = Holding.objects.filter(worker=worker, state__in=Holding.OCCUPYING).values("hit")
    hits = HIT.objects.filter(assignable(now), created_at__gt=since).exclude(pk__in=occupied).order_by()
    counts = dict(
        hits.values("hit_type")
        .annotate(count=Count("pk"), newest=Max("pk"))
        .order_by("-newest")
        .values_list("hit_type", "count")[:_TYPES]
    )
    kinds = {each.pk: each for each in HITType.objects.filter(pk__in=counts).select_related("requester")}
    verdict_of = verdicts(worker=worker, hit_types=kinds.values())
    open_to = [kinds[pk] for pk in counts if verdict_of[pk].accept]
    return [
        f"{one_line(each.title)[:100]} ({one_line(each.requester.name)}): {_count_hits(counts[each.pk])}, "
        + gettext("%(reward)s each") % {"reward": money(each.reward_cents)}
        + f"\n  {_origin()}{reverse('site:preview', args=[each.group_id])}"
        for each in open_to[:_LINES]
    ]


def _origin() -> str:
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
            sent += _send_digest(row, connection, now)
    except (OSError, SMTPException) as error:
        logger.warning("The mail server does not answer: %s", error)
    finally:
        connection.close()
    return sent


def _send_digest(row: Contact, connection: Any, now: datetime) -> int:
    """Claim one digest and send it, where there is something to say."""
    claimed = Contact.objects.filter(pk=row.pk, digest=row.digest, digest_due_at=row.digest_due_at)
    due = next_due(row.digest, zone_of(row.worker), now)
    if not claimed.update(digest_due_at=due):
        return 0
    with translation.override(language_of(row.worker)):
        digest = digest_of(row, now=now)
        message = _digest_letter(row, digest, connection)
    if not digest.sections:
        Contact.objects.filter(pk=row.pk).update(digest_since=now)
        return 0
    try:
        message.send()
    except (SMTPRecipientsRefused, SMTPResponseException, ValueError) as error:
        # Nothing went out. It is tried again within the period, unless that is over by then.
        logger.warning("A digest was refused: %s", type(error).__name__)
        Contact.objects.filter(pk=row.pk, digest_due_at=due).update(digest_due_at=min(due, now + _LATER))
        return 0
    Contact.objects.filter(pk=row.pk).update(digest_since=now)
    return 1


def _digest_letter(row: Contact, digest: Digest, connection: Any) -> EmailMessage:
    link = f"{_origin()}{reverse('site:unsubscribe', args=[unsubscribe_token(row)])}"
    lines = [gettext("Hello,"), ""]
    for heading, entries in digest.sections:
        lines += [heading, *(f"- {entry}" for entry in entries), ""]
    zone = row.worker.time_zone or "UTC"
    lines += [
        gettext("Times are those of %(zone)s. Everything is on the site: %(origin)s/")
        % {"zone": zone, "origin": _origin()},
        gettext("No more digests: %(link)s") % {"link": link},
        "",
    ]
    return EmailMessage(
        subject=gettext("What is new for you: work, decisions, messages"),
        body="\n".join(lines),
        to=[row.email],
        headers={
            "Auto-Submitted": "auto-generated",
            "List-Unsubscribe": f"<{link}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
        connection=connection,
    )
