"""Krippendorff's alpha, and beside it percent agreement and the correlation of two annotators.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; Content Analysis, 4th edition, chapter 12.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from metrics.agreement.data import (
    NO_PAIRS,
    NO_RATINGS,
    NO_VARIATION,
    ONE_RATER,
    Floats,
    Ratings,
    value_counts,
)
from metrics.figure import Figure

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")

# Items whose counts are turned into floats at a time: they stay in the cache.
ITEMS = 1 << 14


def alpha(counts: npt.NDArray[np.number], values: npt.ArrayLike, level: Level = "interval") -> Figure:
    """Krippendorff's alpha of an item x value count matrix.

    `counts` has shape (items, V), `values` the V scores in rising order. Items with fewer than two ratings
    are left out. Counts may be fractions (weights of a bootstrap).
    """
    if not counts.any():
        return Figure(None, NO_RATINGS)
    together = coincidences(counts)
    if together.sum() == 0:
        return Figure(None, NO_PAIRS)
    value = from_coincidences(together, np.asarray(values, dtype=np.float64), level)
    return Figure(None, NO_VARIATION) if value is None else Figure(value)


def alpha_of(ratings: Ratings, level: Level = "interval") -> Figure:
    """Krippendorff's alpha of ratings, with a reason where it is not defined."""
    if not len(ratings):
        return Figure(None, NO_RATINGS)
    if (ratings.workers == ratings.workers[0]).all():
        return Figure(None, ONE_RATER)
    return alpha(value_counts(ratings), ratings.scale.values, level)


def coincidences(counts: npt.NDArray[np.number]) -> Floats:
    """Krippendorff's coincidence matrix, shape (V, V): pairs of scores inside items.

    Every item's pairs are weighted by 1/(n - 1), so that each of its n ratings counts once. The package
    `krippendorff` makes items x V x V floats on the way; this takes one small matrix product for a block of
    items (docs/decisions/0010).
    """
    size = counts.shape[1]
    total = np.zeros((size, size))
    for start in range(0, len(counts), ITEMS):
        block = counts[start : start + ITEMS].astype(np.float64)
        n = block @ np.ones(size)
        weight = np.divide(1.0, n - 1, out=np.zeros_like(n), where=n > 1)
        total += block.T @ (block * weight[:, None])
        total[np.diag_indices(size)] -= weight @ block
    return total


def from_coincidences(together: Floats, values: Floats, level: Level) -> float | None:
    """Alpha of a coincidence matrix; None when all pairable ratings are the same."""
    marginal = together.sum(axis=0)
    apart = distances(values, marginal, level)
    expected = float(marginal @ apart @ marginal)
    if expected <= 0:
        return None
    return 1 - (float(marginal.sum()) - 1) * float((together * apart).sum()) / expected


def distances(values: Floats, marginal: Floats, level: Level) -> Floats:
    """The squared difference of every two scores at a level of measurement, shape (V, V).

    `marginal` says how many pairable ratings have each score; only the ordinal level looks at it.
    """
    if level == "nominal":
        return 1 - np.eye(len(values))
    if level == "interval":
        return np.square(values[:, None] - values[None, :])
    if level == "ordinal":
        rank = np.cumsum(marginal) - marginal / 2
        return np.square(rank[:, None] - rank[None, :])
    if level == "ratio":
        both = values[:, None] + values[None, :]
        share = np.divide(values[:, None] - values[None, :], both, out=np.zeros_like(both), where=both != 0)
        return np.square(share)
    raise ValueError(f"no level of measurement: {level}")


def percent_agreement(counts: npt.NDArray[np.number]) -> Figure:
    """The mean over items of the share of pairs of ratings that are the same (Fleiss 1971, P-bar).

    Items with fewer than two ratings are left out.
    """
    if not counts.any():
        return Figure(None, NO_RATINGS)
    total, items = 0.0, 0
    for start in range(0, len(counts), ITEMS):
        block = counts[start : start + ITEMS].astype(np.float64)
        n = block @ np.ones(counts.shape[1])
        pairs = n * (n - 1)
        same = np.square(block) @ np.ones(counts.shape[1]) - n
        paired = pairs > 0
        total += float((same[paired] / pairs[paired]).sum())
        items += int(paired.sum())
    return Figure(total / items) if items else Figure(None, NO_PAIRS)


def pearson_two(ratings: Ratings) -> Figure:
    """Pearson's r between the two annotators of a design with two, over the items that both rated.

    Where an annotator rated an item twice, their last rating counts.
    """
    annotators = np.unique(ratings.workers)
    if not len(ratings):
        return Figure(None, NO_RATINGS)
    if len(annotators) == 1:
        return Figure(None, ONE_RATER)
    if len(annotators) > 2:
        return Figure(None, f"not defined: there are {len(annotators)} annotators, not two")
    by_annotator = np.full((2, ratings.n_items), np.nan)
    by_annotator[(ratings.workers == annotators[1]).astype(np.int64), ratings.items] = ratings.scores
    first, second = by_annotator[:, ~np.isnan(by_annotator).any(axis=0)]
    if not len(first):
        return Figure(None, NO_PAIRS)
    first, second = first - first.mean(), second - second.mean()
    spread = float(np.sqrt(first @ first) * np.sqrt(second @ second))
    if spread == 0:
        return Figure(None, "not defined: an annotator gave the same score to every item")
    return Figure(float(first @ second) / spread)
