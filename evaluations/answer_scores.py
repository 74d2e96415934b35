"""All answers of a table under all metrics: as numbers for the statistics, or as a stream for a file."""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from evaluations.lengths import ANSWER, REFERENCE, lengths
from evaluations.tables.first_pass import AnswerColumns
from evaluations.tables.questions import Floats
from evaluations.tables.rows import CHUNK, AnswerTable, answers_of, batches, chunks_of
from evaluations.writing.scorefile import Part
from metrics.base import Metric
from metrics.parallel import Crews
from metrics.scoring import score_chunks
from metrics.texts import Answers
from metrics.tokens.scripts import is_unspaced

Progress = Callable[[int], None]
#: Columns of a file of scores that say whose score it is, where the table has them.
_NAMES = ("id", "question_id", "system")


@dataclass(frozen=True, slots=True, eq=False)
class MetricScores:
    """Scores of n answers by metric, nan where undefined; corpus scores by metric and system.

    `rows` (n, p) are what each answer adds to a corpus score, kept only where they were asked for.
    """

    values: dict[str, Floats]
    systems: dict[str, dict[str, float | None]]
    undefined: dict[str, dict[str, int]]
    lengths: Floats
    reference_lengths: Floats
    rows: dict[str, Floats]


def scored(
    table: AnswerTable,
    gathered: AnswerColumns,
    metrics: Sequence[Metric],
    tokeniser: str,
    *,
    processes: int = 1,
    progress: Progress | None = None,
    keep_rows: bool = False,
    crews: Crews | None = None,
) -> MetricScores:
    """Reads the table again and scores it; memory holds the scores, never the texts.

    `crews` does the work elsewhere than in processes of this machine.
    """
    names = np.array(gathered.system_names, dtype=object)

    def systems(begin: int, end: int) -> list[str]:
        found: list[str] = names[gathered.systems[begin:end]].tolist()
        return found

    every = [*metrics, *lengths(tokeniser)]
    scoring = score_chunks(
        lambda: chunks_of(table, systems), every, processes=processes, progress=progress, crews=crews
    )
    n = len(gathered)
    values = {metric.name: np.full(n, np.nan) for metric in every}
    kept: dict[str, list[Floats]] = {}
    done = 0
    for parts in scoring.parts():
        for metric, part in zip(every, parts, strict=True):
            values[metric.name][done : done + len(part.values)] = part.values
            if keep_rows and part.rows is not None:
                kept.setdefault(metric.name, []).append(part.rows)
        done += len(parts[0].values)
    corpus = scoring.systems()
    return MetricScores(
        {metric.name: values[metric.name] for metric in metrics},
        {metric.name: corpus[metric.name] for metric in metrics if metric.corpus is not None},
        {metric.name: dict(scoring.undefined.get(metric.name, {})) for metric in metrics},
        values[ANSWER],
        values[REFERENCE],
        {name: np.concatenate(rows) for name, rows in kept.items()},
    )


@dataclass(eq=False)
class Tally:
    """What is said of each metric when all answers are scored: means, corpus scores, what is undefined.

    `unspaced` of the `n` answers are in a script without spaces between words, `simulated` are marked so.
    """

    n: int = 0
    unspaced: int = 0
    simulated: int = 0
    metrics: Sequence[Metric] = ()
    corpus: dict[str, float | None] = field(default_factory=dict)
    systems: dict[str, dict[str, float | None]] = field(default_factory=dict)
    undefined: dict[str, dict[str, int]] = field(default_factory=dict)
    _sums: dict[str, list[float]] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def add(self, values: dict[str, Floats]) -> None:
        """Another chunk."""
        for name, column in values.items():
            there = column[~np.isnan(column)]
            self._sums.setdefault(name, []).append(float(there.sum()))
            self._counts[name] += len(there)

    def defined(self, name: str) -> int:
        """How many answers have a value."""
        return self._counts[name]

    def mean(self, name: str) -> float | None:
        """The mean over them, None without any."""
        count = self._counts[name]
        return math.fsum(self._sums[name]) / count if count else None


def stream(
    table: AnswerTable, metrics: Sequence[Metric], tally: Tally, *, processes: int, progress: Progress | None
) -> Iterator[Part]:
    """Scores of all answers, a chunk at a time; `tally` is filled when the last one was taken.

    The names of rows wait for their scores while their texts are being scored, so that the table is not read
    once more for them.
    """
    names = [name for name in _NAMES if name in table.has]
    marked = "simulated" in table.has
    waiting: deque[dict[str, Sequence[str | int | None]]] = deque()
    surveys = int(any(metric.survey for metric in metrics))
    passes = count()

    def chunks() -> Iterator[Answers]:
        surveying = next(passes) < surveys
        for some in batches(table.rows(), CHUNK):
            if not surveying:
                texts: dict[str, Sequence[str | int | None]] = {}
                if table.unit:
                    texts[table.unit] = [row.line for row in some]
                tally.unspaced += sum(is_unspaced(row.answer) for row in some)
                texts |= {name: [getattr(row, name) for row in some] for name in names}
                if marked:
                    tally.simulated += sum(row.simulated for row in some)
                    texts["simulated"] = ["true" if row.simulated else "false" for row in some]
                waiting.append(texts)
            yield answers_of(table.has, some)

    scoring = score_chunks(chunks, metrics, processes=processes, progress=progress)
    tally.metrics = metrics
    for values in scoring.values():
        size = len(next(iter(values.values())))
        yield {"row": range(tally.n + 1, tally.n + size + 1), **waiting.popleft()}, values
        tally.n += size
        tally.add(values)
    tally.corpus, tally.systems = scoring.corpus(), scoring.systems()
    tally.undefined = {name: dict(why) for name, why in scoring.undefined.items()}
