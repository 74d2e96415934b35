"""Webhooks of projects and of requesters by the API."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils import timezone
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.origin import Owner
from core.webhooks import services
from core.webhooks.delivery import address_of, payload_of
from core.webhooks.events import event_types
from core.webhooks.models import Webhook, WebhookAttempt, WebhookMessage
from core.webhooks.services import WebhookError, webhooks_of
from web.api.access import ApiRequest, Role
from web.api.fields import MOST_ID, Body, OneOf, Time
from web.api.owners import OWNER, AtOwner, OwnerPermission, owner_place
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

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
    state: Literal["active", "paused"] | None = Field(
        None,
        description="paused: nothing is sent, and events of the meantime are not kept for it; active: it is "
        "sent again, and messages that waited go first.",
    )
    end_former_secret: bool = Field(False, description="Sign with the present secret alone from now on.")


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

    state: Annotated[str, OneOf(WebhookMessage.State)] | None = Field(None, description="Left out: all.")
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


class MessageChange(Body):
    """What becomes of a message."""

    state: Literal["waiting", "gave_up"] = Field(description="waiting: it is sent again; gave_up: skipped.")


_MOST_ATTEMPTS = 50


webhooks = Resource("Webhooks", permission=OwnerPermission)
_LIST, _ONE = f"{OWNER}/webhooks", f"{OWNER}/webhooks/{{int:webhook}}"


@webhooks.get(f"{_LIST}/event-types", scopes=[Scope.READ], role=Role.MANAGER)
def list_event_types(request: ApiRequest, of: AtOwner) -> EventTypes:
    """All types of events that a webhook here can ask for."""
    known_types = event_types(owner_place(request).owner.kind).values()
    return EventTypes(items=[EventTypeOut(type=each.name, words=each.label) for each in known_types])


@webhooks.get(_LIST, scopes=[Scope.READ], role=Role.MANAGER)
def list_webhooks(request: ApiRequest, of: AtOwner, paging: Query[PageRequest]) -> Page[WebhookOut]:
    """The webhooks of a project or requester."""
    at = owner_place(request).owner
    page = page_of(_rows(at), paging, key=("pk",), within=(at.kind, at.pk))
    return Page(items=[describe_webhook(row) for row in page.items], next=page.next)


@webhooks.post(_LIST, scopes=[Scope.ADMIN], role=Role.MANAGER, status=201, secret=True)
def create_webhook(request: ApiRequest, of: AtOwner, body: WebhookIn) -> WebhookWithSecret:
    """Send messages to an address from now on. The answer has the secret, which is shown only once."""
    by, address = request.caller.user, body.address
    if body.shape == Webhook.Shape.EMAIL:
        address = address or by.email
    new = _refused_by_field(
        lambda: services.create_webhook(
            owner=owner_place(request).owner,
            name=body.name,
            address=address,
            events=body.events,
            shape=body.shape,
            by=by,
        )
    )
    return _with_secret(new)


@webhooks.get(_ONE, scopes=[Scope.READ], role=Role.MANAGER)
def get_webhook(request: ApiRequest, of: AtOwner, webhook: int) -> WebhookOut:
    """One webhook, with the state of its delivery."""
    return describe_webhook(_find(request, webhook))


@webhooks.patch(_ONE, scopes=[Scope.ADMIN], role=Role.MANAGER)
def change_webhook(request: ApiRequest, of: AtOwner, webhook: int, body: WebhookChanges) -> WebhookOut:
    """Change name, address or events, all of it or nothing; pause it, or send again after a pause."""
    hook = _find(request, webhook)
    changes = body.model_dump(include={"name", "address", "events"}, exclude_none=True)
    with transaction.atomic():
        if changes:
            _refused_by_field(lambda: services.change_webhook(hook=hook, **changes))
        if body.state is not None:
            (services.pause if body.state == "paused" else services.activate)(hook=hook)
        if body.end_former_secret:
            services.end_former_secret(hook=hook)
    return describe_webhook(_find(request, webhook))


@webhooks.delete(_ONE, scopes=[Scope.ADMIN], role=Role.MANAGER)
def remove_webhook(request: ApiRequest, of: AtOwner, webhook: int) -> None:
    """Remove a webhook. Waiting messages are given up; address and secret are deleted."""
    services.remove(hook=_find(request, webhook))


@webhooks.post(f"{_ONE}/rotate-secret", scopes=[Scope.ADMIN], role=Role.MANAGER, secret=True)
def rotate_webhook_secret(request: ApiRequest, of: AtOwner, webhook: int) -> WebhookWithSecret:
    """Make a new secret, which is shown only once. For a day messages are signed with both."""
    return _with_secret(services.rotate_secret(hook=_find(request, webhook)))


@webhooks.post(f"{_ONE}/test", scopes=[Scope.ADMIN], role=Role.MANAGER)
def send_webhook_test(request: ApiRequest, of: AtOwner, webhook: int) -> MessageOut:
    """Send a message of the type webhook.test, behind those that wait."""
    return describe_message(services.send_test(hook=_find(request, webhook)), [])


@webhooks.get(f"{_ONE}/messages", scopes=[Scope.READ], role=Role.MANAGER)
def list_webhook_messages(
    request: ApiRequest,
    of: AtOwner,
    webhook: int,
    paging: Query[PageRequest],
    which: Query[MessageFilter],
) -> Page[MessageOut]:
    """Messages with every attempt at delivery."""
    hook = _find(request, webhook)
    rows = WebhookMessage.objects.filter(webhook=hook)
    if which.state is not None:
        rows = rows.filter(state=which.state)
    if which.type:
        rows = rows.filter(type=which.type)
    page = page_of(rows, paging, key=("pk",), within=(hook.pk, which.model_dump_json()))
    log = _attempts_of([row.pk for row in page.items])
    return Page(items=[describe_message(row, log[row.pk]) for row in page.items], next=page.next)


@webhooks.patch(f"{_ONE}/messages/{{message}}", scopes=[Scope.ADMIN], role=Role.MANAGER)
def change_webhook_message(
    request: ApiRequest, of: AtOwner, webhook: int, message: str, body: MessageChange
) -> MessageOut:
    """Send a message again under its old id and number, or skip it so that later ones are sent.

    It is named by `id` or `message_id`.
    """
    hook = _find(request, webhook)
    named = Q(message_id=message)
    if message.isascii() and message.isdigit() and int(message) <= MOST_ID:
        named |= Q(pk=int(message))
    row = WebhookMessage.objects.filter(named, webhook=hook).first()
    if row is None:
        raise Http404("There is no such message.")
    (services.resend if body.state == "waiting" else services.skip)(hook=hook, message=row)
    row.refresh_from_db()
    return describe_message(row, _attempts_of([row.pk])[row.pk])


def _rows(owner: Owner) -> QuerySet[Webhook]:
    rows: QuerySet[Webhook] = webhooks_of(owner).select_related("created_by")
    return rows


def _find(request: ApiRequest, pk: int) -> Webhook:
    row = _rows(owner_place(request).owner).filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such webhook.")
    return row


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
