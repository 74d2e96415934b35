"""What happens to webhooks: made, changed, their secrets exchanged, tested, paused, sent again, removed."""

import base64
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from core import outbound
from core.accounts import security
from core.crypto import seal
from core.errors import ActionError
from core.origin import Owner
from core.webhooks.apps import webhook_changed
from core.webhooks.delivery import PURPOSE, is_of_former_member, pause_of_former_member
from core.webhooks.events import TEST, event_types
from core.webhooks.models import Webhook, WebhookMessage

#: Webhooks of one owner, and for how long the secret before signs too.
MOST = 20
OVERLAP = timedelta(hours=24)
_PREFIX, _SECRET_BYTES = "whsec_", 32
_CHATS = {
    Webhook.Shape.SLACK: ("hooks.slack.com", "hooks.slack-gov.com"),
    Webhook.Shape.TEAMS: (".webhook.office.com", ".logic.azure.com", ".environment.api.powerplatform.com"),
}
_EXAMPLE = "such as https://hooks.example.org/distillery"


class WebhookError(ActionError):
    """Something that cannot be done with a webhook, in words."""


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A webhook that was just made, and the secret by which its receiver knows it, shown this once."""

    row: Webhook
    secret: str


def new_secret() -> str:
    """A secret as Standard Webhooks write it."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


@transaction.atomic
def create_webhook(
    *,
    owner: Owner,
    name: str,
    address: str,
    events: Iterable[str],
    shape: str = Webhook.Shape.STANDARD,
    by: User | None = None,
) -> NewWebhook:
    """Have messages sent to an address from now on.

    An e-mail goes to the address of the person who makes it: no one else can be signed up for it.
    """
    checked_events = check_events(owner.kind, events)
    if not name.strip():
        raise WebhookError("Name: say what the webhook is for.")
    host = check_address(shape, address, by=by)
    now = timezone.now()
    if webhooks_of(owner).count() >= MOST:
        raise WebhookError(f"There are {MOST} webhooks already; remove one first.")
    secret = new_secret() if shape == Webhook.Shape.STANDARD else ""
    row = Webhook.objects.create(
        owner_kind=owner.kind,
        owner_id=owner.pk,
        name=name.strip()[:80],
        shape=shape,
        address_sealed=seal(address, purpose=PURPOSE),
        host=host,
        events=checked_events,
        secret_sealed=seal(secret, purpose=PURPOSE) if secret else "",
        due_at=now,
        created_at=now,
        created_by=by,
    )
    _log("made", row)
    return NewWebhook(row, secret)


@transaction.atomic
def change_webhook(
    *, hook: Webhook, name: str | None = None, address: str | None = None, events: Iterable[str] | None = None
) -> Webhook:
    """Another name, address or choice of events; messages that wait go to the new address."""
    row = _locked(hook)
    if name is not None:
        if not name.strip():
            raise WebhookError("Name: say what the webhook is for.")
        row.name = name.strip()[:80]
    if address is not None:
        row.host = check_address(row.shape, address, by=row.created_by)
        row.address_sealed = seal(address, purpose=PURPOSE)
    if events is not None:
        row.events = check_events(row.owner_kind, events)
    row.save(update_fields=["name", "address_sealed", "host", "events"])
    _log("changed", row)
    return row


@transaction.atomic
def rotate_secret(*, hook: Webhook) -> NewWebhook:
    """Make a new secret; for a day both sign, so that a receiver can change over without losing a message."""
    row = _locked(hook)
    now = timezone.now()
    if row.shape != Webhook.Shape.STANDARD:
        raise WebhookError("Only signed messages have a secret.")
    if row.former_secret_sealed and row.former_until is not None and row.former_until > now:
        raise WebhookError(
            f"Two secrets are valid until {row.former_until:%-d %b %Y, %H:%M} UTC. End the former one first."
        )
    secret = new_secret()
    row.former_secret_sealed, row.former_until = row.secret_sealed, now + OVERLAP
    row.secret_sealed = seal(secret, purpose=PURPOSE)
    row.save(update_fields=["secret_sealed", "former_secret_sealed", "former_until"])
    _log("secret_rotated", row)
    return NewWebhook(row, secret)


@transaction.atomic
def end_former_secret(*, hook: Webhook) -> None:
    """Sign with the present secret alone from now on."""
    row = _locked(hook)
    row.former_secret_sealed, row.former_until = "", None
    row.save(update_fields=["former_secret_sealed", "former_until"])
    _log("secret_ended", row)


@transaction.atomic
def pause(*, hook: Webhook) -> None:
    """Send nothing and keep nothing new until it is active again."""
    row = _locked(hook)
    if row.state == Webhook.State.ACTIVE:
        Webhook.objects.filter(pk=row.pk).update(state=Webhook.State.PAUSED)
        _log("paused", row)


@transaction.atomic
def activate(*, hook: Webhook) -> None:
    """Send again, also what waited when it was paused or disabled; the day of retries begins afresh.

    One that a former member made is from then on of the person who switches it on. WebhookError where it
    writes to that member's own mailbox.
    """
    row = _locked(hook)
    if row.state == Webhook.State.ACTIVE:
        return
    maker = row.created_by
    if is_of_former_member(row):
        if row.shape == Webhook.Shape.EMAIL:
            raise WebhookError(
                "It writes to the mailbox of a former member. Remove it, and make one for yourself."
            )
        maker = security.actor().user
    Webhook.objects.filter(pk=row.pk).update(
        state=Webhook.State.ACTIVE,
        created_by=maker,
        failing_since=None,
        disabled_at=None,
        why_disabled="",
        told_at=None,
        refusals=0,
        due_at=timezone.now(),
    )
    WebhookMessage.objects.filter(webhook=row, state=WebhookMessage.State.WAITING).update(
        first_attempt_at=None, attempts=0, due_at=None
    )
    _log("activated", row)


def pause_webhooks_of(owner: Owner, user: User) -> None:
    """A person has left: pause what they made there, unless they still belong to it."""
    for hook in webhooks_of(owner).filter(created_by=user, state=Webhook.State.ACTIVE):
        if is_of_former_member(hook):
            pause_of_former_member(hook)
            _log("paused", hook)


@transaction.atomic
def remove(*, hook: Webhook) -> None:
    """Send nothing to it any more; address and secrets are deleted, its log stays until it is old."""
    row = _locked(hook)
    now = timezone.now()
    Webhook.objects.filter(pk=row.pk).update(
        removed_at=now, address_sealed="", secret_sealed="", former_secret_sealed=""
    )
    WebhookMessage.objects.filter(webhook=row, state=WebhookMessage.State.WAITING).update(
        state=WebhookMessage.State.GAVE_UP, ended_at=now
    )
    _log("removed", row)


@transaction.atomic
def send_test(*, hook: Webhook) -> WebhookMessage:
    """Queue a message of the type `webhook.test` behind what waits."""
    row = _locked(hook)
    if row.state != Webhook.State.ACTIVE:
        raise WebhookError("It is not active. Switch it on first.")
    Webhook.objects.filter(pk=row.pk).update(due_at=timezone.now())
    return WebhookMessage.objects.create(
        webhook=row, type=TEST, at=timezone.now(), data={row.owner_kind: row.owner_id}
    )


@transaction.atomic
def resend(*, hook: Webhook, message: WebhookMessage) -> None:
    """Send one message again, under its old id and number, before those with higher numbers."""
    row = _locked(hook)
    if row.state != Webhook.State.ACTIVE:
        raise WebhookError("It is not active. Switch it on first.")
    rows = WebhookMessage.objects.filter(pk=message.pk, webhook=row)
    if not rows.exclude(state=WebhookMessage.State.WAITING).update(
        state=WebhookMessage.State.WAITING, attempts=0, first_attempt_at=None, ended_at=None, due_at=None
    ):
        raise WebhookError("It is waiting to be sent already.")
    Webhook.objects.filter(pk=row.pk).update(due_at=timezone.now())


@transaction.atomic
def skip(*, hook: Webhook, message: WebhookMessage) -> None:
    """Give up a message that waits, so that the ones behind it go on."""
    row = _locked(hook)
    rows = WebhookMessage.objects.filter(pk=message.pk, webhook=row, state=WebhookMessage.State.WAITING)
    if not rows.update(state=WebhookMessage.State.GAVE_UP, ended_at=timezone.now()):
        raise WebhookError("It does not wait any more.")
    Webhook.objects.filter(pk=row.pk).update(due_at=timezone.now())


def webhooks_of(owner: Owner) -> Any:
    """The webhooks of a project or requester, as a queryset."""
    return Webhook.objects.filter(owner_kind=owner.kind, owner_id=owner.pk, removed_at=None)


def check_events(owner_kind: str, events: Iterable[str]) -> list[str]:
    """The types as they are kept; WebhookError where one is unknown, or none is chosen."""
    names = list(dict.fromkeys(events))
    types = event_types(owner_kind)
    unknown = [each for each in names if each not in types]
    if unknown:
        raise WebhookError(f"Events: there is no {unknown[0]!r:.80}; there are {', '.join(types)}.")
    if not names:
        raise WebhookError("Events: choose at least one.")
    return names


def check_address(shape: str, address: str, *, by: User | None) -> str:
    """What of the address is shown; WebhookError where nothing is ever sent there."""
    if shape not in Webhook.Shape.values:
        raise WebhookError(f"There is no shape {shape!r:.40}; there are {', '.join(Webhook.Shape.values)}.")
    if shape == Webhook.Shape.EMAIL:
        return _check_email(address, by)
    try:
        parts = outbound.check_url(address, trusted=settings.WEBHOOK_TRUSTED_HOSTS)
        host = (parts.hostname or "").rstrip(".")
        chats = _CHATS.get(Webhook.Shape(shape), ())
        if chats and host not in settings.WEBHOOK_TRUSTED_HOSTS and not host.endswith(chats):
            raise WebhookError(
                f"Address: this is none of {Webhook.Shape(shape).label}'s ({', '.join(chats)})."
            )
        outbound.resolve(host, parts.port or 443, trusted=settings.WEBHOOK_TRUSTED_HOSTS)
    except outbound.AddressRefusedError as error:
        raise WebhookError(f"Address: {error} Give a public https address, {_EXAMPLE}.") from error
    except outbound.DeliveryError as error:
        raise WebhookError(f"Address: {error}") from error
    return host[:255]


def _check_email(address: str, by: User | None) -> str:
    try:
        validate_email(address)
    except ValidationError as error:
        raise WebhookError("Address: this is no e-mail address.") from error
    if by is None or not by.email or address.casefold() != by.email.casefold():
        raise WebhookError("Address: events are mailed to your own address only; it is in your account.")
    if not settings.NOTICES_BY_EMAIL:
        raise WebhookError("Address: this installation has no mail server in its settings.")
    return address[:255]


def _locked(hook: Webhook) -> Webhook:
    row = Webhook.objects.select_for_update().filter(pk=hook.pk, removed_at=None).first()
    if row is None:
        raise WebhookError("This webhook was removed.")
    return row


def _log(what: str, row: Webhook) -> None:
    webhook_changed.send(Webhook, hook=row, what=what)
    owner = {row.owner_kind: row.owner_id}
    security.log(f"webhook.{what}", webhook=row.pk, host=row.host, **owner)
