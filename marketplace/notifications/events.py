"""Putting an event into the queue that a HIT type's notification specification names.

The row is written in the transaction of what happened: an event is in the queue exactly when its cause was
committed. Nothing is ever sent anywhere; requesters fetch their events (`marketplace.sqs`).
"""

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from marketplace import clock
from marketplace.models import HIT, HITType, QueuedEvent, Requester
from marketplace.signals import event_queued

#: Events for which the end of a HIT's life must be noticed even where nobody looks.
OF_EXPIRY = frozenset({"HITExpired", "HITReviewable"})


def wants(hit_type: HITType, *event_types: str) -> bool:
    """Whether the type's specification is active and names one of these events; costs no query."""
    specification = hit_type.notification
    return bool(
        specification
        and specification["Active"]
        and not set(event_types).isdisjoint(specification["EventTypes"])
    )


def emit(event_type: str, hit: HIT, *, at: datetime, assignment_id: str = "") -> None:
    """Queue an event of a HIT if its type wants it; the type must be loaded, a transaction open."""
    specification = hit.hit_type.notification
    if specification is None or not wants(hit.hit_type, event_type):
        return
    event = {
        "EventType": event_type,
        "EventTimestamp": timestamp(at),
        "HITTypeId": hit.hit_type.type_id,
        "HITId": hit.hit_id,
    }
    if assignment_id:
        event["AssignmentId"] = assignment_id
    put(hit.requester, specification, event)


def put(requester: Requester, specification: Mapping[str, Any], event: Mapping[str, str]) -> None:
    """Queue one event under a specification."""
    now = clock.now()
    body = json.dumps(
        {
            "EventDocVersion": specification["Version"],
            "EventDocId": uuid.uuid4().hex,
            "CustomerId": requester.customer_id,
            "Events": [event],
        }
    )
    row = QueuedEvent.objects.create(
        requester=requester,
        queue=specification["Destination"],
        message_id=uuid.uuid4(),
        body=body,
        sent_at=now,
        visible_at=now,
    )
    event_queued.send(QueuedEvent, event=row)


def timestamp(moment: datetime) -> str:
    """A moment as events carry it: UTC, whole seconds."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
