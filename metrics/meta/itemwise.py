"""Statistics that are a mean over questions, taken apart: what each question adds above and below the line.

`shares(statistic, rows, scores, gap) -> (above, below)`: the statistic is sum(above) / sum(below). Swapping
or resampling whole questions only changes which of these are summed.
"""

from typing import Literal, get_args

import numpy as np

from metrics.errors import MetricError
from metrics.meta.kernels import Statistic, pair_counts, within
from metrics.meta.matching import matches
from metrics.meta.pairs import snapped
from metrics.meta.rows import Indices, Rows, grouped
from metrics.meta.scored_answers import Floats
from metrics.meta.ties import best_epsilon, differences, right

PairStatistic = Literal["pair_acc", "acc_eq", "acc_eq_cal", "rank_match"]
PAIR_STATISTICS: tuple[PairStatistic, ...] = get_args(PairStatistic)

Shares = tuple[Floats, Floats]


def shares(
    statistic: Statistic | PairStatistic | Literal["pa"], rows: Rows, scores: Floats, gap: float = 2.0
) -> Shares:
    """(questions) above and below the line. `acc_eq_cal` keeps the epsilon that is best for all answers."""
    starts = grouped(rows, "item")[1]
    if statistic == "pearson" or statistic == "spearman" or statistic == "kendall":  # noqa: PLR1714 - for mypy
        return of_values(within(statistic, rows.human, scores[None], starts)[0])
    if statistic == "pair_acc":
        return _pair_acc(rows, scores, starts)
    if statistic == "acc_eq":
        return _acc_eq(rows, scores, starts)
    if statistic == "acc_eq_cal":
        return _calibrated(rows, scores, len(starts))
    if statistic == "rank_match":
        return _matched(rows, scores, gap, len(starts))
    raise MetricError(f"There is no statistic “{statistic}” of the answers to a question.")


def of_values(values: Floats) -> Shares:
    """The shares of a mean over the values that are not nan."""
    defined = ~np.isnan(values)
    return np.where(defined, values, 0.0), defined.astype(np.float64)


def _pair_acc(rows: Rows, scores: Floats, starts: Indices) -> Shares:
    counts = pair_counts(rows.human, snapped(rows, scores)[None], starts)
    ordered = counts.concordant + counts.discordant + counts.tied_metric
    return counts.concordant[0].astype(np.float64), ordered[0].astype(np.float64)


def _acc_eq(rows: Rows, scores: Floats, starts: Indices) -> Shares:
    counts = pair_counts(rows.human, scores[None], starts)
    total = counts.total[0]
    good = (counts.concordant + counts.tied_both)[0]
    return good / np.maximum(total, 1), (total > 0).astype(np.float64)


def _calibrated(rows: Rows, scores: Floats, questions: int) -> Shares:
    pairs = differences(rows, scores)
    if not len(pairs.gap):
        return np.zeros(questions), np.zeros(questions)
    good = pairs.weight * right(pairs, best_epsilon(pairs))
    some = np.bincount(pairs.question, minlength=questions) > 0
    above = np.bincount(pairs.question, weights=good, minlength=questions).astype(np.float64)
    return above, some.astype(np.float64)


def _matched(rows: Rows, scores: Floats, gap: float, questions: int) -> Shares:
    found = matches(rows, scores, gap)
    match = np.bincount(found.question[found.match], minlength=questions)
    pairs = np.bincount(found.question, minlength=questions)
    return match.astype(np.float64), pairs.astype(np.float64)
