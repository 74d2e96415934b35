"""Correlation by the number of references of a query: some are left out at random, answers scored again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from evaluations.choices import MetricChoice
from evaluations.report.parts import ReferenceCurve
from evaluations.scores import Part, scored
from evaluations.tables.first_pass import AnswerColumns
from evaluations.tables.rows import AnswerTable, Row
from metrics.base import Floats
from metrics.metaeval.ceiling import plan_references, steps_to, summarise
from metrics.metaeval.correlation import Which, column_correlation
from metrics.metaeval.executor import generator

#: Samples of references at each number of them, unless another number is asked for.
TIMES = 20
STATISTICS: tuple[Which, ...] = ("pearson", "spearman")
FILE = "reference-curve.csv"
_SINGLE = "most answers have a single reference, so none can be left out"


@dataclass(eq=False)
class ReferenceSample:
    """A table with k of the references of each question: the first k of an order that seed and sample draw.

    Answers to one question lose the same references, and fewer references are a part of more.
    """

    table: AnswerTable
    keep: int
    seed: int
    sample: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def rows(self) -> Iterator[Row]:
        """All rows, with fewer references."""
        orders: dict[tuple[str, int], list[int]] = {}
        for row in self.table.rows():
            size = len(row.references)
            if size <= self.keep:
                yield row
                continue
            key = row.question_id or row.question, size
            order = orders.get(key)
            if order is None:
                rng = generator(self.seed, f"references of {key[0]}", self.sample)
                order = orders[key] = sorted(rng.permutation(size)[: self.keep].tolist())
            yield replace(
                row,
                references=[row.references[at] for at in order],
                labels=[row.labels[at] for at in order] if len(row.labels) == size else row.labels,
            )


def reference_curve(
    table: AnswerTable,
    gathered: AnswerColumns,
    chosen: MetricChoice,
    *,
    seed: int,
    times: int = TIMES,
    processes: int = 1,
    progress: Callable[[int, int, str], None] = lambda done, of, what: None,
) -> dict[str, Any]:
    """Pearson and Spearman of each metric at 1, 2, … references: mean and middle 95 % of `times` samples.

    Only answers count that have as many references as the middle answer with a human score, so that each
    number of references is about the same answers. `plan` says what the curve means for a new data set.
    """
    counts = np.array([len(row.references) for row in table.rows()])
    there = ~np.isnan(gathered.human)
    most = int(np.median(counts[there])) if there.any() else 0
    if most < 2:
        return {"value": None, "reason": _SINGLE}
    rows = there & (counts >= most)
    questions = len(np.unique(gathered.questions[rows]))
    steps = steps_to(most)
    samples = {k: 1 if k == most and (counts[rows] == most).all() else times for k in steps}
    found: dict[str, dict[str, Any]] = {metric.name: {"points": []} for metric in chosen.metrics}
    done, total = 0, sum(samples.values())
    for k in steps:
        values: dict[str, list[Floats]] = {name: [] for name in found}
        for sample in range(samples[k]):
            part = cast("AnswerTable", ReferenceSample(table, k, seed, sample))
            scores = scored(part, gathered, chosen.metrics, chosen.tokeniser, processes=processes).values
            for name in found:
                values[name].append(scores[name][rows])
            done += 1
            progress(done, total, "Samples of references")
        for name, columns in values.items():
            found[name]["points"].append({"references": k, **_point(gathered.human[rows], columns)})
    for entry in found.values():
        known = [
            (point["references"], point["pearson"]["value"])
            for point in entry["points"]
            if point["pearson"]["value"] is not None
        ]
        entry["plan"] = plan_references(known, questions=questions)
    return {
        "times": times,
        "most": most,
        "answers": int(rows.sum()),
        "questions": questions,
        "left_out": int(there.sum() - rows.sum()),
        "metrics": found,
    }


def _point(human: Floats, columns: list[Floats]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for statistic in STATISTICS:
        correlations = []
        for values in columns:
            defined = ~np.isnan(values)
            correlations.append(
                column_correlation(human[defined], values[defined], statistic)
                if defined.sum() > 2
                else float("nan")
            )
        said[statistic] = summarise(correlations)
    return said


def curve_parts(curve: ReferenceCurve) -> Iterator[Part]:
    """The curve as rows of `reference-curve.csv`."""
    for name, entry in curve.metrics.items():
        numbers: dict[str, Floats] = {}
        for statistic, figures in (
            ("pearson", [point.pearson for point in entry.points]),
            ("spearman", [point.spearman for point in entry.points]),
        ):
            ends = [each.middle or (None, None) for each in figures]
            for words, values in (
                (statistic, [each.value for each in figures]),
                (f"{statistic} low", [each[0] for each in ends]),
                (f"{statistic} high", [each[1] for each in ends]),
                (f"{statistic} samples", [each.n for each in figures]),
            ):
                numbers[words] = np.array([np.nan if value is None else value for value in values])
        yield (
            {
                "metric": [name] * len(entry.points),
                "references": [point.references for point in entry.points],
            },
            numbers,
        )
