"""Jobs of this app: letters to the people on a class's list."""

from datetime import timedelta

from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext, handler
from people.models import StudyLink
from people.rosters import MAIL, send_letters


@handler(MAIL, longest=timedelta(hours=2))
def mail_roster(context: JobContext) -> dict[str, int]:
    """Send personal links, or reminders."""
    link = StudyLink.objects.select_related("project").filter(pk=context.payload["link"]).first()
    if link is None:
        raise PermanentError("The link is no longer there.")
    return {"sent": send_letters(link, reminder=bool(context.payload["reminder"]))}
