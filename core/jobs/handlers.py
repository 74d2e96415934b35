"""Handlers of jobs: which function does which kind, and what it knows about its job while it works.

An app registers its handlers in its `tasks` module:

    @handler("judgments.filter", longest=timedelta(hours=6))
    def apply_filters(context: JobContext) -> int:
        ...
        context.commit(lambda: store(run))
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import connection
from django.utils.module_loading import autodiscover_modules

from core.jobs import services
from core.jobs.errors import LeaseLostError, StoppingError, stopping
from core.jobs.models import Job

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def heartbeats(
    renew: Callable[[], bool],
    *,
    every: Callable[[], float],
    name: str,
    after: Callable[[threading.Event], None],
) -> Iterator[None]:
    """Call `renew` after `every()` seconds, again and again, until the block ends or it returns False.

    `after` is called then, in the same thread, with the event that the end of the block sets. A database that
    does not answer is asked again at the next time.
    """
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(every()):
            try:
                if not renew():
                    after(ended)
                    return
            except DatabaseTrouble:
                logger.warning("The %s failed once.", name, exc_info=True)
            finally:
                connection.close()

    thread = threading.Thread(target=beat, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


PROGRESS_SECONDS = 0.5
LEAST_PAUSE_SECONDS = 0.1

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


Handler = Callable[[JobContext], Any]
#: How long an attempt may take where its kind says nothing.
LONGEST = timedelta(hours=6)
_handlers: dict[str, Handler] = {}
_longest: dict[str, timedelta] = {}


def handler(kind: str, *, longest: timedelta | None = None) -> Callable[[Handler], Handler]:
    """Register the decorated function for jobs of this kind; an attempt that takes `longest` is ended."""

    def register(function: Handler) -> Handler:
        # A module that is imported a second time under its name, as tests do, brings its handler again.
        registered = _handlers.setdefault(kind, function)
        if (registered.__module__, registered.__qualname__) != (function.__module__, function.__qualname__):
            raise ValueError(f"Jobs of kind {kind!r} already have the handler {registered.__qualname__}.")
        _handlers[kind] = function
        if longest is not None:
            _longest[kind] = longest
        return function

    return register


def find(kind: str) -> Handler:
    """Handler of this kind, looked for in every app's `tasks` module; LookupError if there is none."""
    if kind not in _handlers:
        autodiscover_modules("tasks")
    try:
        return _handlers[kind]
    except KeyError as error:
        raise LookupError(f"This worker has no handler for jobs of kind {kind!r}.") from error


def longest_of(kind: str) -> timedelta:
    """How long an attempt at a job of this kind may take."""
    with contextlib.suppress(LookupError):
        find(kind)
    return _longest.get(kind, LONGEST)
