"""Runs load in processes of its own, so that the generator's interpreter lock is not what is measured."""

import multiprocessing
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.context import ForkProcess
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from queue import Empty
from statistics import median, quantiles
from threading import BrokenBarrierError
from typing import Any

#: What one process is told.
Job = dict[str, Any]

_fork = multiprocessing.get_context("fork")


@dataclass
class Result:
    """What one process, or all of them together, saw."""

    done: int = 0
    refused: int = 0
    seconds: float = 0.0
    #: Seconds of the processor that the load itself took; it shares the cores with what is measured.
    processor: float = 0.0
    #: Milliseconds per step, by the step's name.
    times: dict[str, list[float]] = field(default_factory=dict)
    #: The first words of what went wrong.
    troubles: list[str] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Rate over the time that the slowest process took."""
        return self.done / self.seconds if self.seconds else 0.0

    def add(self, step: str, started: float) -> float:
        """Note that a step which began at `started` has just ended; gives the present time."""
        now = time.perf_counter()
        self.times.setdefault(step, []).append((now - started) * 1000)
        return now

    def refuse(self, trouble: str) -> None:
        """Note that the server did not do what it was asked."""
        self.refused += 1
        if len(self.troubles) < 3:
            self.troubles.append(trouble[:300])


#: One process of load: gets its job, prepares, waits at the line, works until the deadline.
Work = Callable[[Job, Callable[[], float], Result], None]


def together(
    work: Work, jobs: list[Job], seconds: float, *, begin: Callable[[], None] = lambda: None
) -> Result:
    """Run `work` once per job at the same time, for `seconds` from the moment when all are ready.

    `begin` is called at that moment.
    `work(job, line_up, result)` prepares itself, calls `line_up()`, which gives the deadline on
    `time.perf_counter()`, and counts into `result` until then.
    """
    line = _fork.Barrier(len(jobs) + 1)
    answers: Queue[Result | Exception] = _fork.Queue()
    processes = [
        _fork.Process(target=_one, args=(work, job, seconds, line, answers), daemon=True) for job in jobs
    ]
    for process in processes:
        process.start()
    with suppress(BrokenBarrierError):  # a process that could not prepare says why
        line.wait(timeout=120)
        begin()
    said = [_next_answer(answers, processes) for _ in processes]
    for process in processes:
        process.join()
    troubles = [answer for answer in said if isinstance(answer, Exception)]
    for trouble in sorted(troubles, key=lambda error: "BrokenBarrier" in str(error)):
        raise trouble
    return _merge([answer for answer in said if isinstance(answer, Result)])


def _next_answer(answers: "Queue[Result | Exception]", processes: "list[ForkProcess]") -> Result | Exception:
    while True:
        try:
            return answers.get(timeout=1)
        except Empty:
            if all(not process.is_alive() for process in processes) and answers.empty():
                raise RuntimeError("A load process ended without a result.") from None


def _one(work: Work, job: Job, seconds: float, line: Barrier, answers: "Queue[Result | Exception]") -> None:
    result = Result()
    begin = processor = 0.0

    def line_up() -> float:
        nonlocal begin, processor
        line.wait(timeout=120)
        begin, processor = time.perf_counter(), time.process_time()
        return begin + seconds

    try:
        work(job, line_up, result)
        result.seconds, result.processor = time.perf_counter() - begin, time.process_time() - processor
        answers.put(result)
    except Exception as error:
        line.abort()
        answers.put(RuntimeError(f"{type(error).__name__}: {error}"))


def _merge(results: list[Result]) -> Result:
    merged = Result(seconds=max(result.seconds for result in results))
    for result in results:
        merged.done += result.done
        merged.processor += result.processor
        merged.refused += result.refused
        merged.troubles += result.troubles
        for step, times in result.times.items():
            merged.times.setdefault(step, []).extend(times)
    return merged


def middle(times: list[float]) -> float:
    """Median."""
    return median(times) if times else float("nan")


def quiet(times: list[float]) -> float:
    """Lower quartile: what an operation takes while nothing else wants the machine; for comparisons."""
    return quantiles(times, n=4)[0] if len(times) > 1 else middle(times)


def p95(times: list[float]) -> float:
    """95th percentile."""
    return quantiles(times, n=20)[18] if len(times) > 1 else float("nan")
