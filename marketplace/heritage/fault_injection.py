"""Faults on request: events that come twice."""

import uuid
from typing import Any

from marketplace.heritage.models import QueuedEvent, TopicDelivery
from marketplace.heritage.notifications import event_queued
from marketplace.heritage.topics import delivery_queued
from marketplace.protocol import testcontrols


def connect_receivers() -> None:
    """Duplicate events where asked for, in every process of this installation."""
    event_queued.connect(_duplicate_event, dispatch_uid="marketplace.fault_injection")
    delivery_queued.connect(_duplicate_delivery, dispatch_uid="marketplace.fault_injection")


def _duplicate_event(sender: type[QueuedEvent], *, event: QueuedEvent, **_: Any) -> None:
    """Queue the event a second time, with the same EventDocId."""
    if testcontrols.faults_for(event.requester_id).duplicate_events:
        QueuedEvent.objects.create(
            requester_id=event.requester_id,
            queue=event.queue,
            message_id=uuid.uuid4(),
            body=event.body,
            sent_at=event.sent_at,
            visible_at=event.visible_at,
        )


def _duplicate_delivery(sender: type[TopicDelivery], *, delivery: TopicDelivery, **_: Any) -> None:
    """Send the message a second time."""
    if testcontrols.faults_for(delivery.subscription.topic.requester_id).duplicate_events:
        TopicDelivery.objects.create(
            subscription=delivery.subscription,
            message_id=delivery.message_id,
            document=delivery.document,
            due_at=delivery.due_at,
            created_at=delivery.created_at,
        )
