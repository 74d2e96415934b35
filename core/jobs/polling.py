"""Looking into the table: threads with nothing to do find jobs whose message got lost or waits elsewhere."""

import logging
import threading
from collections.abc import Callable, Hashable
from typing import Any, Protocol

from django.db import Error as DatabaseTrouble
from django.db import close_old_connections, connection

from core.jobs import runner, selectors, services, shutdown

logger = logging.getLogger(__name__)


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
        while not shutdown.stopping.is_set() and (due := selectors.due_jobs(most=1)):
            runner.run(job_id=due[0])
    finally:
        close_old_connections()
