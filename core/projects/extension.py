"""What projects add to other apps: their events to the audit log, their roles to accounts."""

from typing import Any

from core.audit.sources import AuditSource, moment
from core.extensions import Extension
from core.origin import Owner
from core.projects.models import Event
from core.projects.roles import ACCOUNT_PARTS


def _record(event: Event) -> dict[str, Any]:
    return {
        "log": Owner.Kind.PROJECT,
        "owner": event.project_id,
        "row": event.pk,
        "at": moment(event.at),
        "actor": event.actor_id,
        "action": event.action,
        "subject": event.subject,
        "details": event.details,
        "address": event.address,
        "via": event.via,
        "credential": event.credential,
        "request_id": event.request_id,
    }


def _describe(event: Event) -> dict[str, Any]:
    from core.projects.services import event_actions  # noqa: PLC0415  # it reads all extensions

    return {
        "who": event.actor.get_username() if event.actor else "",
        "what": event_actions().get(event.action, event.action),
    }


EXTENSION = Extension(
    AuditSource(Owner.Kind.PROJECT, Event, "project_id", _record, _describe, related=("actor",)),
    *ACCOUNT_PARTS,
)
