"""Many answers under many metrics: chunk by chunk, in constant memory, over several processes.

Chunks of text go to processes and arrays come back. What comes back is put together in the order of the
chunks, so every figure is the same to the last bit for any number of processes. Corpus scores, of all answers
and of each system's, come from the sums of chunks.
"""

import multiprocessing
import os
import pickle
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from types import TracebackType
from typing import Protocol, TypeVar

import numpy as np

from metrics.errors import MetricError
from metrics.texts import Answers, Chunk, ChunkValues, Floats, Metric

Undefined = dict[str, dict[str, int]]
BySystem = Mapping[str, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one metric says of one chunk; sums by system where the answers name theirs."""

    values: Floats
    sums: Floats
    systems: BySystem
    why: Mapping[str, int]
    rows: Floats | None


def part_of(metric: Metric, chunk: Chunk, survey: object) -> Part:
    """A metric's values and sums of a chunk, given its survey's finding."""
    measured = metric.of(chunk, survey)
    if len(measured.values) != len(chunk):
        raise ValueError(f"{metric.name} gave {len(measured.values)} values for {len(chunk)} candidates")
    systems = _systems(metric, chunk.answers, measured, survey)
    return Part(measured.values, _sums(metric, measured), systems, measured.why, measured.rows)


def joined(parts: Sequence[Part]) -> Part:
    """What one metric says of several chunks, as if of one."""
    systems: dict[str, Floats] = {}
    why: dict[str, int] = {}
    for part in parts:
        for system, sums in part.systems.items():
            systems[system] = systems.get(system, 0) + sums
        for reason, number in part.why.items():
            why[reason] = why.get(reason, 0) + number
    rows = [part.rows for part in parts if part.rows is not None]
    return Part(
        np.concatenate([part.values for part in parts]),
        np.sum([part.sums for part in parts], axis=0),
        systems,
        why,
        np.concatenate(rows) if rows else None,
    )


def _sums(metric: Metric, measured: ChunkValues) -> Floats:
    """The metric's sums; for one without a corpus rule the sum and the number of its defined values."""
    if metric.corpus is None:
        return _for_mean(measured.values)
    if measured.sums is None:
        raise ValueError(f"{metric.name} has a corpus score and gave no sums for it")
    return measured.sums


def _for_mean(values: Floats) -> Floats:
    defined = values[~np.isnan(values)]
    return np.array([defined.sum(), len(defined)])


def _systems(metric: Metric, answers: Answers, measured: ChunkValues, survey: object) -> BySystem:
    if answers.systems is None:
        return {}
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, system in enumerate(answers.systems):
        rows[system].append(row)
    if len(rows) == 1:
        return {system: _sums(metric, measured) for system in rows}
    if metric.corpus is None:
        return {system: _for_mean(measured.values[which]) for system, which in rows.items()}
    if (each := measured.rows) is not None:
        return {system: each[which].sum(0) for system, which in rows.items()}
    return {
        system: _sums(metric, metric.of(Chunk(answers.part(which)), survey)) for system, which in rows.items()
    }


@dataclass(eq=False)
class Sums:
    """Sums of all chunks so far, by metric."""

    all: dict[str, Floats] = field(default_factory=dict)
    systems: dict[str, dict[str, Floats]] = field(default_factory=dict)
    undefined: Undefined = field(default_factory=dict)

    def add(self, metric: Metric, part: Part) -> None:
        """Add what a metric says of one more chunk."""
        name = metric.name
        self.all[name] = self.all.get(name, 0) + part.sums
        systems = self.systems.setdefault(name, {})
        for system, sums in part.systems.items():
            systems[system] = systems.get(system, 0) + sums
        why = self.undefined.setdefault(name, {})
        for reason, number in part.why.items():
            why[reason] = why.get(reason, 0) + number

    def score_corpus(self, metric: Metric) -> float | None:
        """The corpus score of everything so far; None where the metric is defined for nothing."""
        sums = self.all.get(metric.name)
        return None if sums is None else _corpus_score(metric, sums)

    def of_systems(self, metric: Metric) -> dict[str, float | None]:
        """The corpus score of each system, in the order of their names."""
        return {
            system: _corpus_score(metric, sums)
            for system, sums in sorted(self.systems.get(metric.name, {}).items())
        }


def _corpus_score(metric: Metric, sums: Floats) -> float | None:
    if metric.corpus is not None:
        return metric.corpus(sums)
    total, number = sums
    return float(total / number) if number else None


R = TypeVar("R")


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
    total_weight = sum(map(len, answers.candidates)) + sum(map(len, chain.from_iterable(answers.references)))
    if total_weight <= HEAVIEST:
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
    surveys: Sequence[object]

    def survey(self, chunks: Iterable[Answers]) -> Iterator[list[object]]:
        """For each chunk what each metric's survey finds in it."""
        return map(self.survey_one, chunks)

    def score(self, chunks: Iterable[Answers]) -> Iterator[list[Part]]:
        """For each chunk what each metric says of it."""
        return map(self.score_one, chunks)

    def survey_one(self, answers: Answers) -> list[object]:
        """What each metric's survey finds in one chunk."""
        surveys: list[object] = [None] * len(self.metrics)
        for chunk in map(Chunk, lighter(answers)):
            for place, metric in enumerate(self.metrics):
                if metric.survey is not None:
                    new = metric.survey.of(chunk)
                    surveys[place] = (
                        new if surveys[place] is None else metric.survey.merge(surveys[place], new)
                    )
        return surveys

    def score_one(self, answers: Answers) -> list[Part]:
        """What each metric says of one chunk."""
        pairs = list(zip(self.metrics, self.surveys, strict=True))
        parts = [
            [part_of(metric, chunk, survey) for metric, survey in pairs]
            for chunk in map(Chunk, lighter(answers))
        ]
        return (
            parts[0] if len(parts) == 1 else [joined(same_place) for same_place in zip(*parts, strict=True)]
        )


_packed_metrics: list[bytes] = []


def _begin(packed: bytes) -> None:
    """Keep what a new process is given; what is wrong with it shows in the first chunk, with its cause."""
    _packed_metrics[:] = [packed]


@cache
def _load_metrics() -> ProcessMetrics:
    metrics: ProcessMetrics = pickle.loads(_packed_metrics[0])  # noqa: S301  # made by the process that started this one
    return metrics


def _survey(answers: Answers) -> list[object]:
    return _load_metrics().survey_one(answers)


def _score(answers: Answers) -> list[Part]:
    return _load_metrics().score_one(answers)


@dataclass(eq=False)
class Processes:
    """The same in other processes, with a bounded number of chunks under way."""

    process_metrics: ProcessMetrics
    number: int
    _pool: ProcessPoolExecutor = field(init=False)

    def __enter__(self) -> "Processes":
        self._pool = ProcessPoolExecutor(
            self.number,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(_packed(self.process_metrics),),
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

    process_metrics: ProcessMetrics
    number: int
    patience: float
    _seconds: float = 0.0
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
        yield from self._alone(self.process_metrics.survey_one, rest)
        if self._others is not None:
            yield from self._others.survey(rest)

    def score(self, chunks: Iterable[Answers]) -> Iterator[list[Part]]:
        """For each chunk what each metric says of it."""
        rest = iter(chunks)
        yield from self._alone(self.process_metrics.score_one, rest)
        if self._others is not None:
            yield from self._others.score(rest)

    def _alone(self, work: Callable[[Answers], R], chunks: Iterator[Answers]) -> Iterator[R]:
        """Ends where others take over, or with the last chunk."""
        for answers in chunks:
            begun = time.perf_counter()
            output = work(answers)
            self._seconds += time.perf_counter() - begun
            yield output
            if self._seconds >= self.patience and self.number > 1:
                try:
                    self._others = Processes(self.process_metrics, self.number).__enter__()
                except MetricError:
                    self.number = 1  # these metrics cannot be sent: asked once
                else:
                    return


def _packed(process_metrics: ProcessMetrics) -> bytes:
    for metric in process_metrics.metrics:
        try:
            pickle.dumps(metric)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise MetricError(
                f"{metric.name} cannot be sent to other processes: {error}. Make it with "
                "metrics.metric(name, profile), or score with one process."
            ) from error
    return pickle.dumps(process_metrics)


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def crew(
    metrics: Sequence[Metric], surveys: Sequence[object], processes: int = 1
) -> AbstractContextManager[Crew]:
    """Who scores under these metrics, given what their surveys found; 0 processes: as many as it is worth."""
    process_metrics = ProcessMetrics(metrics, surveys)
    if not processes:
        return GrowingCrew(process_metrics, cores(), PATIENCE)
    return nullcontext(process_metrics) if processes == 1 else Processes(process_metrics, processes)


#: Candidates in a chunk: enough that numpy's overhead does not count, few enough for the caches.
CHUNK = 4096
Chunks = Callable[[], Iterable[Answers]]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What all metrics say: values (n) by metric, nan where undefined, and the scores of the corpus.

    `systems` has the corpus scores of each system, if the answers name theirs: metric -> system -> score or
    None. `rows` (n, p), for metrics that have them, are what each candidate adds to the sums of the corpus
    score. `undefined` says how many values are missing: metric -> reason -> number.
    """

    values: dict[str, Floats]
    corpus: dict[str, float | None]
    systems: dict[str, dict[str, float | None]]
    undefined: Undefined
    rows: dict[str, Floats]


@dataclass(eq=False)
class Scoring:
    """A scoring under way. It goes over the chunks once, or twice where a metric surveys them first."""

    metrics: Sequence[Metric]
    _parts: Iterator[list[Part]]
    _progress: Callable[[int], None] | None = None
    _done: int = 0
    _sums: Sums = field(default_factory=Sums)

    def values(self) -> Iterator[dict[str, Floats]]:
        """The values of each chunk by metric, chunk by chunk in order."""
        for parts in self.parts():
            yield {metric.name: part.values for metric, part in zip(self.metrics, parts, strict=True)}

    def parts(self) -> Iterator[list[Part]]:
        """All that comes back from each chunk, in the order of the metrics."""
        for parts in self._parts:
            for metric, part in zip(self.metrics, parts, strict=True):
                self._sums.add(metric, part)
            self._done += len(parts[0].values) if parts else 0
            if self._progress is not None:
                self._progress(self._done)
            yield parts

    def corpus(self) -> dict[str, float | None]:
        """The score of all answers together by metric; what is not scored yet is scored first.

        None where a metric is defined for no answer. A metric without a corpus rule has the mean of its
        values.
        """
        self._finish()
        return {metric.name: self._sums.score_corpus(metric) for metric in self.metrics}

    def systems(self) -> dict[str, dict[str, float | None]]:
        """Corpus scores of each system, for answers that name theirs: metric -> system -> score."""
        self._finish()
        return {metric.name: self._sums.of_systems(metric) for metric in self.metrics}

    @property
    def undefined(self) -> Undefined:
        """How many values are not defined so far: metric -> reason in words -> number."""
        return self._sums.undefined

    def _finish(self) -> None:
        for _ in self.parts():
            pass


def score_chunks(
    chunks: Chunks,
    metrics: Sequence[Metric],
    *,
    processes: int = 1,
    progress: Callable[[int], None] | None = None,
    crews: Crews | None = None,
) -> Scoring:
    """Score chunks of answers under metrics.

    `chunks` is called for every pass over the data and must give the same chunks each time. `progress` hears
    how many candidates are scored so far. With more than one process, metrics must come from
    `metrics.metric` (or be picklable), and MetricError says so if they do not, or if a process was killed.
    0 processes: this one, and one for each core where the work turns out to be worth their start.
    `crews` makes other crews than processes of this machine.
    """
    names = [metric.name for metric in metrics]
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise ValueError(f"named twice: {', '.join(doubles)}")
    return Scoring(
        metrics, _all_parts(chunks, metrics, crews or partial(crew, processes=processes)), progress
    )


def _all_parts(chunks: Chunks, metrics: Sequence[Metric], crews: Crews) -> Iterator[list[Part]]:
    surveys = _surveyed(chunks, metrics, crews)
    with crews(metrics, surveys) as workers:
        yield from workers.score(chunks())


def _surveyed(chunks: Chunks, metrics: Sequence[Metric], crews: Crews) -> list[object]:
    """What each metric's survey found in all chunks; None for metrics without one."""
    merged: list[object] = [None] * len(metrics)
    surveys = [place for place, metric in enumerate(metrics) if metric.survey]
    if not surveys:
        return merged
    surveyed = [metrics[place] for place in surveys]
    with crews(surveyed, [None] * len(surveyed)) as workers:
        for seen in workers.survey(chunks()):
            for place, metric, new in zip(surveys, surveyed, seen, strict=True):
                assert metric.survey is not None
                merged[place] = new if merged[place] is None else metric.survey.merge(merged[place], new)
    return merged


def in_chunks(answers: Answers, size: int = CHUNK) -> Chunks:
    """Answers that are in memory, as chunks."""
    return lambda: (answers.part(slice(at, at + size)) for at in range(0, len(answers), size))


def score(answers: Answers, metrics: Sequence[Metric], *, processes: int = 1) -> Scores:
    """Score answers that are in memory."""
    scoring = score_chunks(in_chunks(answers), metrics, processes=processes)
    parts = list(scoring.parts())
    values: dict[str, Floats] = {}
    rows: dict[str, Floats] = {}
    for place, metric in enumerate(metrics):
        values[metric.name] = np.concatenate([np.zeros(0), *(part[place].values for part in parts)])
        row_parts = [row for part in parts if (row := part[place].rows) is not None]
        if row_parts:
            rows[metric.name] = np.concatenate(row_parts)
    return Scores(values, scoring.corpus(), scoring.systems(), scoring.undefined, rows)
