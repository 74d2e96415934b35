"""A function over many inputs, by this job and whoever helps it."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now

from core.jobs.context import JobContext
from core.jobs.models import Job, JobState, WorkerHeartbeat
from core.jobs.services import cancel, enqueue
from evaluations.models import Call, Evaluation
from evaluations.spreading import rows

P = TypeVar("P")
R = TypeVar("R")
HELP = "evaluations.help"
#: A worker process that answered within this time is counted as one that can help.
_LATELY = timedelta(minutes=5)
#: How often results of others are looked for while this job has something to compute, and while not.
_LOOK_SECONDS, _NAP_SECONDS = 1.0, 0.2
#: Parts of one statement.
_AT_ONCE = 500


class PartRunner:
    """Computes parts for the job of an evaluation, and lets other workers compute some."""

    def __init__(self, context: JobContext, evaluation: Evaluation) -> None:
        owner = context.job.lease_owner
        assert owner is not None, "a job that runs has a lease"
        self._context, self._evaluation, self._owner = context, evaluation, owner
        self._functions = rows.Functions()
        self._said = (0, 0, "")
        self._calls = 0

    def progress(self, done: int, total: int, note: str) -> None:
        """Say how far the work is as a whole; repeated while parts of it are computed."""
        self._said = (done, total, note)
        self._context.progress(done, total, note)

    def __call__(
        self, work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
    ) -> list[R]:
        """Results in the order of the parts (a `metrics.metaeval` `PartRunner`); a lone part is done here."""
        several = len(parts) > 1
        found = self.over(work, parts, ahead=len(parts), total=len(parts)) if several else map(work, parts)
        results = []
        for result in found:
            results.append(result)
            if done is not None:
                done(len(results))
        return results

    def over(
        self, function: Callable[[P], R], parts: Iterable[P], *, ahead: int, total: int = 0
    ) -> Iterator[R]:
        """Results in the order of the parts, of which at most `ahead` wait or are computed at a time.

        Raises MetricError where a part cannot be computed, LeaseLostError or StoppingError where this job is
        not to go on.
        """
        call = rows.call_of(self._evaluation, function)
        helpers = self._ask_for_help(call, total)
        try:
            yield from self._joined(call, iter(parts), ahead)
        finally:
            for key in helpers:
                if Job.objects.filter(pk=key, state=JobState.QUEUED).exists():
                    cancel(job_id=key)

    def _joined(self, call: Call, parts: Iterator[Any], ahead: int) -> Iterator[Any]:
        waiting: deque[str] = deque()
        ready: dict[str, Any] = {}
        looked = float("-inf")
        more = True
        while more or waiting:
            some = list(islice(parts, min(_AT_ONCE, ahead - len(waiting)))) if more else []
            if some:
                waiting.extend(rows.offer(call, some))
                looked = float("-inf")
                if len(waiting) < ahead:
                    continue
            elif len(waiting) < ahead:
                more = False
            if time.monotonic() - looked > _LOOK_SECONDS:
                ready |= self._collected(call, waiting, ready)
                looked = time.monotonic()
            while waiting and waiting[0] in ready:
                digest = waiting.popleft()
                yield ready[digest] if digest in waiting else ready.pop(digest)
            self._context.progress(*self._said)
            if waiting and waiting[0] not in ready:
                computed = self._compute_one(call)
                ready |= computed
                if not computed:
                    time.sleep(_NAP_SECONDS)
                    looked = float("-inf")

    def _collected(self, call: Call, waiting: deque[str], ready: dict[str, Any]) -> dict[str, Any]:
        missing = [digest for digest in waiting if digest not in ready]
        found: dict[str, Any] = {}
        for start in range(0, len(missing), _AT_ONCE):
            found |= rows.results(call, missing[start : start + _AT_ONCE])
        return found

    def _compute_one(self, call: Call) -> dict[str, Any]:
        """Compute a part that nobody has; its result by digest, empty where there was none to compute."""
        part = rows.take(self._evaluation.pk, self._owner)
        if part is None or not rows.compute(part, self._owner, self._functions):
            return {}
        return rows.results(call, [part.digest])

    def _ask_for_help(self, call: Call, total: int) -> list[int]:
        wanted = min(settings.EVALUATIONS_HELPERS, others(), total - 1 if total else others())
        payload = {"evaluation": self._evaluation.pk, "call": call.pk}
        self._calls += 1
        once = f"help:{self._owner.hex}:{self._calls}"
        return [
            enqueue(kind=HELP, payload=payload, effect=f"{once}:{number}").pk
            for number in range(max(0, wanted))
        ]


def others() -> int:
    """How many worker processes beside this one answered lately."""
    return max(0, WorkerHeartbeat.objects.filter(seen_at__gt=Now() - _LATELY).count() - 1)


def help_with(evaluation: int, owner: UUID, still_ours: Callable[[int], None]) -> int:
    """Compute parts of an evaluation until none is left; how many it were.

    `still_ours` is called between parts with the number so far, and raises what ends the help.
    """
    functions, count = rows.Functions(), 0
    while (part := rows.take(evaluation, owner)) is not None:
        count += rows.compute(part, owner, functions)
        still_ours(count)
    return count
