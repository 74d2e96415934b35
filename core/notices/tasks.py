"""The app's two timers. They are apart: a mail server that hangs holds up no look."""

from celery import shared_task
from django.utils import timezone

from core.notices.conditions import look
from core.notices.letters import post_office


@shared_task(name="notices.look")
def look_task() -> None:
    """Raise and end notices by the rules of all apps."""
    look(timezone.now())


@shared_task(name="notices.deliver")
def deliver_task() -> None:
    """Send the letters that wait."""
    post_office().deliver(timezone.now())
