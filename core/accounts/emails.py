"""The e-mail address of an account, in effect once its link was opened, and letters to it.

Addresses are kept as django-allauth keeps them. Workers have one of their own
(`marketplace.accounts.contact`); this is for everybody else. An address that an administrator typed is no
proof of anything, so it counts for nothing until its link was opened.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext

from core.accounts import security
from core.accounts.models import WaitingEmail
from core.errors import ActionError
from core.extensions import parts_of

LINK_LASTS, PAUSE = timedelta(days=2), timedelta(minutes=1)
_signer = signing.Signer(salt="accounts.confirm-email", sep=".")


class EmailError(ActionError):
    """An address that cannot be asked for or confirmed, in words."""


def confirmed_address(user: User) -> str:
    """The address that is in effect; empty for none."""
    row = EmailAddress.objects.filter(user=user, verified=True).order_by("-primary", "pk").first()
    return row.email if row else ""


def waiting_address(user: User) -> str:
    """The address whose link was not opened yet; empty for none."""
    since = timezone.now() - LINK_LASTS
    row = WaitingEmail.objects.filter(user=user, asked_at__gt=since).first()
    return row.email if row else ""


def ask_to_confirm(*, user: User, email: str, base: str) -> None:
    """Keep an address as waiting and send its link; the same happens for an address of somebody else."""
    if not settings.NOTICES_BY_EMAIL:
        raise EmailError(gettext("This installation sends no e-mails, so no address can be confirmed."))
    now = timezone.now()
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        row = WaitingEmail.objects.filter(user=user).first()
        if row is not None and row.asked_at > now - PAUSE:
            raise EmailError(gettext("An e-mail was sent a moment ago. Wait a minute, then try again."))
        row, _ = WaitingEmail.objects.update_or_create(user=user, defaults={"email": email, "asked_at": now})
    link = f"{base}{reverse('accounts:confirm_email', args=[_token(row)])}"
    lines = [
        gettext("Hello,"),
        "",
        gettext("this address was entered for an account here. If it was you who did it, confirm it:"),
        link,
        "",
        gettext("The link works for %(days)s days. If it was not you, do nothing: the address is not used.")
        % {"days": LINK_LASTS.days},
        "",
    ]
    send_letter(email, gettext("Confirm your e-mail address"), lines)
    security.log("email.asked", actor=user.get_username())


def waiting_for(token: str) -> WaitingEmail | None:
    """What a link confirms; None for one that is used up, replaced or too old."""
    try:
        pk, _, mark = _signer.unsign(token).partition("-")
    except signing.BadSignature:
        return None
    since = timezone.now() - LINK_LASTS
    rows = WaitingEmail.objects.select_related("user").filter(asked_at__gt=since, user__is_active=True)
    row = rows.filter(pk=int(pk)).first()
    return row if row is not None and constant_time_compare(mark, _mark(row)) else None


def confirm(token: str) -> User:
    """The address takes effect, once; the one before is told. EmailError where it cannot be."""
    row = waiting_for(token)
    if row is None:
        raise EmailError(gettext("This link is used up, or older than two days."))
    try:
        before = take_address(row.user, row.email)
    except IntegrityError as error:
        raise EmailError(gettext("Another account has confirmed this address.")) from error
    WaitingEmail.objects.filter(pk=row.pk).delete()
    security.log("email.confirmed", actor=row.user.get_username())
    if before and before.lower() != row.email.lower():
        _tell_former(before)
    return row.user


@transaction.atomic
def take_address(user: User, email: str) -> str:
    """Make a proved address the account's only one; the one before. IntegrityError where another has it."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if EmailAddress.objects.filter(email__iexact=email, verified=True).exclude(user=user).exists():
        raise IntegrityError(gettext("Another account has confirmed this address."))
    before = confirmed_address(user)
    EmailAddress.objects.filter(user=user).delete()
    EmailAddress.objects.create(user=user, email=email.lower(), verified=True, primary=True)
    User.objects.filter(pk=user.pk).update(email=email)
    return before


def forget_address(*, user: User) -> None:
    """Delete the address and one that waits."""
    with transaction.atomic():
        before = confirmed_address(user)
        EmailAddress.objects.filter(user=user).delete()
        WaitingEmail.objects.filter(user=user).delete()
        User.objects.filter(pk=user.pk).update(email="")
    security.log("email.removed", actor=user.get_username())
    if before:
        _tell_former(before)


def _tell_former(address: str) -> None:
    lines = [
        gettext("Hello,"),
        "",
        gettext(
            "this address is no longer that of an account here. If you did not want that, write "
            "to the people "
            "who run this installation."
        ),
        "",
    ]
    send_letter(address, gettext("Your e-mail address was removed"), lines)


def _token(row: WaitingEmail) -> str:
    return _signer.sign(f"{row.pk}-{_mark(row)}")


def _mark(row: WaitingEmail) -> str:
    waiting_change = f"{row.user_id} {row.email} {row.asked_at.isoformat()}"
    return salted_hmac("accounts.confirm-email", waiting_change, algorithm="sha256").hexdigest()[:32]


def warn_person(user: User, what: str) -> None:
    """Tell a person at their confirmed address that something about their sign-in changed."""
    lines = [
        gettext("Hello %(name)s,") % {"name": " ".join(user.get_username().split())},
        "",
        f"{what}.",
        gettext(
            "If it was not you, change your password at once and write to the people who run this "
            "installation."
        ),
        "",
    ]
    send_letter(confirmed_address(user), gettext("Your sign-in was changed"), lines)


# Letters to people with an account. `core.notices`, which can send e-mails, adds the sender in its extension.


@dataclass(frozen=True, slots=True)
class LetterSender:
    """Plans one letter: address, subject, lines. It is sent by a job, so that no page waits for it."""

    send: Callable[[str, str, list[str]], None]


def send_letter(address: str, subject: str, lines: list[str]) -> bool:
    """Have a letter sent; False where this installation sends none."""
    if not settings.NOTICES_BY_EMAIL or not address:
        return False
    for sender in parts_of(LetterSender)[:1]:
        sender.send(address, subject, lines)
        return True
    return False
