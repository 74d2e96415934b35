"""Cancelling a job from a page."""

from django.http import HttpRequest, HttpResponse

from crowd.desk.doors import NotEnteredError, Seat, run_action
from jobs.models import Job
from jobs.services import cancel


def cancel_and_say(
    request: HttpRequest, seat: Seat, job: Job, *, what: str, left: str, then: str
) -> HttpResponse:
    """Cancel a job that waits or runs and show its page, `then`.

    what: "The import"; left: a sentence about what stays of its work.
    """

    def action() -> str:
        if not cancel(job_id=job.pk):
            raise NotEnteredError(f"{what} came to its end before it could be cancelled.")
        return f"{what} is cancelled. {left}"

    return run_action(request, action, then, seat.project.slug, job.pk)
