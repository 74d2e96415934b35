"""Putting events of HITs into queues and topics, and the specifications that ask for it."""

import json
import re
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.dispatch import Signal

from marketplace import clock
from marketplace.errors import Refusal, invalid_value
from marketplace.forms.loopback import is_loopback
from marketplace.heritage.models import Queue, QueuedEvent, Topic
from marketplace.heritage.topics import publish, send_soon
from marketplace.lifecycle.notifications import OF_EXPIRY, wants_event
from marketplace.models import HIT, HITType, Requester

#: A QueuedEvent was written; `event` is the row. Sender: QueuedEvent.
event_queued = Signal()


# Rows are written in the transaction of what happened: an event is there exactly when its cause was
# committed. Requesters fetch events of queues (`marketplace.heritage.sqs`); those of topics are sent to
# subscribers (`marketplace.heritage.topics`).


def put_event(requester: Requester, specification: Mapping[str, Any], event: Mapping[str, str]) -> None:
    """Queue or publish one event under a specification; a topic that was deleted meanwhile is passed over."""
    now = clock.now()
    body = json.dumps(
        {
            "EventDocVersion": specification["Version"],
            "EventDocId": uuid.uuid4().hex,
            "CustomerId": requester.customer_id,
            "Events": [event],
        }
    )
    if specification["Transport"] == "SNS":
        topic = Topic.objects.filter(arn=specification["Destination"], requester=requester).first()
        if topic is not None:
            topic.requester = requester
            publish(topic, body, subject=str(int(now.timestamp() * 1000)))
            send_soon()
        return
    row = QueuedEvent.objects.create(
        requester=requester,
        queue=specification["Destination"],
        message_id=uuid.uuid4(),
        body=body,
        sent_at=now,
        visible_at=now,
    )
    event_queued.send(QueuedEvent, event=row)


#: The versions that clients in the wild send; the message repeats it.
VERSIONS = ("2006-05-05", "2014-08-15")
MAX_DESTINATION = 255
#: Path of queues that have their address here.
OWN_QUEUE = re.compile(r"/mturk/queues/[A-Za-z0-9_-]{1,80}")


def check_specification(
    requester: Requester, specification: Mapping[str, Any], *, ping: bool = False
) -> dict[str, Any]:
    """The specification as it is kept; raises Refusal where this marketplace cannot follow it."""
    transport = specification["Transport"]
    if transport not in ("SQS", "SNS"):
        raise Refusal(
            "NotSupported",
            f"This marketplace sends no notifications by {transport}. Use the Transport SQS and fetch the "
            "messages from here, or SNS with a topic of this marketplace; nothing was changed.",
        )
    if specification["Version"] not in VERSIONS:
        raise invalid_value("Version", f"use one of {', '.join(VERSIONS)}.")
    if transport == "SNS":
        _check_topic(requester, specification["Destination"])
    else:
        check_destination(specification["Destination"])
    event_types = list(dict.fromkeys(specification["EventTypes"]))
    if not event_types:
        raise invalid_value("EventTypes", "name at least one event.")
    if "Ping" in event_types and not ping:
        raise invalid_value("EventTypes", "Ping is for SendTestEventNotification only.")
    return {
        "Destination": specification["Destination"],
        "Transport": transport,
        "Version": specification["Version"],
        "EventTypes": event_types,
    }


def _check_topic(requester: Requester, destination: str) -> None:
    if not Topic.objects.filter(arn=destination[:350], requester=requester).exists():
        raise Refusal(
            "InvalidTransportEndpoint",
            "Destination must be the ARN of a topic of yours in this marketplace; make it with CreateTopic "
            "of an SNS client that has the address of this endpoint.",
        )


def open_destination(requester: Requester, specification: Mapping[str, Any], now: datetime) -> None:
    """Make the queue of a specification, unless it names a topic or the requester has the queue already."""
    if specification["Transport"] == "SQS":
        open_queue(requester, specification["Destination"], now)


def check_destination(destination: str) -> None:
    """Raise Refusal for what cannot be the address of a queue."""
    if not is_queue(destination):
        raise Refusal(
            "InvalidTransportEndpoint",
            "Destination must be the address of a queue: an https URL of at most "
            f"{MAX_DESTINATION} characters, or a queue of this marketplace, "
            "http(s)://…/mturk/queues/NAME. Nothing is sent there; it names the queue that you read here.",
        )


def is_queue(destination: str) -> bool:
    """Whether this text can name a queue."""
    if len(destination) > MAX_DESTINATION or any(not 32 < ord(letter) < 127 for letter in destination):
        return False
    try:
        parts = urlsplit(destination)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    if not host or parts.username is not None:
        return False
    return parts.scheme == "https" or (
        parts.scheme == "http" and (is_loopback(host) or OWN_QUEUE.fullmatch(parts.path) is not None)
    )


def open_queue(requester: Requester, address: str, now: datetime) -> None:
    """Make the queue at this address, unless the requester has it already."""
    Queue.objects.get_or_create(requester=requester, address=address, defaults={"created_at": now})


def update_specification(
    *, hit_type: HITType, specification: Mapping[str, Any] | None, active: bool | None, now: datetime
) -> None:
    """Keep a new specification, or switch the present one on or off. Must run in a transaction.

    A new specification stays switched off where the old one was, unless `active` is given.
    """
    requester = hit_type.requester
    hit_type = HITType.objects.select_for_update(no_key=True).get(pk=hit_type.pk)
    if specification is None and active is None:
        raise invalid_value("Notification", "give Notification, Active or both.")
    present = hit_type.notification
    checked = present if specification is None else check_specification(requester, specification)
    if checked is None:
        raise invalid_value("Active", "this HIT type has no notification specification yet; give one.")
    if active is None:
        active = present["Active"] if present else True
    hit_type.notification = {**checked, "Active": active}
    hit_type.save(update_fields=["notification"])
    open_destination(requester, checked, now)
    if wants_event(hit_type, *OF_EXPIRY):
        HIT.objects.filter(
            hit_type=hit_type, disposed_at=None, expires_at__gt=now, expiry_watched=False
        ).update(expiry_watched=True)


#: Notifications that were not fetched are kept so long.
KEEP_EVENTS = timedelta(days=14)


def forget_events(now: datetime) -> None:
    """Delete events of queues that are too old."""
    QueuedEvent.objects.filter(sent_at__lte=now - KEEP_EVENTS).delete()
