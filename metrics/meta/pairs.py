"""Pairs of answers to the same question: does a metric put them in the order in which people put them?

`pair_acc(judged, metric) -> Pairs`, `acc_eq(judged, metric, grouping="item") -> Figure`.

- `pair_acc` is the share of the pairs that people do not rate equal which the metric orders as they do. A tie
  of the metric is a miss, and counted apart. A guess is right half of the time.
- `acc_eq` (Deutsch, Foster and Freitag 2023, "Ties Matter", eq. 9; `acc23` of mt-metrics-eval) also wants
  ties predicted: (concordant pairs + pairs tied for both) / all pairs. Grouped by `item` it is the mean over
  questions with two answers or more; `global` takes all pairs of answers, `by_system` the mean over systems.

For `acc_eq` scores are tied when they are equal; a tolerance is what `ties` calibrates. For `pair_acc` scores
of answers to the same question are the same when they differ by no more than rounding does (5e-13 of the
metric's range): smoothed BLEU-4 gives answers that share no phrase scores of 1e-13, and their order means
nothing.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metrics.figure import Figure
from metrics.meta.correlations import NO_SCORES
from metrics.meta.kernels import pair_counts
from metrics.meta.rows import Grouping, Rows, grouped, rows_of
from metrics.meta.scored_answers import Floats, ScoredAnswers

ROUNDING = 5e-13
NO_PAIR = "not defined: no question has two answers with human scores and scores of this metric"
ALL_TIED = "not defined: people rate all answers to the same question equal"


@dataclass(frozen=True, slots=True)
class Pairs:
    """An accuracy over pairs (n of the figure), and how many of them the metric left tied."""

    figure: Figure
    metric_ties: int

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: the figure and `metric_ties`."""
        return {**self.figure.as_json(), "metric_ties": self.metric_ties}

    def within(self, ci: tuple[float, float] | None) -> "Pairs":
        """The same with an interval."""
        return replace(self, figure=replace(self.figure, ci=ci))


def pair_acc(judged: ScoredAnswers, metric: str) -> Pairs:
    """The share of pairs of answers to the same question that the metric orders as people do."""
    rows, scores = rows_of(judged, [metric]).of(metric)
    return pair_accuracy(rows, scores)


def pair_accuracy(rows: Rows, scores: Floats) -> Pairs:
    """`pair_acc` of (n,) scores, none of them missing."""
    counts = pair_counts(rows.human, snapped(rows, scores)[None], grouped(rows, "item")[1])
    right, tied = int(counts.concordant.sum()), int(counts.tied_metric.sum())
    ordered = right + tied + int(counts.discordant.sum())
    if not ordered:
        reason = ALL_TIED if counts.total.any() else NO_PAIR if len(rows) else NO_SCORES
        return Pairs(Figure(None, reason, n=0), 0)
    return Pairs(Figure(right / ordered, n=ordered), tied)


def snapped(rows: Rows, scores: Floats) -> Floats:
    """Scores of which those are equal that differ only by rounding within a question."""
    if not len(scores):
        return scores
    order = np.lexsort((scores, rows.questions))
    sorted_scores, questions = scores[order], rows.questions[order]
    new = np.ones(len(scores), dtype=bool)
    new[1:] = (questions[1:] != questions[:-1]) | (np.diff(sorted_scores) > ROUNDING * np.ptp(scores))
    found = np.empty_like(scores)
    found[order] = sorted_scores[np.flatnonzero(new)[np.cumsum(new) - 1]]
    return found


def acc_eq(judged: ScoredAnswers, metric: str, grouping: Grouping = "item") -> Figure:
    """Pairwise accuracy with ties; `n` counts pairs if global, else the questions or systems of the mean."""
    rows, scores = rows_of(judged, [metric]).of(metric)
    return accuracy_with_ties(rows, scores, grouping)


def accuracy_with_ties(rows: Rows, scores: Floats, grouping: Grouping = "item") -> Figure:
    """`acc_eq` of (n,) scores, none of them missing."""
    if not len(rows):
        return Figure(None, NO_SCORES, n=0)
    order, starts = grouped(rows, grouping)
    counts = pair_counts(rows.human[order], scores[order][None], starts)
    some = counts.total[0] > 0
    if not some.any():
        return Figure(None, NO_PAIR, n=0)
    right, pairs = (counts.concordant + counts.tied_both)[0][some], counts.total[0][some]
    value = float(np.mean(right / pairs))
    return Figure(value, n=int(pairs.sum()) if grouping == "global" else len(pairs))
