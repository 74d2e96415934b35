"""Signals of the marketplace, sent inside the transaction of what happened."""

from django.dispatch import Signal

#: A QueuedEvent was written; `event` is the row. Sender: QueuedEvent.
event_queued = Signal()
#: A TopicDelivery was written; `delivery` is the row. Sender: TopicDelivery.
delivery_queued = Signal()
#: A worker's answer was recorded; `holding` is its row. Sender: Holding.
answer_submitted = Signal()
