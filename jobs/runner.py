"""Runs one claimed job: heartbeats while it works, the effect under the lease, errors on the record."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import connection

from jobs import registry, services
from jobs.errors import LeaseLostError, PermanentError, StoppingError
from jobs.models import Job
from jobs.requestids import current_request_id, request_id_of
from jobs.signals import attempt_ended

logger = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.5
#: Why a job fails for good that memory ended: another attempt would take as much from the jobs beside it.
TOO_MUCH_MEMORY = "It takes more memory than there is. Nothing was changed; give it less at once."

# Set when the worker process is asked to stop; jobs see it at their next word about progress.
stopping = threading.Event()


class JobContext:
    """What a handler knows about its job, and how it reports."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.payload: dict[str, Any] = job.payload
        self.attempt: int = job.attempts
        self.committed = False
        self._lost = threading.Event()
        self._reported_at = 0.0

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

    @contextlib.contextmanager
    def heartbeats(self) -> Iterator[None]:
        """Extend the lease from a thread of its own as long as the block runs."""
        ended = threading.Event()
        name = f"heartbeat-{self.job.pk}"
        thread = threading.Thread(target=self._beat, args=[ended], name=name, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _beat(self, ended: threading.Event) -> None:
        while not ended.wait(settings.JOBS_LEASE_SECONDS / 3):
            try:
                if not services.heartbeat(job=self.job):
                    self._lost.set()
                    return
            except DatabaseTrouble:
                logger.warning("The heartbeat of %s failed once.", self.job, exc_info=True)
            finally:
                connection.close()


def run(*, job_id: int) -> None:
    """Claim the job and make one attempt at it; nothing happens if it is not to be had."""
    job = services.claim(job_id=job_id)
    if job is None:
        return
    started = time.monotonic()
    with request_id_of(job.request_id or current_request_id()):
        outcome = _attempt(job)
    attempt_ended.send(Job, kind=job.kind, outcome=outcome, seconds=time.monotonic() - started)


def _attempt(job: Job) -> str:
    """Do it once; how that ended."""
    context = JobContext(job)
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
