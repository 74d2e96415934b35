"""Pairs of answers to the same question, one by one, where systems are drawn with replacement.

Two copies of a system are not compared with each other: they would agree by construction.
"""

from dataclasses import dataclass

import numpy as np

from metrics.errors import MetricError
from metrics.meta.matching import ROUNDING, TIE
from metrics.meta.pairs import snapped
from metrics.meta.rows import Indices, Mask, Rows, grouped, starts_of
from metrics.meta.scored_answers import Floats
from metrics.meta.statistics import AnyStatistic
from metrics.meta.ties import ROUNDING as OF_EPSILON
from metrics.meta.ties import best_epsilon, differences, index_pairs


@dataclass(frozen=True, slots=True, eq=False)
class Pairwise:
    """Pairs that count, sorted by question: which answers, whose, and whether the metric is right.

    `each`: the statistic is the mean over questions of their shares, not the share of all pairs.
    """

    first: Indices
    second: Indices
    question: Indices
    right: Mask
    each: bool

    def values(self, answers: Floats, questions: Floats | None) -> Floats:
        """(samples,) shares, from (answers, samples) and (questions, samples) weights."""
        if not len(self.first):
            return np.full(answers.shape[1], np.nan)
        starts = starts_of(self.question)
        weight = answers[self.first] * answers[self.second]
        above = np.add.reduceat(weight * self.right[:, None], starts, axis=0)
        below = np.add.reduceat(weight, starts, axis=0)
        outside = 1.0 if questions is None else questions[self.question[starts]]
        if self.each:
            above = np.where(below > 0, above, 0.0) / np.where(below > 0, below, 1.0)
            below = (below > 0).astype(np.float64)
        total, mass = (above * outside).sum(axis=0), (below * outside).sum(axis=0)
        return np.where(mass > 0.5, total, np.nan) / np.where(mass > 0.5, mass, 1.0)


def pairwise(statistic: AnyStatistic, rows: Rows, scores: Floats, gap: float) -> Pairwise:
    """The pairs of one of the pair statistics."""
    starts = grouped(rows, "item")[1]
    sizes = np.diff(np.append(starts, len(rows)))
    found = list(index_pairs(starts, sizes))
    none = np.zeros(0, np.int64)
    first = np.concatenate([none, *(pair[0] for pair in found)])
    second = np.concatenate([none, *(pair[1] for pair in found)])
    order = np.argsort(rows.questions[first], kind="stable")
    first, second = first[order], second[order]
    used = snapped(rows, scores) if statistic == "pair_acc" else scores
    people, metric = rows.human[first] - rows.human[second], used[first] - used[second]
    agree = np.sign(people) == np.sign(metric)
    counted = np.ones(len(first), dtype=bool)
    if statistic == "pair_acc":
        counted = people != 0
    elif statistic == "acc_eq_cal" and len(first):
        epsilon = best_epsilon(differences(rows, scores)) * (1 + OF_EPSILON)
        agree = np.where(np.abs(metric) <= epsilon, people == 0, agree & (people != 0))
    elif statistic == "rank_match":
        counted = np.abs(people) >= gap - ROUNDING
        agree &= np.abs(metric) >= TIE
    elif statistic not in ("acc_eq", "acc_eq_cal"):
        raise MetricError(f"The statistic {statistic} is not one of pairs of answers.")
    each = statistic in ("acc_eq", "acc_eq_cal")
    return Pairwise(first[counted], second[counted], rows.questions[first[counted]], agree[counted], each)
