"""Where a metric is good and where not: by question type, system, weight of a bonus, length, and answer."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.figure import Figure
from metrics.metaeval.bootstrap import Wanted, intervals
from metrics.metaeval.correlation import Statistic, correlation, p_of_t, ranks, related
from metrics.metaeval.data import Floats, Rows, ScoredAnswers, canonical, rows_of, select_answers
from metrics.metaeval.executor import generator
from metrics.metaeval.pairwise import pair_accuracy
from metrics.texts import Metric

BOTH: tuple[Statistic, ...] = ("pearson", "spearman")
_OF_TYPE: Wanted = (("pearson", "global"), ("spearman", "global"), ("pair_acc", "item"))
#: Samples of questions that are held at a time: a number for each of them and each question.
_SAMPLES = 100
NO_HUMAN = "no answer of this system has a human score"


def types_of(answers: ScoredAnswers) -> list[str]:
    """The question types that are named, in alphabetical order."""
    return sorted({kind for kind in answers.types if kind})


def by_type(answers: ScoredAnswers, name: str, *, replicates: int, seed: int) -> dict[str, Any]:
    """For each question type: n answers, Pearson and Spearman over them, `pair_acc` in its questions.

    Intervals are bootstraps over the questions of the type.
    """
    figures: dict[str, Any] = {}
    for kind in types_of(answers):
        own = select_answers(answers, np.array(answers.types, dtype=object)[answers.questions] == kind)
        rows, scores = rows_of(own, [name]).of(name)
        reach = intervals(own, [name], replicates=replicates, seed=seed, statistics=_OF_TYPE)
        of_type: dict[str, Any] = {"n": len(rows)}
        for statistic in BOTH:
            figure = correlation(rows, scores, statistic, "global")
            of_type[statistic] = replace(figure, ci=reach.get((name, statistic, "global"))).as_json()
        of_pairs = pair_accuracy(rows, scores)
        of_type["pair_acc"] = of_pairs.within(reach.get((name, "pair_acc", "item"))).as_json()
        figures[kind] = of_type
    return figures


def types(answers: ScoredAnswers) -> list[dict[str, Any]]:
    """Each question type with its number of answers."""
    kinds = types_of(answers)
    if not kinds:
        return []
    of_answer = np.array(answers.types, dtype=object)[answers.questions]
    return [{"name": kind, "n": int((of_answer == kind).sum())} for kind in kinds]


def systems(
    scored_answers: ScoredAnswers,
    corpus: dict[str, dict[str, float | None]],
    *,
    inferred: bool,
    replicates: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Each system: what people and metrics think of it, and each metric's correlations over its answers.

    The interval of the human mean is a percentile bootstrap over the system's questions with all their
    answers. Metric means are over all answers that have a score.
    """
    names = sorted(scored_answers.metrics)
    rows = rows_of(scored_answers, names)
    entries = []
    for code, system in enumerate(scored_answers.system_names):
        answers = scored_answers.systems == code
        own = rows.only(np.array([name == system for name in rows.system_names], bool)[rows.systems])
        entries.append(
            {
                "name": system,
                "inferred": inferred,
                "n": int(answers.sum()),
                "human": human_mean(own, replicates=replicates, seed=seed).as_json(),
                "metrics": {
                    name: {
                        "mean": _mean(scored_answers.metrics[name][answers]),
                        "corpus": corpus.get(name, {}).get(system),
                        **_correlations(own, name),
                    }
                    for name in names
                },
            }
        )
    return entries


def human_mean(rows: Rows, *, replicates: int, seed: int) -> Figure:
    """The mean human score of these answers, with its interval where there are two questions or more."""
    if not len(rows):
        return Figure(None, NO_HUMAN, n=0)
    questions = len(rows.question_names)
    sums = np.bincount(rows.questions, weights=rows.human, minlength=questions)
    sizes = np.bincount(rows.questions, minlength=questions).astype(np.float64)
    ci = None
    if questions > 1 and replicates > 1:
        rng = generator(seed, "human means")
        evenly = np.full(questions, 1 / questions)
        means = np.empty(replicates)
        for start in range(0, replicates, _SAMPLES):
            block = means[start : start + _SAMPLES]
            weights = np.empty((len(block), questions))  # whole numbers would be copied for each product
            for sample in weights:
                sample[:] = rng.multinomial(questions, evenly)
            block[:] = (weights @ sums) / (weights @ sizes)
        # Rounded: the last bit of a product may differ between machines.
        low, high = np.percentile(np.round(means, 10), (2.5, 97.5))
        ci = (round(float(low), 10), round(float(high), 10))
    return Figure(float(rows.human.mean()), ci=ci, n=len(rows))


def _correlations(rows: Rows, name: str) -> dict[str, Any]:
    own, scores = rows.of(name)
    return {statistic: correlation(own, scores, statistic, "global").as_json() for statistic in BOTH}


def _mean(values: Floats) -> float | None:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else None


# Correlation with people as the weight of a bonus changes: Figures 1 and 2 of Yang et al. (2018), 4.3.
#
# The paper draws Pearson's r over single answers of adapted BLEU-4 and ROUGE-L, over yes-no questions against
# alpha (beta is 1) and over entity questions against beta (alpha is 2). Here each curve is drawn over all
# answers and over those of every question type, with intervals by the bootstrap over questions.

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
            raise MetricError("The values of a sweep rise, and each is given once.")


def sweep_of(text: str) -> Sweep:
    """`alpha=0:10:1` (from, to, step) or `alpha=0,0.5,2`; MetricError says what is wrong."""
    weight, equals, values_text = (part.strip() for part in text.partition("="))
    values: tuple[Decimal, ...]
    if span := _RANGE.fullmatch(values_text):
        low, high, step = (Decimal(part) for part in span.groups())
        if not step or (high - low) / step > MOST_POINTS:
            raise MetricError(f"{text}: the step must be above 0 and make at most {MOST_POINTS} values.")
        values = tuple(low + step * k for k in range(int((high - low) / step) + 1 if high >= low else 0))
    elif equals and _LIST.fullmatch(values_text):
        values = tuple(Decimal(part) for part in values_text.split(","))
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
    answers: ScoredAnswers,
    columns: Mapping[str, Sequence[Floats]],
    sweep: Sweep,
    *,
    fixed: Mapping[str, Mapping[str, float]],
    replicates: int,
    seed: int,
) -> dict[str, Any]:
    """By metric and question type, and overall: a point (x, value, interval, n) for each value of the weight.

    `columns` are each metric's scores of the rows of `answers` at the values of the sweep, in their order. A
    point that has no correlation has a reason.
    """
    names = {(metric, at): f"{metric} {at:04}" for metric, each in columns.items() for at in range(len(each))}
    scores = {name: columns[metric][at] for (metric, at), name in names.items()}
    # What is not finite is missing, and rows are in an order of their own, as in the report.
    scores = {name: np.where(np.isfinite(column), column, np.nan) for name, column in scores.items()}
    sorted_rows, _ = canonical(replace(answers, metrics=scores))
    kinds = np.array(sorted_rows.types or [""] * len(sorted_rows.question_names), dtype=object)
    points_by_metric: dict[str, dict[str, list[dict[str, Any]]]] = {metric: {} for metric in columns}
    for kind in (ALL, *types_of(sorted_rows)):
        own = (
            sorted_rows if kind == ALL else select_answers(sorted_rows, kinds[sorted_rows.questions] == kind)
        )
        reach = intervals(own, list(scores), replicates=replicates, seed=seed, statistics=_PEARSON)
        rows = rows_of(own, list(scores))
        for metric, each in columns.items():
            points = []
            for at in range(len(each)):
                name = names[metric, at]
                figure = correlation(*rows.of(name), "pearson", "global")
                ci = reach.get((name, "pearson", "global"))
                points.append({"x": sweep.values[at], **replace(figure, ci=ci).as_json()})
            points_by_metric[metric][kind] = points
    return {
        "weight": sweep.weight,
        "statistic": "pearson",
        "fixed": {metric: dict(fixed[metric]) for metric in columns},
        "curves": points_by_metric,
        "note": NOTE,
    }


def is_monotonic(values: Sequence[float | None]) -> bool:
    """Whether no figure is lower than the one before it, which the paper says of its curves."""
    defined = [value for value in values if value is not None and not math.isnan(value)]
    return all(low <= high for low, high in pairwise(defined))


# Do scores depend on how far an answer's length is from its references'? Lowe et al. 2017 (ADEM), Table 8.
#
# Answers fall into two groups: dw, the absolute difference in words between answer and reference, is at most
# 6, or more. With several references dw is the distance to their mean length. A metric that knows nothing but
# length differs between the groups; people, in the paper, do not (2.671 and 2.698, p = .83).

CUT = 6
NO_LENGTHS = "the lengths of the answers and their references are not known"
HUMAN = "human"
#: Answers times draws that are dealt at once.
_CELLS = 1 << 21


@dataclass(frozen=True, slots=True)
class Group:
    """The answers on one side of the cut that have a score: how many, and their mean and variance."""

    n: int
    mean: float
    variance: float


def length_bias(
    answers: ScoredAnswers, columns: Mapping[str, Floats], *, draws: int, seed: int, cut: float = CUT
) -> dict[str, dict[str, Any]]:
    """For each column of scores, what the two groups get and whether chance explains the difference.

    `welch` is the t-test for unequal variances; `permutation` deals the answers to groups of the same sizes
    at random, `draws` times, the same way for all columns, and takes the difference of means,
    p = (1 + #) / (1 + draws). Without lengths each value is null with its reason.
    """
    if answers.lengths is None or answers.reference_lengths is None:
        return {name: {"value": None, "reason": NO_LENGTHS} for name in columns}
    distance = np.abs(answers.lengths - answers.reference_lengths)
    measured = ~np.isnan(distance)
    near = (distance <= cut)[measured]
    values = {name: column[measured] for name, column in columns.items()}
    p = permuted(near, values, draws=draws, seed=seed)
    biases = {}
    for name, column in values.items():
        groups = _group(column[near]), _group(column[~near])
        biases[name] = {
            "cut": cut,
            "near": _group_json(groups[0]),
            "far": _group_json(groups[1]),
            **_difference(*groups).as_json(),
            "welch_p": welch(*groups),
            "permutation_p": p[name],
            "draws": draws,
            "length": related(answers.lengths, columns[name], "pearson").as_json(),
            "distance": related(distance, columns[name], "pearson").as_json(),
        }
        del biases[name]["ci"]
    return biases


def welch(a: Group, b: Group) -> float | None:
    """Two-sided p-value of Welch's t-test; None where a group has fewer than two scores or no variance."""
    if min(a.n, b.n) < 2:
        return None
    of_a, of_b = a.variance / a.n, b.variance / b.n
    both = of_a + of_b
    if both <= 0:
        return None
    degrees = both**2 / (of_a**2 / (a.n - 1) + of_b**2 / (b.n - 1))
    return p_of_t((a.mean - b.mean) / math.sqrt(both), degrees)


def permuted(
    near: npt.NDArray[np.bool_], values: Mapping[str, Floats], *, draws: int, seed: int
) -> dict[str, float | None]:
    """p-value of the absolute difference of group means for each column, the groups dealt at random.

    Where a score is missing its answer takes part in the deal without counting, so that all columns share
    their draws.
    """
    if not values or near.all() or not near.any():
        return dict.fromkeys(values)
    stacked = np.stack(list(values.values()), axis=1)
    defined = ~np.isnan(stacked)
    filled = np.where(defined, stacked, 0.0)
    complete = bool(defined.all())
    centre = filled.sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    filled = np.where(defined, filled - centre, 0.0)
    counted = np.ones((len(near), 1)) if complete else defined.astype(np.float64)
    observed = np.abs(_differences(near[None, :], filled, counted))[0]
    rng = generator(seed, "length bias")
    size = int(near.sum())
    reached = np.zeros(stacked.shape[1], dtype=np.int64)
    possible = np.zeros(stacked.shape[1], dtype=np.int64)
    # Equal differences must count as equal whatever the order of summation.
    bound = observed - 1e-12 * np.maximum(np.abs(filled).max(axis=0, initial=0.0), 1e-300)
    at_once = max(1, _CELLS // len(near))
    for start in range(0, draws, at_once):
        keys = rng.random((min(at_once, draws - start), len(near)))
        dealt = keys < np.partition(keys, size, axis=1)[:, size, None]
        differences_dealt = np.abs(_differences(dealt, filled, counted))
        possible += (~np.isnan(differences_dealt)).sum(axis=0)
        reached += (differences_dealt >= bound).sum(axis=0)
    return {
        name: None if math.isnan(observed[k]) else float((1 + reached[k]) / (1 + possible[k]))
        for k, name in enumerate(values)
    }


def _differences(near: npt.NDArray[np.bool_], filled: Floats, defined: Floats) -> Floats:
    weights = near.astype(np.float64)
    sums, counts = weights @ filled, weights @ defined
    with np.errstate(invalid="ignore", divide="ignore"):
        differences: Floats = sums / counts - (filled.sum(axis=0) - sums) / (defined.sum(axis=0) - counts)
    return differences


def _group(scores: Floats) -> Group:
    scores = scores[~np.isnan(scores)]
    n = len(scores)
    return Group(
        n,
        float(scores.mean()) if n else math.nan,
        float(scores.var(ddof=1)) if n > 1 and scores.min() < scores.max() else 0.0,
    )


def _group_json(group: Group) -> dict[str, Any]:
    return {"n": group.n, "mean": group.mean if group.n else None}


def _difference(near: Group, far: Group) -> Figure:
    n = near.n + far.n
    if not near.n or not far.n:
        return Figure(None, "all answers are on the same side of the cut", n=n)
    return Figure(near.mean - far.mean, n=n)


# Answers on which a metric and people differ most: Lee et al. 2021, 5.4 "Error analysis".
#
# "We pick 100 error cases from MS-MARCO in the order of a large difference in ranks among 1k samples between
# human judgments and BERTScore-KPQA."

#: As many as the paper looks at.
MOST = 100


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer by its row, with its ranks from 1 (the lowest score) for people and for the metric.

    `difference` is the metric's rank less that of people: above 0 the metric finds it better than people do.
    """

    row: int
    human: float
    metric: float
    human_rank: float
    metric_rank: float

    @property
    def difference(self) -> float:
        """The metric's rank less that of people."""
        return self.metric_rank - self.human_rank


def rank_values(values: Floats) -> Floats:
    """Ranks from 1, ties sharing their mean rank."""
    ranked: Floats = ranks(values[None], np.zeros(1, np.int64))[0]
    return ranked


def largest_differences(answers: ScoredAnswers, metric: str, most: int = MOST) -> list[Disagreement]:
    """The answers with the largest differences in rank, the largest first; equal ones by rows.

    MetricError where there is no such metric.
    """
    if metric not in answers.metrics:
        names = ", ".join(sorted(answers.metrics)) or "none"
        raise MetricError(f"There are no scores of the metric {metric}; there are those of: {names}.")
    values = answers.metrics[metric]
    rows = np.flatnonzero(np.isfinite(answers.human) & np.isfinite(values))
    if not len(rows):
        return []
    human, own = rank_values(answers.human[rows]), rank_values(values[rows])
    order = np.argsort(-np.abs(own - human), kind="stable")[:most]
    return [
        Disagreement(
            int(rows[at]),
            float(answers.human[rows[at]]),
            float(values[rows[at]]),
            float(human[at]),
            float(own[at]),
        )
        for at in order.tolist()
    ]
