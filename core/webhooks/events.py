"""What webhooks tell of: types of events, and messages that are written in the transaction of their cause.

Apps bring their types as parts of their extensions:

    EventType("stage.opened", "A stage was opened", Owner.Kind.PROJECT, actions=("stage.opened",))

An event of a project's log whose action a type names is told by itself (`core.projects.services.record`);
everything else calls `emit`.

What no single change causes, because it grows, is looked at now and then and told step by step. Apps bring
what to look at as parts of their extensions, and look only at owners who ask for the type:

    StepWatch("stage.progress", Owner.Kind.PROJECT, progress_steps)
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from core.errors import logged_failure
from core.extensions import parts_of
from core.origin import Owner
from core.webhooks.models import Webhook, WebhookMark, WebhookMessage

logger = logging.getLogger(__name__)

#: What "send a test" sends, to one webhook, whatever it asks for.
TEST = "webhook.test"


@dataclass(frozen=True, slots=True)
class EventType:
    """A type of events: its name on the wire, words for people, and whose webhooks may ask for it.

    `actions` are the actions of a project's log that it tells of: then `subject` is what their subject is
    called in the data, `ids` are the details that go along, and `page` names the address of the page, which
    takes the project's slug and the subject.
    """

    name: str
    label: str
    owner_kind: str
    actions: tuple[str, ...] = ()
    subject: str = "subject"
    ids: tuple[str, ...] = ()
    page: str = ""


@cache
def event_types(owner_kind: str) -> Mapping[str, EventType]:
    """The types that webhooks of this kind of owner can ask for, by name."""
    return {each.name: each for each in parts_of(EventType) if each.owner_kind == owner_kind}


@cache
def _by_action() -> Mapping[str, EventType]:
    return {
        action: each
        for each in parts_of(EventType)
        if each.owner_kind == Owner.Kind.PROJECT
        for action in each.actions
    }


Data = Mapping[str, Any] | Callable[[], Mapping[str, Any]]


def emit(owner: Owner, event_type: str, data: Data, *, at: datetime | None = None) -> int:
    """Write a message for every active webhook of the owner that asks for this type; how many.

    Called in the transaction of what happened, so a message is there exactly when its cause is. `data` has
    ids and addresses only: who receives it asks for the rest with their own rights. It may be a function,
    which is called where a webhook asks.
    """
    if event_type not in event_types(owner.kind):
        raise ValueError(f"{event_type!r} is no type of events of a {owner.kind}.")
    asking = [pk for pk, events in _active_webhooks(owner) if event_type in events]
    if asking:
        moment, payload = at or timezone.now(), data() if callable(data) else data
        WebhookMessage.objects.bulk_create(
            WebhookMessage(webhook_id=pk, type=event_type, at=moment, data=dict(payload)) for pk in asking
        )
    return len(asking)


def asks_for(owner: Owner, types: frozenset[str]) -> bool:
    """Whether an active webhook of the owner asks for one of these types."""
    return any(not types.isdisjoint(events) for _, events in _active_webhooks(owner))


def _active_webhooks(owner: Owner) -> QuerySet[Webhook, tuple[int, list[str]]]:
    """Keys of an owner's webhooks that are sent to, with the types of events that each asks for."""
    active = Webhook.objects.filter(
        owner_kind=owner.kind, owner_id=owner.pk, removed_at=None, state=Webhook.State.ACTIVE
    )
    return active.values_list("pk", "events")


def emit_action(project: int, slug: str, action: str, subject: str, details: Mapping[str, Any]) -> int:
    """Tell of an event of a project's log, if a type names its action."""
    event_type = _by_action().get(action)
    if event_type is None:
        return 0
    data = {"project": slug, event_type.subject: subject}
    data |= {name: details[name] for name in event_type.ids if name in details}
    if event_type.page:
        with suppress(NoReverseMatch):  # a subject that no address takes
            data["address"] = page_address(reverse(event_type.page, args=[slug, subject]))
    return emit(Owner(Owner.Kind.PROJECT, project), event_type.name, data)


@transaction.atomic
def emit_step(owner: Owner, event_type: str, key: str, value: int, data: Mapping[str, Any]) -> int:
    """Tell of a step of something that grows, once: nothing where this step or a later one was told."""
    mark, is_new = WebhookMark.objects.select_for_update().get_or_create(
        owner_kind=owner.kind, owner_id=owner.pk, key=key, defaults={"value": value}
    )
    if not is_new:
        if mark.value >= value:
            return 0
        WebhookMark.objects.filter(pk=mark.pk).update(value=value)
    return emit(owner, event_type, data)


def page_address(path: str) -> str:
    """A page of this installation as receivers can open it."""
    return f"{settings.PUBLIC_URL or settings.TASK_URL}{path}"


# Steps of what grows.


@dataclass(frozen=True, slots=True)
class Step:
    """How far something is: told where `value` is higher than what was told under this key."""

    owner: int
    key: str
    value: int
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StepWatch:
    """Finds the steps of one type, for these owners of its kind, in a fixed number of queries."""

    event_type: str
    owner_kind: str
    find: Callable[[Collection[int], datetime], Iterable[Step]]


def tell_steps(now: datetime) -> int:
    """Ask all watches and tell what is new; how many messages were written."""
    count = 0
    asking = list(
        Webhook.objects.filter(removed_at=None, state=Webhook.State.ACTIVE).values_list(
            "owner_kind", "owner_id", "events"
        )
    )
    for watch in parts_of(StepWatch):
        owners = {
            pk for kind, pk, events in asking if kind == watch.owner_kind and watch.event_type in events
        }
        if not owners:
            continue
        with logged_failure(logger, "The watch %s of webhooks", watch.event_type):
            for step in watch.find(owners, now):
                owner = Owner(watch.owner_kind, step.owner)
                count += emit_step(owner, watch.event_type, step.key, step.value, step.data)
    return count
