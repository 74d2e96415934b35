"""Running claimed jobs, and polling the table for jobs whose message was lost."""

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Protocol

from django.db import Error as DatabaseTrouble
from django.db import close_old_connections, connection
from django.dispatch import Signal

from core.jobs import errors, handlers, selectors, services
from core.jobs.errors import LeaseLostError, PermanentError, StoppingError
from core.jobs.handlers import JobContext
from core.jobs.models import Job
from core.jobs.spans import current_request_id, open_span, request_id_of
from core.origin import Via, arriving_by

# What other parts may want to hear of.

#: An attempt at a job ended. Arguments: kind; outcome (done, failed, released, lost); seconds.
attempt_ended = Signal()


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
        arriving_by(Via.JOB),
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
    context = JobContext(job, longest=handlers.longest_of(job.kind))
    with context.heartbeats():
        try:
            result = handlers.find(job.kind)(context)
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


# Looking into the table: threads with nothing to do find jobs whose message got lost or waits elsewhere.


class Threads(Protocol):
    """The threads that do jobs."""

    @property
    def free(self) -> int:
        """How many have nothing to do."""

    def submit(self, key: Hashable, call: Callable[[], Any]) -> Any:
        """Have one make this call, unless one with this key is there."""


class Poller:
    """A thread of a worker that looks into the table now and then, whatever becomes of the broker."""

    def __init__(self, threads: Threads, *, every: float) -> None:
        self._threads, self._every = threads, every
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="jobs-poll", daemon=True)

    def start(self) -> None:
        """Look from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def look(self) -> None:
        """Have free threads do the jobs that are due; show that this worker runs."""
        services.worker_polled(name=services.worker_name())
        if not (free := self._threads.free):
            return
        for number in range(min(free, len(selectors.due_jobs(most=free)))):
            self._threads.submit(("poll", number), run_due)

    def _run(self) -> None:
        while not self._stopped.wait(self._every):
            try:
                self.look()
            except DatabaseTrouble:
                logger.warning("The table of jobs could not be read.", exc_info=True)
            finally:
                connection.close()


def run_due() -> None:
    """Do the jobs that are due, one after another, until none is left or this worker stops."""
    close_old_connections()
    try:
        while not errors.stopping.is_set() and (due := selectors.due_jobs(most=1)):
            run(job_id=due[0])
    finally:
        close_old_connections()
