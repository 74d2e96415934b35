"""Pairwise accuracy with ties whose threshold is calibrated (Deutsch, Foster and Freitag 2023, section 5).

`acc_eq_cal(judged, metric, seed=0) -> Calibrated`.

A metric of fine grain hardly ever gives a tie, so `acc_eq` counts every pair against it that people tie. Here
two scores are tied when they differ by at most epsilon, and epsilon is the one that gives the highest
accuracy. The accuracy changes only where a pair becomes tied, so the candidates are 0 and all differences of
pairs: all of them are tried, by a sum over the sorted pairs. Of several best ones the smallest is taken.

An epsilon chosen on the same answers flatters. `held_out` is the mean over questions with the epsilon of the
half that they are not in; halves are drawn with the seed, by the order of the questions' names.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metrics.figure import Figure
from metrics.meta.chance import generator
from metrics.meta.correlations import NO_SCORES
from metrics.meta.pairs import NO_PAIR
from metrics.meta.rows import Indices, Mask, Rows, grouped, rows_of
from metrics.meta.scored_answers import Floats, ScoredAnswers

ONE_QUESTION = (
    "not defined: only one question has a pair of answers, so there is no other to choose epsilon on"
)
#: Differences of this relative size are the same: 0.3 - 0.2 and 0.2 - 0.1 are one candidate.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class CalibratedAccuracy:
    """The highest accuracy (n: questions), its epsilon, and the accuracy with one chosen elsewhere."""

    figure: Figure
    epsilon: float | None
    held_out: Figure

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: the figure, `epsilon` and the value of `held_out`."""
        said = {**self.figure.as_json(), "epsilon": self.epsilon, "held_out": self.held_out.value}
        if self.held_out.value is None:
            said["held_out_reason"] = self.held_out.reason
        return said

    def within(self, ci: tuple[float, float] | None) -> "CalibratedAccuracy":
        """The same with an interval."""
        return replace(self, figure=replace(self.figure, ci=ci))


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Pairs of answers within questions: whose, whether people tie them, what the metric says.

    `weight` is 1 / pairs of the question. `gap` is the metric's absolute difference, `right` says that the
    metric orders the pair as people do.
    """

    question: Indices
    tied: Mask
    right: Mask
    gap: Floats
    weight: Floats

    def only(self, mask: Mask) -> "Differences":
        """The pairs of a mask."""
        return Differences(
            self.question[mask], self.tied[mask], self.right[mask], self.gap[mask], self.weight[mask]
        )


def acc_eq_cal(judged: ScoredAnswers, metric: str, *, seed: int = 0) -> CalibratedAccuracy:
    """Tie-calibrated accuracy of a metric."""
    rows, scores = rows_of(judged, [metric]).of(metric)
    return calibrated(rows, scores, seed=seed)


def calibrated(rows: Rows, scores: Floats, *, seed: int = 0) -> CalibratedAccuracy:
    """`acc_eq_cal` of (n,) scores, none of them missing."""
    pairs = differences(rows, scores)
    if not len(pairs.gap):
        none = Figure(None, NO_PAIR if len(rows) else NO_SCORES, n=0)
        return CalibratedAccuracy(none, None, none)
    epsilon = best_epsilon(pairs)
    questions = np.unique(pairs.question)
    value = Figure(accuracy(pairs, epsilon) / len(questions), n=len(questions))
    return CalibratedAccuracy(value, epsilon, _held_out(pairs, questions, seed))


def _held_out(pairs: Differences, questions: Indices, seed: int) -> Figure:
    if len(questions) < 2:
        return Figure(None, ONE_QUESTION, n=0)
    drawn = generator(seed, "halves of questions for epsilon").permutation(len(questions))
    first = np.isin(pairs.question, questions[drawn < len(questions) // 2])
    total = 0.0
    for half in (first, ~first):
        total += accuracy(pairs.only(half), best_epsilon(pairs.only(~half)))
    return Figure(total / len(questions), n=len(questions))


def differences(rows: Rows, scores: Floats) -> Differences:
    """All pairs of answers to the same question."""
    starts = grouped(rows, "item")[1]
    sizes = np.diff(np.append(starts, len(rows)))
    found = [
        _of_pairs(first, second, rows, scores, 2 / (size * (size - 1)))
        for first, second, size in index_pairs(starts, sizes)
    ]
    if not found:
        nothing = np.zeros(0)
        return Differences(nothing.astype(np.int64), nothing > 0, nothing > 0, nothing, nothing)
    columns = zip(*found, strict=True)
    return Differences(*(np.concatenate(column) for column in columns))


def index_pairs(starts: Indices, sizes: Indices) -> Iterator[tuple[Indices, Indices, int]]:
    """Indices of the first and second answers of all pairs within groups, group size by group size."""
    for size in np.unique(sizes[sizes > 1]):
        first, second = np.triu_indices(int(size), 1)
        begin = starts[sizes == size]
        yield (begin[:, None] + first).ravel(), (begin[:, None] + second).ravel(), int(size)


def _of_pairs(
    first: Indices, second: Indices, rows: Rows, scores: Floats, weight: float
) -> tuple[Indices, Mask, Mask, Floats, Floats]:
    people = np.sign(rows.human[first] - rows.human[second])
    apart = scores[first] - scores[second]
    right = (people * apart) > 0
    return rows.questions[first], people == 0, right, np.abs(apart), np.full(len(first), weight)


def accuracy(pairs: Differences, epsilon: float) -> float:
    """The sum over questions of the share of pairs that are right when differences up to epsilon are ties."""
    return float(np.sum(pairs.weight * right(pairs, epsilon)))


def right(pairs: Differences, epsilon: float) -> Mask:
    """Which pairs are right when differences up to epsilon are ties."""
    return np.where(pairs.gap <= epsilon * (1 + ROUNDING), pairs.tied, pairs.right)


def best_epsilon(pairs: Differences) -> float:
    """The smallest of 0 and all differences at which `accuracy` is highest."""
    order = np.argsort(pairs.gap, kind="stable")
    gap = pairs.gap[order]
    gain = np.cumsum((pairs.weight * (pairs.tied.astype(float) - pairs.right))[order])
    last = np.append(gap[1:] > gap[:-1] * (1 + ROUNDING), True)
    candidates, gains = gap[last], gain[last]
    # Ties at 0 are there with every epsilon; they are the start, not a gain.
    begin = float(gains[0]) if candidates[0] == 0 else 0.0
    best = int(np.argmax(gains >= gains.max() - ROUNDING * max(1.0, len(gap))))
    if gains[best] <= begin + ROUNDING * max(1.0, len(gap)):
        return 0.0
    return float(candidates[best])
