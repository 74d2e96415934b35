"""Sending what waits: one process a webhook, in the order of numbers, each message until it is answered.

A receiver that does not answer, or answers that it cannot now, is waited for: nothing overtakes. One that
refuses a message has it put aside, to be tried again on its own while those behind it go on. After several
refusals in a row it is the receiver that is wrong and not the messages: all wait, and one of them is tried
at a time.

The lease of a webhook is taken and kept in rows, no transaction is open while its address is called, and what
came of an attempt is written under the condition that the lease is still this process's. Whatever dies when,
a message is sent again or for the first time by the next one: at least once, never lost.
"""

import json
import logging
import random
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from standardwebhooks import Webhook as Signer

from core import outbound
from core.crypto import unseal
from core.extensions import parts_of
from core.webhooks.events import TEST, event_types
from core.webhooks.models import Webhook, WebhookAttempt, WebhookMessage

logger = logging.getLogger(__name__)

# What goes over the wire: the body of a message in each shape, and the headers that sign it.

#: What addresses and secrets are sealed for. It is part of the key: another text would open none of them.
PURPOSE = "core.webhooks"
_JSON = "application/json"


def payload_of(message: WebhookMessage) -> dict[str, Any]:
    """A message as receivers read it; the same at every attempt."""
    return {
        "type": message.type,
        "timestamp": _moment(message.at),
        "sequence": message.number,
        "data": message.data,
    }


def body_of(hook: Webhook, message: WebhookMessage) -> bytes:
    """The bytes that are signed and sent."""
    if hook.shape == Webhook.Shape.SLACK:
        body: dict[str, Any] = {"text": _escape_slack(sentence_of(hook, message))}
    elif hook.shape == Webhook.Shape.TEAMS:
        body = _card(hook, message)
    else:
        body = payload_of(message)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def headers_of(hook: Webhook, message: WebhookMessage, body: bytes, now: datetime) -> dict[str, str]:
    """Headers of one attempt: signed with every secret that is valid, as Standard Webhooks say."""
    headers = {"Content-Type": _JSON, "User-Agent": "Distillery-Webhooks"}
    if hook.shape != Webhook.Shape.STANDARD:
        return headers
    text = body.decode()
    signatures = [Signer(secret).sign(message.message_id, now, text) for secret in secrets_of(hook, now)]
    return headers | {
        "webhook-id": message.message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def secrets_of(hook: Webhook, now: datetime) -> list[str]:
    """The secrets that sign now, the present one first; none where this host cannot open them."""
    sealed = [hook.secret_sealed]
    if hook.former_secret_sealed and hook.former_until is not None and hook.former_until > now:
        sealed.append(hook.former_secret_sealed)
    opened = (unseal(each, purpose=PURPOSE) for each in sealed if each)
    return [secret for secret in opened if secret]


def address_of(hook: Webhook) -> str | None:
    """Where it sends to; None where this host has not the key that sealed it."""
    return unseal(hook.address_sealed, purpose=PURPOSE)


def sentence_of(hook: Webhook, message: WebhookMessage) -> str:
    """One event as a line for people, with where to look."""
    event_type = event_types(hook.owner_kind).get(message.type)
    phrase = "This is a test" if message.type == TEST else event_type.label if event_type else message.type
    ids = [
        f"{name} {value}" for name, value in sorted(message.data.items()) if name != "address" and value != ""
    ]
    line = f"{phrase}: {', '.join(ids)}" if ids else phrase
    address = message.data.get("address", "")
    return f"{line} {address}" if address else line


def letter_of(hook: Webhook, messages: Sequence[WebhookMessage]) -> tuple[str, str]:
    """Subject and body of an e-mail about some messages."""
    lines = [
        f"{each.at.astimezone(UTC):%-d %b %Y, %H:%M} UTC  {sentence_of(hook, each)}" for each in messages
    ]
    first = sentence_of(hook, messages[0]).partition(" http")[0]
    subject = first if len(messages) == 1 else f"{len(messages)} events"
    line = " ".join(f"{hook.name}: {subject}".split())[:120]
    return line, "\n".join([*lines, "", f"You get this because of the webhook {hook.name!r}.", ""])


def _escape_slack(text: str) -> str:
    """Slack reads <, > and & as marks of links and mentions."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _card(hook: Webhook, message: WebhookMessage) -> dict[str, Any]:
    """What a workflow of Teams takes: an adaptive card, whose text is no Markdown of ours."""
    address = message.data.get("address", "")
    line = sentence_of(hook, message).removesuffix(f" {address}") if address else sentence_of(hook, message)
    content: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            {"type": "TextBlock", "text": line, "wrap": True},
            {"type": "TextBlock", "text": _moment(message.at), "isSubtle": True, "spacing": "None"},
        ],
    }
    if address:
        content["actions"] = [{"type": "Action.OpenUrl", "title": "Open", "url": address}]
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": content}],
    }


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# Sending it.

#: Seconds that a receiver has, and the time a process keeps a webhook to itself without a sign of life.
SECONDS, LEASE = 10.0, timedelta(seconds=60)
#: One turn of one webhook ends after so many messages or seconds; others have their turn then.
MOST, TURN_SECONDS = 100, 30.0
#: From the first attempt at a message to the last one, and pauses between: at random up to the bound.
GIVE_UP = timedelta(hours=24)
_FIRST_PAUSE, _LONGEST_PAUSE, _LEAST_PAUSE = 10.0, 3 * 3600.0, 1.0
#: After so long without one success a webhook is disabled.
DISABLE_AFTER = timedelta(days=5)
#: Between two e-mails to the same address.
MAIL_PAUSE = timedelta(minutes=5)
_MAIL_MOST = 50
_OK, _GONE = range(200, 300), 410
#: Refusals of one message; of the others with 4 the receiver says that it cannot now.
_REFUSALS = frozenset(range(400, 500)) - {408, 425, 429}
#: So many messages refused in a row are put down to the receiver.
REFUSED_IN_A_ROW = 3
_NOTE = 500
_WAITING = WebhookMessage.State.WAITING


def due_webhooks(now: datetime, most: int = 200) -> list[int]:
    """Webhooks that have something to send now and that no process has, the longest due first."""
    waiting = WebhookMessage.objects.filter(_due(now), webhook=OuterRef("pk"), state=_WAITING)
    return list(
        Webhook.objects.filter(_free(now), Exists(waiting))
        .order_by("due_at", "pk")
        .values_list("pk", flat=True)[:most]
    )


def _free(now: datetime) -> Q:
    unleased = Q(lease_until=None) | Q(lease_until__lt=now)
    return unleased & Q(state=Webhook.State.ACTIVE, removed_at=None, due_at__lte=now)


def _due(now: datetime) -> Q:
    """Messages that are not put aside until later."""
    return Q(due_at=None) | Q(due_at__lte=now)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many messages an attempt had taken, and whether the next one may follow at once."""

    sent: int = 0
    goes_on: bool = False


class LeaseGoneError(Exception):
    """Another process has the webhook by now, or it was paused or removed."""


@dataclass(frozen=True, slots=True)
class OwnerMembers:
    """Who belongs to the project or requester of a number; part of the extension of its app."""

    kind: str
    is_member: Callable[[int, User], bool]


def is_of_former_member(hook: Webhook) -> bool:
    """Whether the person who made it has left since, or their account is closed."""
    maker = hook.created_by
    if maker is None:
        return False
    parts = [part for part in parts_of(OwnerMembers) if part.kind == hook.owner_kind]
    return not maker.is_active or not any(part.is_member(hook.owner_id, maker) for part in parts)


@transaction.atomic
def pause_of_former_member(hook: Webhook) -> None:
    """Send nothing more of what the maker may no longer see; what waits for their own mailbox is dropped."""
    Webhook.objects.filter(pk=hook.pk).update(
        state=Webhook.State.PAUSED,
        why_disabled=f"It was made by {hook.created_by}, who is no longer a member."[:300],
        lease_owner=None,
        lease_until=None,
    )
    if hook.shape == Webhook.Shape.EMAIL:
        WebhookMessage.objects.filter(webhook=hook, state=_WAITING).update(
            state=WebhookMessage.State.GAVE_UP, ended_at=timezone.now()
        )


def deliver(pk: int) -> int:
    """Send what waits for one webhook, as far as one turn goes; how many messages went out."""
    owner, now = uuid.uuid4(), timezone.now()
    hook = Webhook.objects.select_related("created_by").filter(pk=pk, state=Webhook.State.ACTIVE).first()
    if hook is not None and is_of_former_member(hook):
        pause_of_former_member(hook)
        return 0
    if not Webhook.objects.filter(_free(now), pk=pk).update(lease_owner=owner, lease_until=now + LEASE):
        return 0
    sent, ends = 0, time.monotonic() + TURN_SECONDS
    try:
        for _ in range(MOST):
            hook = _mine(pk, owner).get()
            outcome = _send_mail(hook) if hook.shape == Webhook.Shape.EMAIL else _send_next(hook)
            sent += outcome.sent
            if not outcome.goes_on or time.monotonic() >= ends:
                break
    except (LeaseGoneError, Webhook.DoesNotExist):
        return sent
    _mine(pk, owner).update(lease_owner=None, lease_until=None)
    return sent


def _mine(pk: int, owner: uuid.UUID | None) -> QuerySet[Webhook]:
    """The row, under the condition that this process has its lease and that it is still to be sent to."""
    return Webhook.objects.filter(
        pk=pk, lease_owner=owner, state=Webhook.State.ACTIVE, removed_at=None
    ).select_related("created_by")


def _take(hook: Webhook, most: int) -> list[WebhookMessage]:
    """The next messages in order; new ones get their numbers, and the lease is renewed."""
    with transaction.atomic():
        now = timezone.now()
        if not _mine(hook.pk, hook.lease_owner).update(lease_until=now + LEASE):
            raise LeaseGoneError
        waiting = WebhookMessage.objects.filter(webhook=hook, state=_WAITING)
        new = list(waiting.filter(number=None).order_by("pk")[:MOST])
        for number, message in enumerate(new, hook.last_number + 1):
            message.number = number
        if new:
            WebhookMessage.objects.bulk_update(new, ["number"])
            hook.last_number += len(new)
            Webhook.objects.filter(pk=hook.pk).update(last_number=hook.last_number)
        old = waiting.filter(first_attempt_at__lt=now - GIVE_UP)
        old.update(state=WebhookMessage.State.GAVE_UP, ended_at=now)
        due = waiting.filter(_due(now), number__isnull=False)
        # While the receiver refuses everything, each attempt is at another message: the next one that it
        # takes says that only those before were wrong.
        first = ("attempts", "number") if hook.refusals >= REFUSED_IN_A_ROW else ("number",)
        messages = list(due.order_by(*first)[:most])
        fresh = [each.pk for each in messages if each.first_attempt_at is None]
        if fresh:
            WebhookMessage.objects.filter(pk__in=fresh).update(first_attempt_at=now)
        return messages


def _send_next(hook: Webhook) -> Outcome:
    """One attempt at the message that is next, if one waits."""
    messages = _take(hook, 1)
    if not messages:
        return Outcome()
    message = messages[0]
    now, started = timezone.now(), time.monotonic()
    status: int | None = None
    wait: int | None = None
    try:
        address = address_of(hook)
        if not address or (hook.shape == Webhook.Shape.STANDARD and not secrets_of(hook, now)):
            raise outbound.DeliveryError("This host has not the key that sealed the address or its secret.")
        body = body_of(hook, message)
        reply = outbound.post(
            address,
            body,
            headers_of(hook, message, body, now),
            trusted=settings.WEBHOOK_TRUSTED_HOSTS,
            seconds=SECONDS,
        )
        status, wait = reply.status, reply.retry_after
        note = reply.body[:_NOTE].decode("utf-8", "replace").replace("\0", "")
    except (outbound.AddressRefusedError, outbound.DeliveryError) as error:
        note = str(error)
    attempt = WebhookAttempt(
        at=now, milliseconds=int((time.monotonic() - started) * 1000), status=status, note=note[:_NOTE]
    )
    retry_after = timedelta(seconds=min(wait or 0, _LONGEST_PAUSE))
    return _book(hook, [message], attempt, accepted=status in _OK, retry_after=retry_after)


def _send_mail(hook: Webhook) -> Outcome:
    """One e-mail with everything that waits."""
    messages = _take(hook, _MAIL_MOST)
    if not messages:
        return Outcome()
    now, started = timezone.now(), time.monotonic()
    subject, text = letter_of(hook, messages)
    accepted, note = False, ""
    try:
        # The address was the maker's own when they chose it; an account that is closed gets nothing.
        maker = hook.created_by
        if maker is None or not maker.is_active or not settings.NOTICES_BY_EMAIL:
            raise ValueError("The account is closed, or there is no mail server in the settings.")
        letter = EmailMessage(
            subject=subject,
            body=text,
            to=[address_of(hook) or ""],
            headers={"Auto-Submitted": "auto-generated"},
        )
        accepted = bool(letter.send())
    except (OSError, SMTPException, ValueError) as error:
        note = f"{type(error).__name__}: {error}"
    attempt = WebhookAttempt(
        at=now, milliseconds=int((time.monotonic() - started) * 1000), note=(note or "mailed")[:_NOTE]
    )
    return _book(hook, messages, attempt, accepted=accepted, pause=MAIL_PAUSE)


def _book(
    hook: Webhook,
    messages: Sequence[WebhookMessage],
    attempt: WebhookAttempt,
    *,
    accepted: bool,
    pause: timedelta = timedelta(0),
    retry_after: timedelta = timedelta(0),
) -> Outcome:
    """Write down what came of an attempt: sent, or when the next one is, or that it was the last.

    `pause` follows a success; after a failure it is at least what the receiver asks for in `retry_after`.
    """
    keys = [each.pk for each in messages]
    with transaction.atomic():
        now = timezone.now()
        if not _mine(hook.pk, hook.lease_owner).update(lease_until=now + LEASE):
            raise LeaseGoneError
        rows = WebhookMessage.objects.filter(pk__in=keys)
        rows.update(attempts=F("attempts") + 1)
        WebhookAttempt.objects.bulk_create(
            WebhookAttempt(
                message_id=pk,
                at=attempt.at,
                milliseconds=attempt.milliseconds,
                status=attempt.status,
                note=attempt.note,
            )
            for pk in keys
        )
        if accepted:
            rows.filter(state=_WAITING).update(state=WebhookMessage.State.SENT, ended_at=now, due_at=None)
            if hook.refusals >= REFUSED_IN_A_ROW:
                _put_refused_aside(hook, now)
            Webhook.objects.filter(pk=hook.pk).update(failing_since=None, refusals=0, due_at=now + pause)
            return Outcome(len(keys), goes_on=not pause)
        goes_on = _book_failure(hook, messages[0], attempt, retry_after, now)
    return Outcome(goes_on=goes_on)


def _book_failure(
    hook: Webhook, message: WebhookMessage, attempt: WebhookAttempt, retry_after: timedelta, now: datetime
) -> bool:
    """Put the message aside or have the webhook wait, or disable it; whether others may go on at once."""
    mine, since = Webhook.objects.filter(pk=hook.pk), hook.failing_since or now
    refused = attempt.status in _REFUSALS
    refusals = hook.refusals + 1 if refused else hook.refusals
    aside = refused and refusals < REFUSED_IN_A_ROW
    if aside:
        until = now + max(retry_after, _pause_after(message.attempts))
        WebhookMessage.objects.filter(pk=message.pk).update(due_at=_last_chance(message, until, now))
    elif refused:
        WebhookMessage.objects.filter(webhook=hook, state=_WAITING).update(due_at=None)
    # What is wrong with a receiver that refuses all shows in how many it refused, not in one of them.
    tries = refusals - REFUSED_IN_A_ROW if refused else message.attempts
    wait = timedelta(0) if aside else max(retry_after, _pause_after(tries))
    mine.update(failing_since=since, refusals=refusals, due_at=now + wait)
    if attempt.status == _GONE:
        disable(hook, "The receiver answered 410: it wants no more messages.", now)
    elif since < now - DISABLE_AFTER:
        cause = attempt.note or attempt.status
        disable(hook, f"Nothing was delivered for {DISABLE_AFTER.days} days: {cause}", now)
    else:
        return aside
    return False


def _put_refused_aside(hook: Webhook, now: datetime) -> None:
    """The receiver takes messages again: those that it refused are tried once more, each on its own."""
    refused = list(WebhookMessage.objects.filter(webhook=hook, state=_WAITING, attempts__gt=0)[:1_000])
    for message in refused:
        message.due_at = _last_chance(message, now + _pause_after(message.attempts), now)
    WebhookMessage.objects.bulk_update(refused, ["due_at"])


def _last_chance(message: WebhookMessage, until: datetime, now: datetime) -> datetime:
    """Not later than the end of the message's day."""
    return min(until, (message.first_attempt_at or now) + GIVE_UP)


def disable(hook: Webhook, why: str, now: datetime) -> None:
    """Send nothing more until a person switches it on; what waits stays."""
    logger.warning("Webhook %s was disabled: %s", hook.pk, why)
    Webhook.objects.filter(pk=hook.pk).update(
        state=Webhook.State.DISABLED,
        disabled_at=now,
        why_disabled=why[:300],
        lease_owner=None,
        lease_until=None,
    )


def _pause_after(attempts: int) -> timedelta:
    """Full jitter: anything up to a bound that doubles with each attempt, so no receiver is hit in waves."""
    bound = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(attempts, 20))
    return timedelta(seconds=random.uniform(_LEAST_PAUSE, bound))  # noqa: S311  # no secret


# An e-mail to the person who made a webhook that was disabled: claimed before it is sent, so sent once.

_MOST_LETTERS = 50


def tell_makers(now: datetime) -> int:
    """Write to the makers of disabled webhooks who were not told yet; the number of e-mails."""
    if not settings.NOTICES_BY_EMAIL:
        return 0
    disabled = Webhook.objects.filter(state=Webhook.State.DISABLED, told_at=None, removed_at=None)
    sent = 0
    for hook in disabled.select_related("created_by").order_by("pk")[:_MOST_LETTERS]:
        if not disabled.filter(pk=hook.pk).update(told_at=now):
            continue
        maker = hook.created_by
        if maker is None or not maker.is_active or not maker.email:
            continue
        letter = EmailMessage(
            subject=" ".join(f"The webhook {hook.name} was disabled".split())[:120],
            body=f"The webhook {hook.name!r}, which sends to {hook.host}, was disabled.\n\n"
            f"{hook.why_disabled}\n\n"
            "What waits is kept. Switch it on again on its page when the receiver works.\n",
            to=[maker.email],
            headers={"Auto-Submitted": "auto-generated"},
        )
        try:
            sent += letter.send()
        except (OSError, SMTPException) as error:
            logger.warning("The maker of webhook %s was not told: %s", hook.pk, type(error).__name__)
    return sent
