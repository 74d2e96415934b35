"""Taking notifications out of a requester's queue: receive, hide for a while, delete."""

import threading
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from marketplace import clock
from marketplace.models import Queue, QueuedEvent, Requester
from marketplace.sqs.errors import invalid_handle, no_queue

#: However long a client wants to wait for a message, a thread of the server waits no longer.
WAIT_AT_MOST = 5.0
_LOOK_EVERY = 0.25
#: So many threads of a process may wait at a time; for further clients one look later is the end of it.
_places = threading.BoundedSemaphore(2)


def receive(
    *, requester: Requester, queue: str, most: int, hidden_s: int, wait_s: float
) -> list[QueuedEvent]:
    """Up to `most` messages, the oldest first, hidden from others for `hidden_s` seconds.

    Waits up to `wait_s` seconds (WAIT_AT_MOST) for the first one. Raises QueueError where there is no such
    queue.
    """
    if not exists(requester, queue):
        raise no_queue(queue)

    def take() -> list[QueuedEvent]:
        return _take(requester, queue, most, hidden_s)

    return take() or (_wait(take, min(wait_s, WAIT_AT_MOST)) if wait_s else [])


def _wait(take: Callable[[], list[QueuedEvent]], seconds: float) -> list[QueuedEvent]:
    has_place = _places.acquire(blocking=False)
    try:
        end = time.monotonic() + (seconds if has_place else _LOOK_EVERY)
        while time.monotonic() < end:
            time.sleep(_LOOK_EVERY)
            if found := take():
                return found
        return []
    finally:
        if has_place:
            _places.release()


def exists(requester: Requester, queue: str) -> bool:
    """Whether the requester has a queue at this address."""
    return Queue.objects.filter(requester=requester, address=queue).exists()


def _take(requester: Requester, queue: str, most: int, hidden_s: int) -> list[QueuedEvent]:
    now = clock.now()
    if not _visible(requester, queue, now).exists():
        return []
    with transaction.atomic():
        rows = list(
            _visible(requester, queue, now)
            .select_for_update(skip_locked=True)
            .order_by("visible_at", "id")[:most]
        )
        for row in rows:
            row.visible_at = now + timedelta(seconds=hidden_s)
            row.receipt = uuid.uuid4()
            row.received_count += 1
            row.first_received_at = row.first_received_at or now
        QueuedEvent.objects.bulk_update(
            rows, ["visible_at", "receipt", "received_count", "first_received_at"]
        )
    return rows


def _visible(requester: Requester, queue: str, now: datetime) -> QuerySet[QueuedEvent]:
    return QueuedEvent.objects.filter(requester=requester, queue=queue, visible_at__lte=now)


def handle(row: QueuedEvent) -> str:
    """The receipt handle of a message that was just received."""
    assert row.receipt is not None
    return f"{row.message_id.hex}.{row.receipt.hex}"


def delete(*, requester: Requester, queue: str, receipt_handle: str) -> None:
    """Delete a received message; once more, or after somebody else has received it, changes nothing."""
    message_id, _, receipt = receipt_handle.partition(".")
    try:
        message, latest = uuid.UUID(hex=message_id), uuid.UUID(hex=receipt)
    except ValueError as error:
        raise invalid_handle() from error
    QueuedEvent.objects.filter(requester=requester, queue=queue, message_id=message, receipt=latest).delete()
