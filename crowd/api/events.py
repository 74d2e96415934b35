"""What happened in a project: its events, its audit log chained by digests, and webhooks that tell of it."""

from collections.abc import Iterator
from typing import Any

from django.db.models import F, QuerySet
from django.http import StreamingHttpResponse
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.origin import Owner
from core.projects.models import Event, Project
from core.projects.services import event_actions
from core.webhooks import services
from web.api import audit as audit_kit
from web.api import webhooks as webhooks_kit
from web.api.access import ApiRequest, Role, project_access
from web.api.audit import AuditEntry, AuditFilter, AuditLine, AuditState, AuditVerification
from web.api.bodies import lines_of, rows_by_key, stream_lines
from web.api.fields import Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource
from web.api.webhooks import (
    EventTypes,
    MessageFilter,
    MessageOut,
    WebhookChanges,
    WebhookIn,
    WebhookOut,
    WebhookWithSecret,
)

events = Resource("Events")


class EventFilter(BaseModel):
    """Which events, such as `stage.opened`."""

    action: str = Field("", max_length=60)


class EventOut(BaseModel):
    """One thing that happened; it is never changed."""

    id: int
    at: Time
    actor: str | None = Field(description="User name; null: the system.")
    action: str
    words: str = Field(description="The action, for people.")
    subject: str
    details: dict[str, Any]
    address: str
    via: str = Field(description="page, api, job…; empty: not noted.")
    credential: str = Field(description="Beginning of the token, or the access key.")
    request_id: str


@events.get("/projects/{project}/events", scopes=[Scope.READ], role=Role.VIEWER)
def list_events(
    request: ApiRequest, project: str, paging: Query[PageRequest], which: Query[EventFilter]
) -> Page[EventOut]:
    """The log of a project."""
    at = project_access(request).project
    rows = _rows(at, which.action).select_related("actor")
    page = page_of(rows, paging, key=("pk",), within=(at.pk, which.action))
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@events.get(
    "/projects/{project}/events.jsonl", scopes=[Scope.READ], role=Role.VIEWER, content=lines_of(EventOut)
)
def export_events(request: ApiRequest, project: str, which: Query[EventFilter]) -> StreamingHttpResponse:
    """The whole log of a project, oldest first, one event per line."""
    columns = [name for name in EventOut.model_fields if name not in ("actor", "words")]
    rows = _rows(project_access(request).project, which.action)
    return stream_lines(_worded(rows_by_key(rows.values(*columns, who=F("actor__username")))))


def _rows(project: Project, action: str) -> QuerySet[Event]:
    rows = Event.objects.filter(project=project)
    return rows.filter(action=action) if action else rows


def _worded(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    actions = event_actions()
    for row in rows:
        row["actor"], row["words"] = row.pop("who"), actions.get(row["action"], row["action"])
        yield row


_SAME = tuple(name for name in EventOut.model_fields if name not in ("actor", "words"))


def _describe(row: Event) -> EventOut:
    return EventOut(
        **{name: getattr(row, name) for name in _SAME},
        actor=row.actor.get_username() if row.actor else None,
        words=event_actions().get(row.action, row.action),
    )


# The audit log

audit = Resource("Audit log")
_AT = "/projects/{project}/audit"


def _owner(request: ApiRequest) -> Owner:
    return Owner(Owner.Kind.PROJECT, project_access(request).project.pk)


@audit.get(_AT, scopes=[Scope.READ], role=Role.VIEWER)
def get_audit_state(request: ApiRequest, project: str) -> AuditState:
    """How far the log of a project is chained by digests, and what the nightly verification found."""
    return audit_kit.audit_state(_owner(request))


@audit.get(f"{_AT}/entries", scopes=[Scope.READ], role=Role.VIEWER)
def list_audit_entries(
    request: ApiRequest, project: str, paging: Query[PageRequest], which: Query[AuditFilter]
) -> Page[AuditEntry]:
    """Who did what, from where and by which way, with the digest of each entry."""
    return audit_kit.list_entries(_owner(request), paging, which)


@audit.get(f"{_AT}/entries.jsonl", scopes=[Scope.READ], role=Role.VIEWER, content=lines_of(AuditLine))
def export_audit_entries(
    request: ApiRequest, project: str, which: Query[AuditFilter]
) -> StreamingHttpResponse:
    """All entries of the filters in the order of the chain, one per line, with their digests."""
    return audit_kit.export_entries(_owner(request), which)


@audit.post(f"{_AT}/verify", scopes=[Scope.READ], role=Role.VIEWER)
def verify_audit_log(request: ApiRequest, project: str) -> AuditVerification:
    """Compute every digest of the log again. Nothing is changed."""
    return audit_kit.verify_log(_owner(request))


# Webhooks

webhooks = Resource("Webhooks")
_LIST, _ONE = "/projects/{project}/webhooks", "/projects/{project}/webhooks/{int:webhook}"


@webhooks.get(f"{_LIST}/event-types", scopes=[Scope.READ], role=Role.MANAGER)
def list_event_types(request: ApiRequest, project: str) -> EventTypes:
    """All types of events that a webhook of a project can ask for."""
    return webhooks_kit.list_types(Owner.Kind.PROJECT)


@webhooks.get(_LIST, scopes=[Scope.READ], role=Role.MANAGER)
def list_webhooks(request: ApiRequest, project: str, paging: Query[PageRequest]) -> Page[WebhookOut]:
    """The webhooks of a project."""
    return webhooks_kit.list_page(_owner(request), paging)


@webhooks.post(_LIST, scopes=[Scope.ADMIN], role=Role.MANAGER, status=201, secret=True)
def create_webhook(request: ApiRequest, project: str, body: WebhookIn) -> WebhookWithSecret:
    """Send messages to an address from now on. The answer has the secret, which is shown only once."""
    return webhooks_kit.create(_owner(request), body, request.caller.user)


@webhooks.get(_ONE, scopes=[Scope.READ], role=Role.MANAGER)
def get_webhook(request: ApiRequest, project: str, webhook: int) -> WebhookOut:
    """One webhook, with the state of its delivery."""
    return webhooks_kit.describe_webhook(webhooks_kit.find_webhook(_owner(request), webhook))


@webhooks.patch(_ONE, scopes=[Scope.ADMIN], role=Role.MANAGER)
def change_webhook(request: ApiRequest, project: str, webhook: int, body: WebhookChanges) -> WebhookOut:
    """Change name, address or events."""
    return webhooks_kit.change(_owner(request), webhook, body)


@webhooks.delete(_ONE, scopes=[Scope.ADMIN], role=Role.MANAGER)
def remove_webhook(request: ApiRequest, project: str, webhook: int) -> None:
    """Remove a webhook. Waiting messages are given up; address and secret are deleted."""
    webhooks_kit.remove(_owner(request), webhook)


@webhooks.post(f"{_ONE}/pause", scopes=[Scope.ADMIN], role=Role.MANAGER)
def pause_webhook(request: ApiRequest, project: str, webhook: int) -> WebhookOut:
    """Send nothing for now. Events of the meantime are not kept for it."""
    return webhooks_kit.act(_owner(request), webhook, services.pause)


@webhooks.post(f"{_ONE}/activate", scopes=[Scope.ADMIN], role=Role.MANAGER)
def activate_webhook(request: ApiRequest, project: str, webhook: int) -> WebhookOut:
    """Send again after a pause, or after it was disabled. Messages that waited go first."""
    return webhooks_kit.act(_owner(request), webhook, services.activate)


@webhooks.post(f"{_ONE}/rotate-secret", scopes=[Scope.ADMIN], role=Role.MANAGER, secret=True)
def rotate_webhook_secret(request: ApiRequest, project: str, webhook: int) -> WebhookWithSecret:
    """Make a new secret, which is shown only once. For a day messages are signed with both."""
    return webhooks_kit.rotate(_owner(request), webhook)


@webhooks.post(f"{_ONE}/end-former-secret", scopes=[Scope.ADMIN], role=Role.MANAGER)
def end_former_webhook_secret(request: ApiRequest, project: str, webhook: int) -> WebhookOut:
    """Sign with the present secret alone from now on."""
    return webhooks_kit.act(_owner(request), webhook, services.end_former_secret)


@webhooks.post(f"{_ONE}/test", scopes=[Scope.ADMIN], role=Role.MANAGER)
def send_webhook_test(request: ApiRequest, project: str, webhook: int) -> MessageOut:
    """Send a message of the type webhook.test, behind those that wait."""
    return webhooks_kit.send_test(_owner(request), webhook)


@webhooks.get(f"{_ONE}/messages", scopes=[Scope.READ], role=Role.MANAGER)
def list_webhook_messages(
    request: ApiRequest, project: str, webhook: int, paging: Query[PageRequest], which: Query[MessageFilter]
) -> Page[MessageOut]:
    """Messages with every attempt at delivery."""
    return webhooks_kit.list_messages(_owner(request), webhook, paging, which)


@webhooks.post(f"{_ONE}/messages/{{message}}/resend", scopes=[Scope.ADMIN], role=Role.MANAGER)
def resend_webhook_message(request: ApiRequest, project: str, webhook: int, message: str) -> MessageOut:
    """Send a message again under its old id and number. It is named by `id` or `message_id`."""
    return webhooks_kit.act_on_message(_owner(request), webhook, message, services.resend)


@webhooks.post(f"{_ONE}/messages/{{message}}/skip", scopes=[Scope.ADMIN], role=Role.MANAGER)
def skip_webhook_message(request: ApiRequest, project: str, webhook: int, message: str) -> MessageOut:
    """Skip a message that waits, so that later ones are sent."""
    return webhooks_kit.act_on_message(_owner(request), webhook, message, services.skip)
