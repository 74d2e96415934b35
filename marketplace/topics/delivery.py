"""Sending messages of topics: what is due goes out, what is not taken comes again, all is written down."""

import json
import logging
import time
from datetime import datetime, timedelta

from celery import current_app
from django.db import transaction
from django.db.models import F
from kombu.exceptions import ChannelError, OperationalError

from core.outbound import AddressRefusedError, DeliveryError, Reply, post
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import Subscription, TopicDelivery
from marketplace.topics.publication import CONFIRM_WITHIN, complete, is_allowed, trusted_hosts

logger = logging.getLogger(__name__)
State = TopicDelivery.State
#: How long after each attempt that failed the next one comes; after the last of them the message is given up.
PAUSES = tuple(timedelta(seconds=each) for each in (5, 20, 60, 300, 900, 1800, *[3600] * 12))
#: Answers of the 400s that pass: another attempt may be taken.
_PASSING = frozenset({408, 425, 429})
#: Log lines of deliveries are kept so long.
KEPT = timedelta(days=14)
_LEASE = timedelta(minutes=2)
_AT_ONCE = 200
_SECONDS = 10.0
#: One round of sending ends after so long; the timer begins another.
_ROUND_SECONDS = 60.0
TASK = "notices.marketplace_topics"


def send_soon() -> None:
    """Have a worker send what is due, once this transaction is committed; the timer does where none hears."""
    transaction.on_commit(_announce, robust=True)


def _announce() -> None:
    try:
        current_app.send_task(TASK)
    except (OperationalError, ChannelError, OSError):
        logger.warning("Nobody could be told of messages to send; the timer will.", exc_info=True)


def send_due() -> int:
    """Make one attempt at every message that is due; how many were delivered.

    An endpoint that does not answer gets no further message in the same round: its others wait as long.
    """
    until, delivered, silent = time.monotonic() + _ROUND_SECONDS, 0, set[int]()
    while time.monotonic() < until:
        due = TopicDelivery.objects.filter(state=State.WAITING, due_at__lte=clock.now())
        due = due.exclude(subscription__in=silent).order_by("due_at", "pk")
        rows = list(due.select_related("subscription__topic__requester")[:_AT_ONCE])
        if not rows:
            break
        for row in rows:
            if row.subscription_id in silent or not _claim(row):
                continue
            if _attempt(row):
                delivered += 1
            elif row.state == State.WAITING:
                silent.add(row.subscription_id)
            if time.monotonic() > until:
                break
    return delivered


@transaction.atomic
def send_again(row: TopicDelivery) -> None:
    """Send a message once more as soon as possible; one that waits does not wait any longer.

    Raises Refusal where its subscription has ended or is not confirmed, or the message is on its way already.
    """
    now = clock.now()
    subscription = Subscription.objects.select_for_update(no_key=True).get(pk=row.subscription_id)
    if subscription.ended_at is not None:
        raise Refusal("NotSubscribed", "This subscription has ended; nothing is sent to it any more.")
    if subscription.confirmed_at is None and row.document["Type"] == "Notification":
        raise Refusal("NotConfirmed", "The endpoint has not confirmed its subscription.")
    waiting = TopicDelivery.objects.filter(
        subscription=subscription, message_id=row.message_id, state=State.WAITING
    )
    if not waiting.filter(pk=row.pk).update(due_at=now):
        if waiting.exists():
            raise Refusal("Waiting", "This message is on its way to the endpoint already.")
        TopicDelivery.objects.create(
            subscription=subscription,
            message_id=row.message_id,
            document=row.document,
            due_at=now,
            created_at=now,
        )
    send_soon()


def _claim(row: TopicDelivery) -> bool:
    """Take a message for one attempt; whoever dies over it loses it to the next round after the lease."""
    row.attempts += 1
    return bool(
        TopicDelivery.objects.filter(pk=row.pk, state=State.WAITING, due_at=row.due_at).update(
            attempts=F("attempts") + 1, due_at=clock.now() + _LEASE
        )
    )


def _attempt(row: TopicDelivery) -> bool:
    try:
        reply = _post(row)
    except AddressRefusedError as error:
        return _note(row, error=str(error), final=True)
    except DeliveryError as error:
        return _note(row, error=str(error))
    if reply.status < 300:
        return _note(row, status=reply.status)
    final = 400 <= reply.status < 500 and reply.status not in _PASSING
    return _note(row, status=reply.status, error=f"The endpoint answered {reply.status}.", final=final)


def _post(row: TopicDelivery) -> Reply:
    subscription, kind = row.subscription, row.document["Type"]
    host = subscription.endpoint.split("/")[2].rpartition("@")[2].partition(":")[0]
    if not is_allowed(host):
        raise AddressRefusedError(f"Messages to {host} are not allowed any more (MARKETPLACE_TOPIC_HOSTS).")
    raw = subscription.raw and kind == "Notification"
    text = row.document["Message"] if raw else json.dumps(complete(subscription, row.document), indent=2)
    headers = {
        "Content-Type": "text/plain; charset=UTF-8",
        "User-Agent": "Amazon Simple Notification Service Agent (Distillery)",
        "x-amz-sns-message-type": kind,
        "x-amz-sns-message-id": str(row.message_id),
        "x-amz-sns-topic-arn": subscription.topic.arn,
    }
    if kind == "Notification":
        headers["x-amz-sns-subscription-arn"] = subscription.arn
    if raw:
        headers["x-amz-sns-rawdelivery"] = "true"
    return post(subscription.endpoint, text.encode(), headers, trusted=trusted_hosts(), seconds=_SECONDS)


def _note(row: TopicDelivery, *, status: int | None = None, error: str = "", final: bool = False) -> bool:
    """Write down what became of an attempt, unless another one has the message by now."""
    now, due_at = clock.now(), None
    if not error:
        row.state = State.DELIVERED
    elif final or row.attempts > len(PAUSES):
        row.state = State.FAILED
    else:
        due_at = now + PAUSES[row.attempts - 1]
    TopicDelivery.objects.filter(pk=row.pk, state=State.WAITING, attempts=row.attempts).update(
        state=row.state,
        status=status,
        error=error[:500],
        due_at=due_at,
        ended_at=None if due_at else now,
    )
    return not error


def forget_old(now: datetime) -> None:
    """Old lines of the log go, and subscriptions that nobody confirmed."""
    TopicDelivery.objects.filter(created_at__lt=now - KEPT).delete()
    Subscription.objects.filter(confirmed_at=None, created_at__lt=now - CONFIRM_WITHIN).delete()
    Subscription.objects.filter(ended_at__lt=now - KEPT).delete()
