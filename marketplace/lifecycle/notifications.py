"""Notifications: which events a HIT type asks for, and telling the sinks of events about them."""

from datetime import UTC, datetime

from core.extensions import parts_of
from marketplace.lifecycle.events import tell_of_hit
from marketplace.models import HIT, HITType
from marketplace.parts import EventSink

#: Events for which the end of a HIT's life must be noticed although no call asks for it.
OF_EXPIRY = frozenset({"HITExpired", "HITReviewable"})


def wants_event(hit_type: HITType, *event_types: str) -> bool:
    """Whether the type's specification is active and names one of these events; costs no query."""
    specification = hit_type.notification
    return bool(
        specification
        and specification["Active"]
        and not set(event_types).isdisjoint(specification["EventTypes"])
    )


def emit_event(event_type: str, hit: HIT, *, at: datetime, assignment_id: str = "") -> None:
    """Tell the sinks of an event of a HIT if its type wants it; the type must be loaded, a transaction open.

    Webhooks of the requester are told in any case.
    """
    tell_of_hit(event_type, hit, at=at, assignment_id=assignment_id)
    specification = hit.hit_type.notification
    if specification is None or not wants_event(hit.hit_type, event_type):
        return
    event = {
        "EventType": event_type,
        "EventTimestamp": timestamp(at),
        "HITTypeId": hit.hit_type.type_id,
        "HITId": hit.hit_id,
    }
    if assignment_id:
        event["AssignmentId"] = assignment_id
    for sink in parts_of(EventSink):
        sink.put(hit.requester, specification, event)


def timestamp(moment: datetime) -> str:
    """A moment as events carry it: UTC, whole seconds."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
