"""Who does the work: this process, or several others with the same metrics."""

import multiprocessing
import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from types import TracebackType
from typing import Protocol, TypeVar

from metrics.base import Metric
from metrics.corpus_scores import Part, joined, part_of
from metrics.errors import MetricError
from metrics.texts import Answers, Chunk

R = TypeVar("R")

__all__ = ["Crew", "Crews", "Part", "crew"]

#: Chunks under way for each process: one that it works on, and one that waits for it.
AHEAD = 2
#: Seconds of work after which other processes are started: about what it takes until they work.
PATIENCE = 1.0


class Crew(Protocol):
    """Looks at chunks and gives what it found in their order."""

    def survey(self, chunks: Iterable[Answers]) -> Iterator[list[object]]:
        """For each chunk what each metric's survey finds in it."""

    def score(self, chunks: Iterable[Answers]) -> Iterator[list[Part]]:
        """For each chunk what each metric says of it."""


#: Characters that are looked at together: metrics need some dozens of bytes for each.
HEAVIEST = 1 << 22


def lighter(answers: Answers) -> Iterator[Answers]:
    """A chunk in parts that long texts do not make too heavy: at least one, each of one answer at least."""
    whole = sum(map(len, answers.candidates)) + sum(map(len, chain.from_iterable(answers.references)))
    if whole <= HEAVIEST:
        yield answers
        return
    sizes = [
        len(candidate) + sum(map(len, references))
        for candidate, references in zip(answers.candidates, answers.references, strict=True)
    ]
    first, weight = 0, 0
    for place, size in enumerate(sizes):
        if weight + size > HEAVIEST and place > first:
            yield answers.part(slice(first, place))
            first, weight = place, 0
        weight += size
    yield answers.part(slice(first, len(sizes)))


Crews = Callable[[Sequence[Metric], Sequence[object]], AbstractContextManager[Crew]]


@dataclass(frozen=True, slots=True, eq=False)
class ProcessMetrics:
    """The metrics, and what their surveys found, in this process."""

    metrics: Sequence[Metric]
    found: Sequence[object]

    def survey(self, chunks: Iterable[Answers]) -> Iterator[list[object]]:
        """For each chunk what each metric's survey finds in it."""
        return map(self.survey_one, chunks)

    def score(self, chunks: Iterable[Answers]) -> Iterator[list[Part]]:
        """For each chunk what each metric says of it."""
        return map(self.score_one, chunks)

    def survey_one(self, answers: Answers) -> list[object]:
        """What each metric's survey finds in one chunk."""
        found: list[object] = [None] * len(self.metrics)
        for chunk in map(Chunk, lighter(answers)):
            for place, metric in enumerate(self.metrics):
                if metric.survey is not None:
                    new = metric.survey.of(chunk)
                    found[place] = new if found[place] is None else metric.survey.merge(found[place], new)
        return found

    def score_one(self, answers: Answers) -> list[Part]:
        """What each metric says of one chunk."""
        pairs = list(zip(self.metrics, self.found, strict=True))
        parts = [
            [part_of(metric, chunk, found) for metric, found in pairs]
            for chunk in map(Chunk, lighter(answers))
        ]
        return parts[0] if len(parts) == 1 else [joined(some) for some in zip(*parts, strict=True)]


_given: list[bytes] = []


def _begin(packed: bytes) -> None:
    """Keep what a new process is given; what is wrong with it shows in the first chunk, with its cause."""
    _given[:] = [packed]


@cache
def _here() -> ProcessMetrics:
    here: ProcessMetrics = pickle.loads(_given[0])  # noqa: S301  # made by the process that started this one
    return here


def _survey(answers: Answers) -> list[object]:
    return _here().survey_one(answers)


def _score(answers: Answers) -> list[Part]:
    return _here().score_one(answers)


@dataclass(eq=False)
class Processes:
    """The same in other processes, with a bounded number of chunks under way."""

    here: ProcessMetrics
    number: int
    _pool: ProcessPoolExecutor = field(init=False)

    def __enter__(self) -> "Processes":
        self._pool = ProcessPoolExecutor(
            self.number,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(_packed(self.here),),
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def survey(self, chunks: Iterable[Answers]) -> Iterator[list[object]]:
        """For each chunk what each metric's survey finds in it."""
        return self._in_order(_survey, chunks)

    def score(self, chunks: Iterable[Answers]) -> Iterator[list[Part]]:
        """For each chunk what each metric says of it."""
        return self._in_order(_score, chunks)

    def _in_order(self, work: Callable[[Answers], R], chunks: Iterable[Answers]) -> Iterator[R]:
        under_way: deque[Future[R]] = deque()
        try:
            for answers in chunks:
                under_way.append(self._pool.submit(work, answers))
                if len(under_way) >= AHEAD * self.number:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        except BrokenProcessPool as error:
            raise MetricError(
                "A process that scored was ended from outside, most likely because memory ran out. Score "
                "with fewer processes, or with smaller chunks."
            ) from error


@dataclass(eq=False)
class GrowingCrew:
    """Begins in this process, and goes on in others once the work has taken longer than their start does.

    How much work there is shows only while it is done: chunks are read as they are scored, and a chunk of one
    metric takes a thousand times as long as that of another. This way it never takes twice the shortest time.
    """

    here: ProcessMetrics
    number: int
    patience: float
    _taken: float = 0.0
    _others: Processes | None = None

    def __enter__(self) -> "GrowingCrew":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._others is not None:
            self._others.__exit__(kind, error, trace)

    def survey(self, chunks: Iterable[Answers]) -> Iterator[list[object]]:
        """For each chunk what each metric's survey finds in it."""
        rest = iter(chunks)
        yield from self._alone(self.here.survey_one, rest)
        if self._others is not None:
            yield from self._others.survey(rest)

    def score(self, chunks: Iterable[Answers]) -> Iterator[list[Part]]:
        """For each chunk what each metric says of it."""
        rest = iter(chunks)
        yield from self._alone(self.here.score_one, rest)
        if self._others is not None:
            yield from self._others.score(rest)

    def _alone(self, work: Callable[[Answers], R], chunks: Iterator[Answers]) -> Iterator[R]:
        """Ends where others take over, or with the last chunk."""
        for answers in chunks:
            begun = time.perf_counter()
            found = work(answers)
            self._taken += time.perf_counter() - begun
            yield found
            if self._taken >= self.patience and self.number > 1:
                try:
                    self._others = Processes(self.here, self.number).__enter__()
                except MetricError:
                    self.number = 1  # these metrics cannot be sent: asked once
                else:
                    return


def _packed(here: ProcessMetrics) -> bytes:
    for metric in here.metrics:
        try:
            pickle.dumps(metric)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise MetricError(
                f"{metric.name} cannot be sent to other processes: {error}. Make it with "
                "metrics.metric(name, profile), or score with one process."
            ) from error
    return pickle.dumps(here)


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def crew(
    metrics: Sequence[Metric], found: Sequence[object], processes: int = 1
) -> AbstractContextManager[Crew]:
    """Who scores under these metrics, given what their surveys found; 0 processes: as many as it is worth."""
    here = ProcessMetrics(metrics, found)
    if not processes:
        return GrowingCrew(here, cores(), PATIENCE)
    return nullcontext(here) if processes == 1 else Processes(here, processes)
