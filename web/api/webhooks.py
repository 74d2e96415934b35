"""Webhooks by the API: what the operations of projects and of requesters share.

The operations of both are thin: they find out whose webhooks they are about, and call these.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import timezone
from pydantic import BaseModel, Field

from core.origin import Owner
from core.webhooks import services
from core.webhooks.delivery import address_of, payload_of
from core.webhooks.events import event_types
from core.webhooks.models import Webhook, WebhookAttempt, WebhookMessage
from core.webhooks.services import WebhookError, webhooks_of
from web.api.fields import MOST_ID, Body, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError

Shape = Annotated[str, OneOf(Webhook.Shape)]
Events = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=60)]],
    Field(max_length=100, description="Types of events, such as stage.opened."),
]
Name = Annotated[str, Field(min_length=1, max_length=80, description="What the webhook is for.")]
Address = Annotated[str, Field(max_length=2048)]
Found = TypeVar("Found")


class WebhookIn(Body):
    """A new webhook."""

    name: Name
    shape: Shape = Field(Webhook.Shape.STANDARD.value, description="What it sends.")
    address: Address = Field(
        "", description="A public https address. For e-mail leave it out: it goes to your own address."
    )
    events: Events


class WebhookChanges(Body):
    """Fields to change; what is left out stays. Waiting messages go to the new address."""

    name: Name | None = None
    address: Address | None = None
    events: Events | None = None


class WebhookOut(BaseModel):
    """A webhook: where messages go, and how delivery does."""

    id: int
    name: str
    shape: Shape
    host: str = Field(description="The host of its address, or the e-mail address.")
    address: str | None = Field(
        description="The whole address of signed JSON; null for chats, whose address is a credential."
    )
    events: list[str]
    state: Annotated[str, OneOf(Webhook.State)]
    failing_since: Time | None = Field(description="Since then no message was taken; null: the last one was.")
    next_attempt_at: Time | None = Field(
        description="It waits until then after a failure; null: it does not."
    )
    disabled_at: Time | None
    why_disabled: str
    two_secrets_until: Time | None = Field(description="Until then the former secret signs too.")
    messages: int = Field(description="Messages so far, which is the last sequence number.")
    created_at: Time
    created_by: str | None = Field(description="User name.")


class WebhookWithSecret(WebhookOut):
    """A webhook with its new secret. No later answer has the secret."""

    secret: str = Field(description="The receiver verifies signatures with it; empty for chats and e-mail.")


class EventTypeOut(BaseModel):
    """A type of events that a webhook can ask for."""

    type: str
    words: str = Field(description="When it is sent.")


class EventTypes(BaseModel):
    """All types of events."""

    items: list[EventTypeOut]


class MessageFilter(BaseModel):
    """Which messages; filters that are left out take all."""

    state: Annotated[str, OneOf(WebhookMessage.State)] | None = None
    type: str = Field("", max_length=60, description="Type of event, such as stage.opened.")


class AttemptOut(BaseModel):
    """One attempt at delivery."""

    at: Time
    milliseconds: int
    status: int | None = Field(description="HTTP status of the answer; null: no answer.")
    note: str = Field(description="The beginning of the answer, or why there was none.")


class MessageOut(BaseModel):
    """A message with its attempts."""

    id: int
    message_id: str = Field(description="The header webhook-id, the same at each attempt.")
    sequence: int | None = Field(description="Its place in the order; null: not taken up yet.")
    type: str
    state: Annotated[str, OneOf(WebhookMessage.State)]
    at: Time = Field(description="When the event happened.")
    next_attempt_at: Time | None = Field(
        description="The receiver refused it: it is tried again then, and those behind it go on."
    )
    ended_at: Time | None
    payload: dict[str, Any] = Field(description="What is sent as signed JSON.")
    attempts: list[AttemptOut] = Field(description="Oldest first; the last 50.")


_MOST_ATTEMPTS = 50


def list_types(kind: str) -> EventTypes:
    """What webhooks of this kind of owner can ask for."""
    type_rows = [EventTypeOut(type=each.name, words=each.label) for each in event_types(kind).values()]
    return EventTypes(items=type_rows)


def find_webhook(owner: Owner, pk: int) -> Webhook:
    """A webhook of the owner; Http404 where there is none."""
    rows: QuerySet[Webhook] = webhooks_of(owner).select_related("created_by")
    row = rows.filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such webhook.")
    return row


def list_page(owner: Owner, paging: PageRequest) -> Page[WebhookOut]:
    """Webhooks of the owner."""
    rows: QuerySet[Webhook] = webhooks_of(owner).select_related("created_by")
    page = page_of(rows, paging, key=("pk",), within=(owner.kind, owner.pk))
    return Page(items=[describe_webhook(row) for row in page.items], next=page.next)


def create(owner: Owner, body: WebhookIn, by: User) -> WebhookWithSecret:
    """Make a webhook."""
    address = body.address
    if body.shape == Webhook.Shape.EMAIL:
        address = address or by.email
    new = _refused_by_field(
        lambda: services.create_webhook(
            owner=owner, name=body.name, address=address, events=body.events, shape=body.shape, by=by
        )
    )
    return _with_secret(new)


def change(owner: Owner, pk: int, body: WebhookChanges) -> WebhookOut:
    """Change a webhook."""
    row = find_webhook(owner, pk)
    changes = body.model_dump(exclude_unset=True)
    _refused_by_field(lambda: services.change_webhook(hook=row, **changes))
    return describe_webhook(find_webhook(owner, pk))


def act(owner: Owner, pk: int, action: Callable[..., Any]) -> WebhookOut:
    """Call a service that takes a webhook, and give what it is afterwards."""
    action(hook=find_webhook(owner, pk))
    return describe_webhook(find_webhook(owner, pk))


def remove(owner: Owner, pk: int) -> None:
    """Remove a webhook."""
    services.remove(hook=find_webhook(owner, pk))


def rotate(owner: Owner, pk: int) -> WebhookWithSecret:
    """Make a new secret."""
    return _with_secret(services.rotate_secret(hook=find_webhook(owner, pk)))


def send_test(owner: Owner, pk: int) -> MessageOut:
    """Queue a test message."""
    return describe_message(services.send_test(hook=find_webhook(owner, pk)), [])


def list_messages(owner: Owner, pk: int, paging: PageRequest, which: MessageFilter) -> Page[MessageOut]:
    """Messages of a webhook with their attempts."""
    hook = find_webhook(owner, pk)
    rows = WebhookMessage.objects.filter(webhook=hook)
    if which.state is not None:
        rows = rows.filter(state=which.state)
    if which.type:
        rows = rows.filter(type=which.type)
    page = page_of(rows, paging, key=("pk",), within=(hook.pk, which.model_dump_json()))
    log = _attempts_of([row.pk for row in page.items])
    return Page(items=[describe_message(row, log[row.pk]) for row in page.items], next=page.next)


def act_on_message(owner: Owner, pk: int, message: str, action: Callable[..., None]) -> MessageOut:
    """Call a service that takes a webhook and a message of it, named by its id or message id."""
    hook = find_webhook(owner, pk)
    named = Q(message_id=message)
    if message.isascii() and message.isdigit() and int(message) <= MOST_ID:
        named |= Q(pk=int(message))
    rows = WebhookMessage.objects.filter(named, webhook=hook)
    row = rows.first()
    if row is None:
        raise Http404("There is no such message.")
    action(hook=hook, message=row)
    row.refresh_from_db()
    return describe_message(row, _attempts_of([row.pk])[row.pk])


def describe_webhook(row: Webhook) -> WebhookOut:
    """A webhook, as JSON."""
    now = timezone.now()
    overlaps = row.former_secret_sealed and row.former_until is not None and row.former_until > now
    waits = row.failing_since is not None and row.due_at > now and row.state == Webhook.State.ACTIVE
    return WebhookOut(
        id=row.pk,
        name=row.name,
        shape=row.shape,
        host=row.host,
        address=address_of(row) if row.shape == Webhook.Shape.STANDARD else None,
        events=row.events,
        state=row.state,
        failing_since=row.failing_since,
        next_attempt_at=row.due_at if waits else None,
        disabled_at=row.disabled_at,
        why_disabled=row.why_disabled,
        two_secrets_until=row.former_until if overlaps else None,
        messages=row.last_number,
        created_at=row.created_at,
        created_by=row.created_by.get_username() if row.created_by else None,
    )


def describe_message(row: WebhookMessage, log: list[WebhookAttempt]) -> MessageOut:
    """A message, as JSON."""
    return MessageOut(
        id=row.pk,
        message_id=row.message_id,
        sequence=row.number,
        type=row.type,
        state=row.state,
        at=row.at,
        next_attempt_at=row.due_at,
        ended_at=row.ended_at,
        payload=payload_of(row),
        attempts=[
            AttemptOut(at=each.at, milliseconds=each.milliseconds, status=each.status, note=each.note)
            for each in log[-_MOST_ATTEMPTS:]
        ],
    )


def _attempts_of(messages: list[int]) -> dict[int, list[WebhookAttempt]]:
    log: dict[int, list[WebhookAttempt]] = {pk: [] for pk in messages}
    for attempt in WebhookAttempt.objects.filter(message__in=messages).order_by("pk"):
        log[attempt.message_id].append(attempt)
    return log


def _with_secret(new: services.NewWebhook) -> WebhookWithSecret:
    return WebhookWithSecret(**describe_webhook(new.row).model_dump(), secret=new.secret)


def _refused_by_field(call: Callable[[], Found]) -> Found:
    """What the services return; their refusals name the field that they begin with."""
    try:
        return call()
    except WebhookError as error:
        field = str(error).partition(": ")[0].lower()
        errors = {field: [str(error)]} if field in ("name", "address", "events") else {}
        raise ProblemError(422, "refused", str(error), errors=errors) from error
