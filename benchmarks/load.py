"""Load over HTTP from processes of its own: the interpreter lock of the generator is not what is measured."""

import multiprocessing
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import cycle
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from threading import BrokenBarrierError
from typing import Any
from urllib.parse import urlsplit

from benchmarks.common import processor_seconds, spread

#: What one process is told.
Job = Mapping[str, Any]
_fork = multiprocessing.get_context("fork")


@dataclass
class Result:
    """What one process, or all of them together, did."""

    done: int = 0
    refused: int = 0
    seconds: float = 0.0
    #: Seconds of the processor that the load itself took; it shares the cores with what is measured.
    processor: float = 0.0
    #: The same of the server.
    server: float = 0.0
    #: Milliseconds per step, by the step's name.
    times: dict[str, list[float]] = field(default_factory=dict)
    #: The first words of what went wrong.
    troubles: list[str] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Rate over the time that the slowest process took."""
        return self.done / self.seconds if self.seconds else 0.0

    def add(self, step: str, begin: float) -> float:
        """Note that a step which began then has just ended; the present time."""
        now = time.perf_counter()
        self.times.setdefault(step, []).append((now - begin) * 1000)
        return now

    def refuse(self, trouble: str) -> None:
        """Note that the server did not do what was wanted of it."""
        self.refused += 1
        if len(self.troubles) < 3:
            self.troubles.append(" ".join(trouble[:300].replace("|", "/").split()))

    def merge(self, other: "Result") -> None:
        """Add what another process did at the same time."""
        self.done += other.done
        self.refused += other.refused
        self.seconds = max(self.seconds, other.seconds)
        self.processor += other.processor
        self.troubles += other.troubles
        for step, times in other.times.items():
            self.times.setdefault(step, []).extend(times)

    def describe(self) -> str:
        """Times of each step, what an operation takes of the processors, and the first trouble."""
        steps = ", ".join(f"{step} {spread(times)}" for step, times in self.times.items())
        each = 1000 / max(1, self.done)
        processor = f"processor: server {self.server * each:.1f}, clients {self.processor * each:.1f} ms each"
        return "; ".join([steps, processor, *self.troubles[:1]])


#: One process of load: prepares itself, calls `line_up()` for its deadline, works until then.
Work = Callable[[Job, Callable[[], float], Result], None]


def run_together(work: Work, jobs: list[Job], seconds: float, *, pids: Iterable[int] = ()) -> Result:
    """Run `work` once per job at the same time, for so long from the moment when all are ready.

    `pids` are the server's, whose processor time is told.
    """
    line = _fork.Barrier(len(jobs) + 1)
    answers: Queue[Result | Exception] = _fork.Queue()
    processes = [
        _fork.Process(target=_run, args=(work, job, seconds, line, answers), daemon=True) for job in jobs
    ]
    for process in processes:
        process.start()
    with suppress(BrokenBarrierError):  # a process that could not prepare says why
        line.wait(timeout=120)
    before = sum(map(processor_seconds, pids))
    results = [answers.get(timeout=seconds + 300) for _ in processes]
    merged = Result(server=sum(map(processor_seconds, pids)) - before)
    for process in processes:
        process.join()
    for result in results:
        if isinstance(result, Exception):
            raise result
        merged.merge(result)
    return merged


def _run(work: Work, job: Job, seconds: float, line: Barrier, answers: "Queue[Result | Exception]") -> None:
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


def request_pages(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One client with one connection that it keeps: GETs of `path`, or POSTs of `bodies` in turn."""
    parts = urlsplit(job["url"])
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    bodies = cycle(job.get("bodies") or [None])
    deadline = line_up()
    now = time.perf_counter()
    while now < deadline:
        body = next(bodies)
        connection.request("POST" if body else "GET", job["path"], body, job["headers"])
        answer = connection.getresponse()
        text = answer.read()
        if answer.status == 200:
            result.done += 1
        else:
            result.refuse(f"{answer.status} {text[:200]!r}")
        now = result.add("request", now)
    connection.close()
