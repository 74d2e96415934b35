"""Runs one claimed job, and puts on the record how that ended."""

import logging
import time

from core.jobs import registry, services
from core.jobs.context import JobContext
from core.jobs.errors import LeaseLostError, PermanentError, StoppingError
from core.jobs.models import Job
from core.jobs.requestids import current_request_id, request_id_of
from core.jobs.signals import attempt_ended
from core.jobs.spans import open_span

logger = logging.getLogger(__name__)

#: Why a job fails for good that memory ended: another attempt would take as much from the jobs beside it.
TOO_MUCH_MEMORY = "It takes more memory than there is. Nothing was changed; give it less at once."


def run(*, job_id: int) -> None:
    """Claim the job and make one attempt at it; nothing happens if it is not to be had."""
    job = services.claim(job_id=job_id)
    if job is None:
        return
    started = time.monotonic()
    with (
        request_id_of(job.request_id or current_request_id() or f"job-{job.pk}"),
        open_span(
            f"job {job.kind}", **{"distillery.job": job.pk, "distillery.attempt": job.attempts}
        ) as note,
    ):
        outcome = _attempt(job)
        note("job.outcome", outcome)
    attempt_ended.send(Job, kind=job.kind, outcome=outcome, seconds=time.monotonic() - started)


def _attempt(job: Job) -> str:
    """Do it once; how that ended."""
    context = JobContext(job, longest=registry.longest_of(job.kind))
    with context.heartbeats():
        try:
            result = registry.find(job.kind)(context)
            if not context.committed:
                services.finish(job=job, result=result)
        except LeaseLostError as lost:
            logger.warning("%s", lost)
            return "lost"
        except StoppingError:
            services.release(job=job)
            return "released"
        except PermanentError as error:
            services.fail(job=job, error=str(error), permanent=True)
            return "failed"
        except MemoryError:
            logger.exception("%s took more memory than there is.", job)
            services.fail(job=job, error=TOO_MUCH_MEMORY, permanent=True)
            return "failed"
        except Exception as error:  # the border of a job: its handler is code of any app; the row says why
            logger.exception("%s failed in attempt %s of %s.", job, job.attempts, job.max_attempts)
            services.fail(job=job, error=f"{type(error).__name__}: {error}")
            return "failed"
    return "done"
