"""Many answers under many metrics: chunk by chunk, in constant memory, over several processes.

Chunks of text go to processes and arrays come back. What comes back is put together in the order of the
chunks, so every figure is the same to the last bit for any number of processes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from metrics.base import Floats, Metric
from metrics.corpus_scores import Sums, Undefined
from metrics.parallel import Crews, Part, crew
from metrics.texts import Answers

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
        return {metric.name: self._sums.whole(metric) for metric in self.metrics}

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
    found = _surveyed(chunks, metrics, crews)
    with crews(metrics, found) as workers:
        yield from workers.score(chunks())


def _surveyed(chunks: Chunks, metrics: Sequence[Metric], crews: Crews) -> list[object]:
    """What each metric's survey found in all chunks; None for metrics without one."""
    found: list[object] = [None] * len(metrics)
    surveys = [place for place, metric in enumerate(metrics) if metric.survey]
    if not surveys:
        return found
    asked = [metrics[place] for place in surveys]
    with crews(asked, [None] * len(asked)) as workers:
        for seen in workers.survey(chunks()):
            for place, metric, new in zip(surveys, asked, seen, strict=True):
                assert metric.survey is not None
                found[place] = new if found[place] is None else metric.survey.merge(found[place], new)
    return found


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
        some = [row for part in parts if (row := part[place].rows) is not None]
        if some:
            rows[metric.name] = np.concatenate(some)
    return Scores(values, scoring.corpus(), scoring.systems(), scoring.undefined, rows)
