"""Intraclass correlations: the share of the variance of ratings that comes from the items.

Names and formulas: Shrout & Fleiss, Psychological Bulletin 86 (1979); McGraw & Wong, Psychological Methods 1
(1996). ICC(1): every item has raters of its own; ICC(A): the same raters, and it counts whether they agree on
the score itself; ICC(C): the same raters, and only whether they order the items alike. `single` is about one
rating, `mean` about the mean of an item's ratings. Shrout and Fleiss call ICC(A) ICC(2) and ICC(C) ICC(3).
"""

from dataclasses import dataclass

import numpy as np

from metrics.agreement.data import (
    NO_PAIRS,
    NO_RATINGS,
    NO_VARIATION,
    ONE_RATER,
    Floats,
    Ratings,
    Sums,
    sums_of,
)
from metrics.figure import Figure

ONE_ITEM = "not defined: only one item has ratings"
NOT_COMPLETE = "not defined: not every worker rated every item once"


@dataclass(frozen=True, slots=True)
class Pair:
    """The correlation for one rating and for the mean of an item's ratings."""

    single: Figure
    mean: Figure


@dataclass(frozen=True, slots=True)
class Correlations:
    """ICC(1), ICC(A) and ICC(C) of a complete table."""

    one_way: Pair
    agreement: Pair
    consistency: Pair


def correlations(table: Floats) -> Correlations:
    """All six of a table of n items (rows) by k raters (columns) without gaps."""
    n, k = table.shape
    reason = _table_reason(table)
    if reason:
        return Correlations(*(Pair(Figure(None, reason), Figure(None, reason)) for _ in range(3)))
    centred = table - table.mean()
    between_items = k * (centred.mean(axis=1) ** 2).sum()
    between_raters = n * (centred.mean(axis=0) ** 2).sum()
    total = (centred**2).sum()
    items = float(between_items) / (n - 1)
    raters = float(between_raters) / (k - 1)
    within = float(total - between_items) / (n * (k - 1))
    error = max(float(total - between_items - between_raters), 0.0) / ((n - 1) * (k - 1))
    return Correlations(
        Pair(
            _share(items - within, items + (k - 1) * within),
            _share(items - within, items),
        ),
        Pair(
            _share(items - error, items + (k - 1) * error + k * (raters - error) / n),
            _share(items - error, items + (raters - error) / n),
        ),
        Pair(
            _share(items - error, items + (k - 1) * error),
            _share(items - error, items),
        ),
    )


def complete_table(ratings: Ratings) -> Floats | None:
    """Items by workers, those that have ratings; None unless every worker rated every item exactly once."""
    items, item_rows = np.unique(ratings.items, return_inverse=True)
    workers, columns = np.unique(ratings.workers, return_inverse=True)
    if not len(ratings) or len(items) * len(workers) != len(ratings):
        return None
    table = np.full((len(items), len(workers)), np.nan)
    table[item_rows, columns] = ratings.scores
    return None if bool(np.isnan(table).any()) else table


def correlations_of(ratings: Ratings) -> Correlations:
    """All six where every worker rated every item; else ICC(1) alone, and for the others the reason."""
    table = complete_table(ratings)
    if table is not None:
        return correlations(table)
    gaps = Pair(Figure(None, NOT_COMPLETE), Figure(None, NOT_COMPLETE))
    return Correlations(one_way(sums_of(ratings)), gaps, gaps)


def one_way(sums: Sums) -> Pair:
    """ICC(1) where items have different raters and different numbers of ratings.

    The number of ratings per item is n0 = (N - sum of n^2 / N) / (items - 1), as the analysis of variance
    with unequal groups has it (Searle, Casella & McCulloch, Variance Components, 1992, section 3.6); `mean`
    is for n0 ratings. Items with one rating count for the variance between items. It can be below zero.
    """
    n, s = sums.n[sums.n > 0], sums.s[sums.n > 0]
    total = int(n.sum())
    reason = _one_way_reason(sums)
    if reason:
        return Pair(Figure(None, reason), Figure(None, reason))
    within = float(sums.squares_within[sums.n > 0].sum()) / (total - len(n))
    between = float((n * (s / n - s.sum() / total) ** 2).sum()) / (len(n) - 1)
    typical = (total - float((n * n).sum()) / total) / (len(n) - 1)
    return Pair(
        _share(between - within, between + (typical - 1) * within),
        _share(between - within, between),
    )


def _share(above: float, below: float) -> Figure:
    return Figure(above / below) if below > 0 else Figure(None, NO_VARIATION)


def _table_reason(table: Floats) -> str:
    n, k = table.shape
    if n == 0:
        return NO_RATINGS
    if k < 2:
        return ONE_RATER
    if n < 2:
        return ONE_ITEM
    return NO_VARIATION if bool((table == table[0, 0]).all()) else ""


def _one_way_reason(sums: Sums) -> str:
    rated = int((sums.n > 0).sum())
    total = int(sums.n.sum())
    if not rated:
        return NO_RATINGS
    if rated == total:
        return NO_PAIRS
    if rated < 2:
        return ONE_ITEM
    return NO_VARIATION if total * int(sums.q.sum()) == int(sums.s.sum()) ** 2 else ""
