"""A worker's e-mail address: theirs to give, in effect once its link was opened, and changed in no other way.

The account (`User.email`) gets the address when it is confirmed. Letters are sent by jobs, so that a page
takes as long for an address that is known as for one that is not.
"""

import unicodedata
from datetime import timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from core.accounts import security
from core.accounts.models import PasswordLetter
from core.crypto import seal, unseal
from core.jobs.errors import PermanentError
from core.jobs.services import enqueue
from core.notices.letters import one_line
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import Contact, Worker

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
        raise ValidationError("Enter an address like name@example.org, without spaces and quotes.")
    validate_email(address)
    if len(address) > 254:
        raise ValidationError("An e-mail address has at most 254 characters.")
    return address


def contact_of(worker: Worker) -> Contact | None:
    """What is known of where to write to a worker."""
    return Contact.objects.filter(worker=worker).first()


def ask_to_confirm(*, worker: Worker, email: str, base: str) -> Contact:
    """Keep an address as waiting and send its link; the address that is in effect stays until then.

    `base` is the origin of this installation, for the link. Raises Refusal with a sentence for the worker.
    """
    if not settings.NOTICES_BY_EMAIL:
        raise Refusal("NoMail", "This installation sends no e-mails, so no address can be confirmed.")
    now = clock.now()
    with transaction.atomic():
        row = _locked(worker)
        if row.email and row.email == email:
            raise Refusal("SameAddress", "This address is confirmed already.")
        if row.waiting_since is not None and row.waiting_since > now - PAUSE:
            raise Refusal("TooSoon", "A letter went out a moment ago. Wait a minute, then try again.")
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
    lines = [
        "Hello,",
        "",
        "this address was entered in a worker's profile. If it was you who did it, confirm it here:",
        link,
        "",
        f"The link works for {LINK_LASTS.days} days. If it was not you, do nothing: the address is not used.",
        "",
    ]
    send_letter(row.waiting_email, "Confirm your e-mail address", lines)


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
    """What stands in the link: valid for this address alone, and until another one is asked for."""
    return _signer.sign(f"{row.pk}-{_mark(row)}")


def _mark(row: Contact) -> str:
    asked = f"{row.waiting_email} {row.waiting_since.isoformat() if row.waiting_since else ''}"
    return salted_hmac("marketplace.confirm-email", asked, algorithm="sha256").hexdigest()[:32]


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
        found = waiting_for(token)
        if found is None:
            return None
        row = _locked(found.worker)
        if not row.waiting_email or _mark(row) != _mark(found):
            return None
        before = row.email
        row.email, row.confirmed_at = row.waiting_email, clock.now()
        row.waiting_email, row.waiting_since = "", None
        row.save()
        User.objects.filter(marketplace_worker=found.worker).update(email=row.email)
    security.log("email.confirmed", worker=found.worker.worker_id)
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
            "Hello,",
            "",
            "this address is no longer that of a worker's account here. If you did not want that, write to",
            "the people who run this marketplace.",
            "",
        ]
        send_letter(address, "Your e-mail address was removed", lines)


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
        send_letter(row.email, "A new password", _reset_lines(user, base))
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
        letter, made = PasswordLetter.objects.get_or_create(user=row.user, defaults={"sent_at": now})
        rested = PasswordLetter.objects.filter(pk=letter.pk, sent_at__lte=now - RESET_PAUSE)
        if not made and not rested.update(sent_at=now):
            continue
        send_letter(row.email, "A new password", _reset_lines(row.user, base))
        sent += 1
    return sent


def _reset_lines(user: User, base: str) -> list[str]:
    where = [urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)]
    return [
        f"Hello {one_line(user.get_username())},",
        "",
        "a new password was asked for with this address. Choose it here:",
        f"{base}{reverse('site:new_password', args=where)}",
        "",
        "The link works for an hour and once. If you did not ask, do nothing: your password stays as it is.",
        "",
    ]
