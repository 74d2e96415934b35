"""All answers of a table under all metrics: as numbers for the statistics, or as a stream for a file."""

import csv
import io
import json
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import IO, TYPE_CHECKING, Any, TextIO

import numpy as np

from core.accounts.commandline import plain
from core.files.cells import cell
from core.files.reading import reading_lines
from evaluations.answer_table import (
    CHUNK,
    AnswerColumns,
    AnswerTable,
    answers_of,
    batches,
    chunks_of,
    simulated_rows,
    simulation_of,
)
from metrics.figure import NONE, counted
from metrics.scoring import Crews, score_chunks
from metrics.texts import Answers, Chunk, ChunkValues, Floats, Metric
from metrics.tokens import is_unspaced, spacing_warning, tokeniser_named

if TYPE_CHECKING:
    from evaluations.choices import MetricChoice


ANSWER, REFERENCE = "tokens of the answer", "tokens of the references"


def lengths(name: str) -> list[Metric]:
    """Two more columns beside metrics: tokens of each answer, and the mean over its references."""
    return [
        Metric(ANSWER, ANSWER, "", partial(_answers, name), high=np.inf),
        Metric(REFERENCE, REFERENCE, "", partial(_references, name), high=np.inf),
    ]


def _tokens(name: str, chunk: Chunk) -> Floats:
    return chunk.tokens(tokeniser_named(name)).lengths.astype(np.float64)


def _answers(name: str, chunk: Chunk, _survey: object) -> ChunkValues:
    return ChunkValues(_tokens(name, chunk)[chunk.candidates])


def _references(name: str, chunk: Chunk, _survey: object) -> ChunkValues:
    each = _tokens(name, chunk)[chunk.references]
    counts = np.diff(chunk.starts)
    owners = np.repeat(np.arange(len(chunk)), counts)
    sums = np.bincount(owners, weights=each, minlength=len(chunk))
    return ChunkValues(np.divide(sums, counts, out=np.full(len(chunk), np.nan), where=counts > 0))


#: A chunk of a file: columns of texts, None where a cell is empty, and columns of numbers.
Part = tuple[dict[str, Sequence[str | int | None]], dict[str, Floats]]


def write_csv(file: IO[bytes], parts: Iterable[Part]) -> None:
    """CSV in UTF-8; numbers in full precision, an empty cell where there is none.

    A text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogatepass", newline="")
    writer = csv.writer(text, lineterminator="\n")
    for number, (texts, values) in enumerate(parts):
        if not number:
            writer.writerow([cell(name) for name in (*texts, *values)])
        columns = [
            [cell(each) if isinstance(each, str) else ("" if each is None else each) for each in column]
            for column in texts.values()
        ]
        columns += [
            ["" if each is None else repr(each) for each in _numbers(column)] for column in values.values()
        ]
        writer.writerows(zip(*columns, strict=True))
    text.detach()


def write_jsonl(file: IO[bytes], parts: Iterable[Part]) -> None:
    """An object a line; null where there is no number."""
    for texts, values in parts:
        names = [*texts, *values]
        columns: list[Sequence[Any]] = [*texts.values(), *map(_numbers, values.values())]
        for row in zip(*columns, strict=True):
            line = json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
            file.write(line.encode("utf-8", "surrogatepass") + b"\n")


def _numbers(values: Floats) -> list[float | None]:
    gone = np.isnan(values)
    if not gone.any():
        numbers: list[float | None] = values.tolist()
        return numbers
    return [None if missing else value for value, missing in zip(values.tolist(), gone.tolist(), strict=True)]


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
        system_names: list[str] = names[gathered.systems[begin:end]].tolist()
        return system_names

    every = [*metrics, *lengths(tokeniser)]
    scoring = score_chunks(
        lambda: chunks_of(table, systems), every, processes=processes, progress=progress, crews=crews
    )
    n = len(gathered)
    values = {metric.name: np.full(n, np.nan) for metric in every}
    row_parts: dict[str, list[Floats]] = {}
    done = 0
    for parts in scoring.parts():
        for metric, part in zip(every, parts, strict=True):
            values[metric.name][done : done + len(part.values)] = part.values
            if keep_rows and part.rows is not None:
                row_parts.setdefault(metric.name, []).append(part.rows)
        done += len(parts[0].values)
    corpus = scoring.systems()
    return MetricScores(
        {metric.name: values[metric.name] for metric in metrics},
        {metric.name: corpus[metric.name] for metric in metrics if metric.corpus is not None},
        {metric.name: dict(scoring.undefined.get(metric.name, {})) for metric in metrics},
        values[ANSWER],
        values[REFERENCE],
        {name: np.concatenate(rows) for name, rows in row_parts.items()},
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
            defined = column[~np.isnan(column)]
            self._sums.setdefault(name, []).append(float(defined.sum()))
            self._counts[name] += len(defined)

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
        for chunk in batches(table.rows(), CHUNK):
            if not surveying:
                texts: dict[str, Sequence[str | int | None]] = {}
                if table.unit:
                    texts[table.unit] = [row.line for row in chunk]
                tally.unspaced += sum(is_unspaced(row.answer) for row in chunk)
                texts |= {name: [getattr(row, name) for row in chunk] for name in names}
                if marked:
                    tally.simulated += sum(row.simulated for row in chunk)
                    texts["simulated"] = ["true" if row.simulated else "false" for row in chunk]
                waiting.append(texts)
            yield answers_of(table.has, chunk)

    scoring = score_chunks(chunks, metrics, processes=processes, progress=progress)
    tally.metrics = metrics
    for values in scoring.values():
        size = len(next(iter(values.values())))
        yield {"row": range(tally.n + 1, tally.n + size + 1), **waiting.popleft()}, values
        tally.n += size
        tally.add(values)
    tally.corpus, tally.systems = scoring.corpus(), scoring.systems()
    tally.undefined = {name: dict(why) for name, why in scoring.undefined.items()}


#: Grows when the JSON has other fields.
FORM = 3
_WIDTH = 100


def facts_of(table: "AnswerTable", choice: "MetricChoice", tally: "Tally", *, version: str) -> dict[str, Any]:
    """As JSON: for each metric title, signature, number of values, mean, corpus scores, what is undefined.

    `corpus` is null for a metric without a rule for the whole corpus, and `corpus_by_system` is there where
    the table names systems.
    """
    metrics = {}
    for metric in tally.metrics:
        metric_facts = {
            "title": metric.title,
            "signature": metric.signature,
            "n": tally.defined(metric.name),
            "mean": tally.mean(metric.name),
            "corpus": tally.corpus.get(metric.name) if metric.corpus is not None else None,
            "undefined": tally.undefined.get(metric.name, {}),
        }
        if metric.corpus is not None and tally.systems.get(metric.name):
            metric_facts["corpus_by_system"] = dict(sorted(tally.systems[metric.name].items()))
        metrics[metric.name] = metric_facts
    marked = simulation_of(table) or simulated_rows(tally.simulated, tally.n)
    return {
        "scores": FORM,
        "file": table.title,
        "read_as": table.reading.as_json() if table.reading else None,
        "distillery": version,
        "profile": choice.profile,
        "tokeniser": choice.tokeniser,
        "models": choice.models,
        "n": tally.n,
        "simulated": marked,
        "metrics": metrics,
        "notes": [
            *([marked["what"]] if marked and marked["what"] not in table.notes else []),
            *table.notes,
            *choice.notes,
            *spacing_warning(tally.unspaced, tally.n, choice.tokeniser),
        ],
    }


def show(facts: dict[str, Any], out: TextIO) -> None:
    """The same for people."""
    from rich.console import Console  # not needed to parse arguments
    from rich.markup import escape
    from rich.table import Table

    console = Console(file=out, highlight=False, width=None if out.isatty() else _WIDTH)
    console.print(
        f"[bold]{escape(plain(facts['file']))}[/bold]: {counted(facts['n'], 'answer')}; "
        f"profile {escape(facts['profile'])}, tokeniser {escape(facts['tokeniser'])}."
    )
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("metric")
    for name in ("mean", "corpus", "n"):
        table.add_column(name, justify="right")
    for name, each in facts["metrics"].items():
        table.add_row(name, _number(each["mean"]), _number(each["corpus"]), f"{each['n']:,}")
    console.print(table)
    for name, each in facts["metrics"].items():
        for reason, undefined in each["undefined"].items():
            console.print(
                f"[yellow]![/yellow] {name} is not defined for {undefined:,}: {escape(plain(reason))}."
            )
    for name, each in facts["metrics"].items():
        console.print(f"[dim]{name}[/dim] {escape(each['signature'])}", soft_wrap=True)
    for line in reading_lines(facts["read_as"]) if facts["read_as"] else ():
        console.print(escape(plain(line)))
    for note in facts["notes"]:
        console.print(f"[yellow]![/yellow] {escape(plain(note))}")


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.4f}"
