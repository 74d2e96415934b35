"""Reliability of the published mean: split-half, with the whole filter run inside each half.

The ratings of each item are divided at random into two halves; the recipe runs on each half as if the other did
not exist, down to the mean of each item; Pearson's r between the two columns of means is the reliability of a
mean of half as many ratings, and 2r / (1 + r) (Spearman 1910, Brown 1910) that of the whole. A filter that
manufactures agreement does so in each half for itself, towards two different middles, so this figure sees through it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.figure import NO_RATINGS, NO_VARIATION, Figure
from quality.halves import Splitter, by_item
from quality.ratings import Mask, Ratings
from quality.recipes import Recipe
from quality.run import Checks, run

Floats = npt.NDArray[np.float64]
TOO_FEW = "not defined: fewer than three items keep a rating in both halves"
_LEAST_ITEMS = 3


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """Means over the splits: `half` is r between halves, `whole` its Spearman-Brown correction.

    `sd` is the standard deviation of the corrected figure over the splits, `items` how many items had a mean in
    both halves on average, `splits` how many splits gave a figure.
    """

    half: Figure
    whole: Figure
    sd: float | None
    items: float
    splits: int


def split_half(
    ratings: Ratings,
    recipe: Recipe,
    *,
    checks: Checks | None = None,
    seconds: Floats | None = None,
    splits: int = 20,
    seed: int = 0,
) -> SplitHalf:
    """Split-half reliability of the means that the recipe leaves, over `splits` random splits."""
    if not len(ratings):
        return _none(NO_RATINGS)
    rows, order = by_item(ratings)
    taken = None if seconds is None else seconds[order]
    halves, wholes, items = [], [], []
    reason = TOO_FEW
    for first in Splitter(rows).masks(np.random.default_rng(seed), splits):
        one, two = (_means(rows, mask, recipe, checks, taken) for mask in (first, ~first))
        both = ~(np.isnan(one) | np.isnan(two))
        r = _pearson(one[both], two[both]) if both.sum() >= _LEAST_ITEMS else None
        if r is None or r <= -1:
            reason = NO_VARIATION if both.sum() >= _LEAST_ITEMS else TOO_FEW
            continue
        halves.append(r)
        wholes.append(2 * r / (1 + r))
        items.append(int(both.sum()))
    if not halves:
        return _none(reason)
    return SplitHalf(
        Figure(float(np.mean(halves))),
        Figure(float(np.mean(wholes))),
        float(np.std(wholes, ddof=1)) if len(wholes) > 1 else None,
        float(np.mean(items)),
        len(halves),
    )


def _none(reason: str) -> SplitHalf:
    return SplitHalf(Figure(None, reason), Figure(None, reason), None, 0.0, 0)


def _means(
    ratings: Ratings, half: Mask, recipe: Recipe, checks: Checks | None, seconds: Floats | None
) -> Floats:
    """Mean of every item from the ratings of the half that the recipe keeps; nan where none is kept."""
    own = ratings.only(half)
    kept = run(own, recipe, checks=checks, seconds=None if seconds is None else seconds[half]).kept
    items, scores = own.items[kept], own.scores[kept]
    n = np.bincount(items, minlength=ratings.n_items)
    sums = np.bincount(items, weights=scores, minlength=ratings.n_items)
    return np.divide(sums, n, out=np.full(ratings.n_items, np.nan), where=n > 0)


def _pearson(one: Floats, two: Floats) -> float | None:
    one, two = one - one.mean(), two - two.mean()
    spread = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / spread if spread > 0 else None
