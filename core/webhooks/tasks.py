"""The timer of webhooks: each webhook with something to send gets a task of its own in their queue."""

from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from core.webhooks.delivery import deliver, due_webhooks, tell_makers
from core.webhooks.events import tell_steps
from core.webhooks.models import WebhookMessage

_AT_ONCE = 2_000


@shared_task(name="webhooks.look")
def look() -> None:
    """Every few seconds: who has something to send."""
    for pk in due_webhooks(timezone.now()):
        deliver_task.delay(pk)


@shared_task(name="webhooks.deliver")
def deliver_task(webhook: int) -> None:
    """One turn of one webhook."""
    deliver(webhook)


@shared_task(name="webhooks.steps")
def steps_task() -> None:
    """Every minute: tell of what grew, and write to those whose webhooks were disabled."""
    tell_steps(timezone.now())
    tell_makers(timezone.now())


def prune() -> int:
    """Delete messages and their attempts that ended longer ago than logs are kept; how many messages."""
    if not settings.LOGS_KEPT_DAYS:
        return 0
    old = WebhookMessage.objects.filter(ended_at__lt=timezone.now() - timedelta(days=settings.LOGS_KEPT_DAYS))
    gone = 0
    while keys := list(old.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE]):
        WebhookMessage.objects.filter(pk__in=keys).delete()
        gone += len(keys)
    return gone
