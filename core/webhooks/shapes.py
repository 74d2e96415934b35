"""What goes over the wire: the body of a message in each shape, and the headers that sign it."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from standardwebhooks import Webhook as Signer

from core.crypto import unseal
from core.webhooks.events import TEST, event_types
from core.webhooks.models import Webhook, WebhookMessage

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
        found: dict[str, Any] = {"text": _escape_slack(sentence_of(hook, message))}
    elif hook.shape == Webhook.Shape.TEAMS:
        found = _card(hook, message)
    else:
        found = payload_of(message)
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()


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
    known = event_types(hook.owner_kind).get(message.type)
    words = "This is a test" if message.type == TEST else known.words if known else message.type
    ids = [
        f"{name} {value}" for name, value in sorted(message.data.items()) if name != "address" and value != ""
    ]
    line = f"{words}: {', '.join(ids)}" if ids else words
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
