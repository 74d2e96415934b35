"""Cancelling a job from a page."""

from django.http import HttpRequest, HttpResponse

from core.jobs.models import Job
from core.jobs.services import cancel
from web.access import ProjectAccess
from web.forms import FormError, run_action


def cancel_and_say(
    request: HttpRequest, access: ProjectAccess, job: Job, *, what: str, left: str, then: str
) -> HttpResponse:
    """Cancel a job that waits or runs and show its page, `then`.

    what: "The import"; left: a sentence about what stays of its work.
    """

    def action() -> str:
        if not cancel(job_id=job.pk):
            raise FormError(f"{what} came to its end before it could be cancelled.")
        return f"{what} is cancelled. {left}"

    return run_action(request, action, then, access.project.slug, job.pk)
