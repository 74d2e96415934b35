"""The app's two timers, and letters to accounts. A mail server that hangs holds up no look."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from core.jobs.handlers import JobContext, handler
from core.notices import letters
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


@handler(letters.ACCOUNT_LETTER, longest=timedelta(hours=1))
def send_account_letter(context: JobContext) -> None:
    """A letter to a person with an account."""
    letters.send_letter(context.payload["letter"])
