"""Webhooks of a project: where messages about it go, and what became of them."""

from ninja import Query

from core.api.models import Scope
from core.origin import Owner
from core.webhooks import services
from web.api import webhooks as kit
from web.api.access import ApiRequest, Role, project_access
from web.api.pages import Page, PageRequest
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

webhooks = Resource("Webhooks")
_LIST, _ONE = "/projects/{project}/webhooks", "/projects/{project}/webhooks/{int:webhook}"


def _owner(request: ApiRequest) -> Owner:
    return Owner(Owner.Kind.PROJECT, project_access(request).project.pk)


@webhooks.get(f"{_LIST}/event-types", scopes=[Scope.READ], role=Role.MANAGER)
def list_event_types(request: ApiRequest, project: str) -> EventTypes:
    """All types of events that a webhook of a project can ask for."""
    return kit.list_types(Owner.Kind.PROJECT)


@webhooks.get(_LIST, scopes=[Scope.READ], role=Role.MANAGER)
def list_webhooks(request: ApiRequest, project: str, paging: Query[PageRequest]) -> Page[WebhookOut]:
    """The webhooks of a project."""
    return kit.list_page(_owner(request), paging)


@webhooks.post(_LIST, scopes=[Scope.ADMIN], role=Role.MANAGER, status=201, secret=True)
def create_webhook(request: ApiRequest, project: str, body: WebhookIn) -> WebhookWithSecret:
    """Have messages sent to an address from now on. The answer has the secret, which is shown this once."""
    return kit.create(_owner(request), body, request.caller.user)


@webhooks.get(_ONE, scopes=[Scope.READ], role=Role.MANAGER)
def get_webhook(request: ApiRequest, project: str, webhook: int) -> WebhookOut:
    """One webhook, and how its delivery does."""
    return kit.describe_webhook(kit.find_webhook(_owner(request), webhook))


@webhooks.patch(_ONE, scopes=[Scope.ADMIN], role=Role.MANAGER)
def change_webhook(request: ApiRequest, project: str, webhook: int, body: WebhookChanges) -> WebhookOut:
    """Change name, address or events."""
    return kit.change(_owner(request), webhook, body)


@webhooks.delete(_ONE, scopes=[Scope.ADMIN], role=Role.MANAGER)
def remove_webhook(request: ApiRequest, project: str, webhook: int) -> None:
    """Remove a webhook. Waiting messages are given up; address and secret are deleted."""
    kit.remove(_owner(request), webhook)


@webhooks.post(f"{_ONE}/pause", scopes=[Scope.ADMIN], role=Role.MANAGER)
def pause_webhook(request: ApiRequest, project: str, webhook: int) -> WebhookOut:
    """Send nothing for now. Events of the meantime are not kept for it."""
    return kit.act(_owner(request), webhook, services.pause)


@webhooks.post(f"{_ONE}/activate", scopes=[Scope.ADMIN], role=Role.MANAGER)
def activate_webhook(request: ApiRequest, project: str, webhook: int) -> WebhookOut:
    """Send again after a pause, or after it was disabled. Messages that waited go first."""
    return kit.act(_owner(request), webhook, services.activate)


@webhooks.post(f"{_ONE}/rotate-secret", scopes=[Scope.ADMIN], role=Role.MANAGER, secret=True)
def rotate_webhook_secret(request: ApiRequest, project: str, webhook: int) -> WebhookWithSecret:
    """Make a new secret, shown this once. For a day messages are signed with both."""
    return kit.rotate(_owner(request), webhook)


@webhooks.post(f"{_ONE}/end-former-secret", scopes=[Scope.ADMIN], role=Role.MANAGER)
def end_former_webhook_secret(request: ApiRequest, project: str, webhook: int) -> WebhookOut:
    """Sign with the present secret alone from now on."""
    return kit.act(_owner(request), webhook, services.end_former_secret)


@webhooks.post(f"{_ONE}/test", scopes=[Scope.ADMIN], role=Role.MANAGER)
def send_webhook_test(request: ApiRequest, project: str, webhook: int) -> MessageOut:
    """Send a message of the type webhook.test, behind those that wait."""
    return kit.send_test(_owner(request), webhook)


@webhooks.get(f"{_ONE}/messages", scopes=[Scope.READ], role=Role.MANAGER)
def list_webhook_messages(
    request: ApiRequest, project: str, webhook: int, paging: Query[PageRequest], which: Query[MessageFilter]
) -> Page[MessageOut]:
    """Messages with every attempt at delivery."""
    return kit.list_messages(_owner(request), webhook, paging, which)


@webhooks.post(f"{_ONE}/messages/{{message}}/resend", scopes=[Scope.ADMIN], role=Role.MANAGER)
def resend_webhook_message(request: ApiRequest, project: str, webhook: int, message: str) -> MessageOut:
    """Send a message again under its old id and number. It is named by `id` or `message_id`."""
    return kit.act_on_message(_owner(request), webhook, message, services.resend)


@webhooks.post(f"{_ONE}/messages/{{message}}/skip", scopes=[Scope.ADMIN], role=Role.MANAGER)
def skip_webhook_message(request: ApiRequest, project: str, webhook: int, message: str) -> MessageOut:
    """Give up a message that waits, so that those behind it go on."""
    return kit.act_on_message(_owner(request), webhook, message, services.skip)
