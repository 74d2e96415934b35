"""Runs one claimed job: heartbeats while it works, the effect under the lease, errors on the record."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings

from jobs import registry, services
from jobs.errors import LeaseLostError, PermanentError, StoppingError
from jobs.heartbeats import heartbeats
from jobs.models import Job
from jobs.requestids import current_request_id, request_id_of
from jobs.shutdown import stopping
from jobs.signals import attempt_ended
from jobs.spans import open_span

logger = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.5
LEAST_PAUSE_SECONDS = 0.1
#: Why a job fails for good that memory ended: another attempt would take as much from the jobs beside it.
TOO_MUCH_MEMORY = "It takes more memory than there is. Nothing was changed; give it less at once."

#: So long after its time is over a handler has to notice that its job is no longer its own.
HANG_SECONDS = 60
#: What a worker does about a handler that does not notice; other processes do nothing.
on_hang: Callable[[], None] | None = None


class JobContext:
    """What a handler knows about its job, and how it reports."""

    def __init__(self, job: Job, *, longest: timedelta | None = None) -> None:
        self.job = job
        self.longest = longest
        self.payload: dict[str, Any] = job.payload
        self.attempt: int = job.attempts
        self.committed = False
        self._lost = threading.Event()
        self._reported_at = 0.0
        self._ends_at: float | None = None

    def progress(self, done: int, total: int = 0, note: str = "") -> None:
        """Say how far the work is; call it often.

        Raises what ends the attempt here: LeaseLostError if the job is another worker's by now or cancelled,
        StoppingError if this worker is asked to stop.
        """
        if self._lost.is_set():
            raise LeaseLostError(f"{self.job} is no longer this attempt's.")
        if stopping.is_set():
            raise StoppingError(f"{self.job} goes back to the queue: the worker stops.")
        if done != total and time.monotonic() - self._reported_at < PROGRESS_SECONDS:
            return
        self._reported_at = time.monotonic()
        if not services.report_progress(job=self.job, done=done, total=total, note=note):
            raise LeaseLostError(f"{self.job} is no longer this attempt's.")

    def commit(self, effect: Callable[[], Any]) -> Any:
        """Run `effect` and mark the job done in one transaction; the end of the handler's work.

        What `effect` changes in the database happens exactly once, whatever dies when. What it returns
        becomes the job's result, so it must fit into JSON.
        """
        if self.committed:
            raise RuntimeError(f"{self.job} was committed already; a job has one effect.")
        result = services.finish(job=self.job, effect=effect)
        self.committed = True
        return result

    def heartbeats(self) -> contextlib.AbstractContextManager[None]:
        """Extend the lease from a thread of its own as long as the block runs, and may run."""
        self._ends_at = None if self.longest is None else time.monotonic() + self.longest.total_seconds()
        return heartbeats(
            self._renew, every=self._pause, name=f"heartbeat of {self.job}", after=self._after_the_last
        )

    @property
    def _is_overlong(self) -> bool:
        return self._ends_at is not None and time.monotonic() >= self._ends_at

    def _pause(self) -> float:
        pause = settings.JOBS_LEASE_SECONDS / 3
        return (
            pause
            if self._ends_at is None
            else min(pause, max(LEAST_PAUSE_SECONDS, self._ends_at - time.monotonic()))
        )

    def _renew(self) -> bool:
        if self._is_overlong:
            assert self.longest is not None
            if services.end_overlong(job=self.job, longest=self.longest):
                logger.error("%s ran longer than its kind may and was ended.", self.job)
            self._lost.set()
        elif not services.heartbeat(job=self.job):
            self._lost.set()
        return not self._lost.is_set()

    def _after_the_last(self, ended: threading.Event) -> None:
        """An overlong handler that does not notice occupies its thread for ever."""
        if self._is_overlong and on_hang is not None and not ended.wait(HANG_SECONDS):
            logger.critical(
                "The handler of %s hangs; this worker ends, which alone ends its thread.", self.job
            )
            on_hang()


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
        except Exception as error:
            logger.exception("%s failed in attempt %s of %s.", job, job.attempts, job.max_attempts)
            services.fail(job=job, error=f"{type(error).__name__}: {error}")
            return "failed"
    return "done"
