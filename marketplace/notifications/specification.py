"""Notification specifications: what one may ask for, and keeping it with a HIT type."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from marketplace.errors import Refusal, invalid_value
from marketplace.loopback import is_loopback
from marketplace.models import HIT, HITType, Queue, Requester
from marketplace.notifications.events import OF_EXPIRY, wants

#: The versions that clients in the wild send; the message repeats it.
VERSIONS = ("2006-05-05", "2014-08-15")
MAX_DESTINATION = 255
#: Path of queues that have their address here.
OWN_QUEUE = re.compile(r"/mturk/queues/[A-Za-z0-9_-]{1,80}")


def checked(specification: Mapping[str, Any], *, ping: bool = False) -> dict[str, Any]:
    """The specification as it is kept; raises Refusal where this marketplace cannot follow it."""
    if specification["Transport"] != "SQS":
        raise Refusal(
            "NotSupported",
            f"This marketplace sends nothing by {specification['Transport']}, and nothing to other machines. "
            "Use the Transport SQS and fetch the messages from here; nothing was changed.",
        )
    if specification["Version"] not in VERSIONS:
        raise invalid_value("Version", f"use one of {', '.join(VERSIONS)}.")
    check_destination(specification["Destination"])
    event_types = list(dict.fromkeys(specification["EventTypes"]))
    if not event_types:
        raise invalid_value("EventTypes", "name at least one event.")
    if "Ping" in event_types and not ping:
        raise invalid_value("EventTypes", "Ping is for SendTestEventNotification only.")
    return {
        "Destination": specification["Destination"],
        "Transport": "SQS",
        "Version": specification["Version"],
        "EventTypes": event_types,
    }


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


def update(
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
    wanted = present if specification is None else checked(specification)
    if wanted is None:
        raise invalid_value("Active", "this HIT type has no notification specification yet; give one.")
    if active is None:
        active = present["Active"] if present else True
    hit_type.notification = {**wanted, "Active": active}
    hit_type.save(update_fields=["notification"])
    open_queue(requester, wanted["Destination"], now)
    if wants(hit_type, *OF_EXPIRY):
        HIT.objects.filter(
            hit_type=hit_type, disposed_at=None, expires_at__gt=now, expiry_watched=False
        ).update(expiry_watched=True)
