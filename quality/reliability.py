"""Reliability of the published mean: split-half, with the whole filter run inside each half.

The ratings of each item are divided at random into two halves; the recipe runs on each half as if the other
did not exist, down to the mean of each item; Pearson's r between the two columns of means is the reliability
of a mean of half as many ratings, and 2r / (1 + r) (Spearman 1910, Brown 1910) that of the whole. A filter
that manufactures agreement does so in each half for itself, towards two different middles, so this figure
sees through it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.figure import NO_RATINGS, NO_VARIATION, Figure
from quality.halves import doubled, doubled_checks, splits_of_ratings
from quality.ratings import Mask, Ratings
from quality.recipes import Recipe
from quality.run import Checks, run
from quality.seeds import generator
from quality.sums import divided
from quality.technical import duplicates

Floats = npt.NDArray[np.float64]
TOO_FEW = "not defined: fewer than three items keep a rating in both halves"
_LEAST_ITEMS = 3


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """Means over the splits: `half` is r between halves, `whole` its Spearman-Brown correction.

    `sd` is the standard deviation of the corrected figure over the splits, `items` how many items had a mean
    in both halves on average, `splits` how many splits gave a figure.
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
    """Split-half reliability of the means that the recipe leaves, over `splits` random splits.

    Each split's r is corrected by Spearman-Brown, 2 r / (1 + |r|). The formula is for halves that agree; the
    bars keep those that disagree, as of a few items, between -1 and 0, where it would go to minus infinity.
    """
    if not len(ratings):
        return _none(NO_RATINGS)
    distinct = ~duplicates(ratings)
    rows = ratings if distinct.all() else ratings.only(distinct)
    taken = None if seconds is None else seconds[distinct]
    twice = doubled_checks(checks)
    halves, wholes, items = [], [], []
    reason = TOO_FEW
    for second in splits_of_ratings(rows, splits, generator(seed, "split-half")):
        beside = doubled(rows, second, items=True)
        kept = run(beside, recipe, checks=twice, seconds=taken, repeated=False).kept
        one, two = _means(beside, kept).reshape(-1, 2).T
        both = ~(np.isnan(one) | np.isnan(two))
        r = _pearson(one[both], two[both]) if both.sum() >= _LEAST_ITEMS else None
        if r is None:
            reason = NO_VARIATION if both.sum() >= _LEAST_ITEMS else TOO_FEW
            continue
        halves.append(r)
        wholes.append(2 * r / (1 + abs(r)))
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


def _means(ratings: Ratings, kept: Mask) -> Floats:
    """Mean of every item from the ratings that are kept; nan where none is."""
    n = np.bincount(ratings.items, weights=kept, minlength=ratings.n_items)
    sums = np.bincount(ratings.items, weights=ratings.scores * kept, minlength=ratings.n_items)
    return divided(sums, n)


def _pearson(one: Floats, two: Floats) -> float | None:
    one, two = one - one.mean(), two - two.mean()
    spread = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / spread if spread > 0 else None
