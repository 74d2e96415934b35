"""Correlation with people as the weight of a bonus changes: Figures 1 and 2 of Yang et al. (2018), 4.3.

The paper draws Pearson's r over single answers of adapted BLEU-4 and ROUGE-L, over yes-no questions against
alpha (beta is 1) and over entity questions against beta (alpha is 2). Here each curve is drawn over all
answers and over those of every question type, with intervals by the bootstrap over questions.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from metrics.base import Metric
from metrics.errors import MetricError
from metrics.metaeval.bootstrap import Wanted, intervals
from metrics.metaeval.breakdown import types_of
from metrics.metaeval.correlation import correlation
from metrics.metaeval.data import Floats, ScoredAnswers, canonical, chosen, rows_of

#: Weights that can be swept: those of the two bonuses.
WEIGHTS = ("alpha", "beta")
#: The part of a result that is over all answers, whatever their question's type.
ALL = "overall"
#: Points of one curve: more cannot be told apart in a plot, and each costs a scoring of all answers.
MOST_POINTS = 101
NOTE = "Pearson's r with people over single answers; intervals are bootstraps over questions."
_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,6})?"
_RANGE = re.compile(rf"({_NUMBER}):({_NUMBER}):({_NUMBER})")
_LIST = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*")
_PEARSON: Wanted = (("pearson", "global"),)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A weight and the values that it takes, in rising order; the other weight stays what it is."""

    weight: str
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.weight not in WEIGHTS:
            raise MetricError(f"There is no weight {self.weight!r} to sweep; there are {', '.join(WEIGHTS)}.")
        if not 2 <= len(self.values) <= MOST_POINTS:
            raise MetricError(f"A sweep has 2 to {MOST_POINTS} values; this one has {len(self.values):,}.")
        if any(low >= high for low, high in pairwise(self.values)):
            raise MetricError("The values of a sweep rise, and each stands once.")


def sweep_of(text: str) -> Sweep:
    """`alpha=0:10:1` (from, to, step) or `alpha=0,0.5,2`; MetricError says what is wrong."""
    weight, equals, given = (part.strip() for part in text.partition("="))
    values: tuple[Decimal, ...]
    if span := _RANGE.fullmatch(given):
        low, high, step = (Decimal(part) for part in span.groups())
        if not step or (high - low) / step > MOST_POINTS:
            raise MetricError(f"{text}: the step must be above 0 and make at most {MOST_POINTS} values.")
        values = tuple(low + step * k for k in range(int((high - low) / step) + 1 if high >= low else 0))
    elif equals and _LIST.fullmatch(given):
        values = tuple(Decimal(part) for part in given.split(","))
    else:
        raise MetricError(f"{text}: write a sweep as alpha=0:10:1 (from:to:step) or alpha=0,0.5,2.")
    return Sweep(weight, tuple(map(float, values)))


def name_at(plain: str, weight: str, value: float) -> str:
    """The name of an adapted metric with that weight, as the catalogue reads it."""
    return f"{plain}({weight}={value:g})"


def fixed_weights(metric: Metric, weight: str) -> dict[str, float]:
    """The weights of an adapted metric that a sweep leaves as they are, from its signature."""
    parts = dict(part.partition(":")[::2] for part in metric.signature.split("|"))
    return {name: float(parts[name]) for name in (*WEIGHTS, "gamma") if name in parts and name != weight}


def curves(
    judged: ScoredAnswers,
    columns: Mapping[str, Sequence[Floats]],
    sweep: Sweep,
    *,
    fixed: Mapping[str, Mapping[str, float]],
    replicates: int,
    seed: int,
) -> dict[str, Any]:
    """By metric and question type, and overall: a point (x, value, interval, n) for each value of the weight.

    `columns` are each metric's scores of the rows of `judged` at the values of the sweep, in their order. A
    point that has no correlation has a reason.
    """
    names = {(metric, at): f"{metric} {at:04}" for metric, each in columns.items() for at in range(len(each))}
    scores = {name: columns[metric][at] for (metric, at), name in names.items()}
    # What is not finite is missing, and rows are in an order of their own, as in the report.
    scores = {name: np.where(np.isfinite(column), column, np.nan) for name, column in scores.items()}
    sorted_rows, _ = canonical(replace(judged, metrics=scores))
    kinds = np.array(sorted_rows.types or [""] * len(sorted_rows.question_names), dtype=object)
    found: dict[str, dict[str, list[dict[str, Any]]]] = {metric: {} for metric in columns}
    for kind in (ALL, *types_of(sorted_rows)):
        own = sorted_rows if kind == ALL else chosen(sorted_rows, kinds[sorted_rows.questions] == kind)
        reach = intervals(own, list(scores), replicates=replicates, seed=seed, wanted=_PEARSON)
        rows = rows_of(own, list(scores))
        for metric, each in columns.items():
            points = []
            for at in range(len(each)):
                name = names[metric, at]
                figure = correlation(*rows.of(name), "pearson", "global")
                ci = reach.get((name, "pearson", "global"))
                points.append({"x": sweep.values[at], **replace(figure, ci=ci).as_json()})
            found[metric][kind] = points
    return {
        "weight": sweep.weight,
        "statistic": "pearson",
        "fixed": {metric: dict(fixed[metric]) for metric in columns},
        "curves": found,
        "note": NOTE,
    }


def is_monotonic(values: Sequence[float | None]) -> bool:
    """Whether no figure is lower than the one before it, which the paper says of its curves."""
    known = [value for value in values if value is not None and not math.isnan(value)]
    return all(low <= high for low, high in pairwise(known))
