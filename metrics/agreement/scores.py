"""The published score of every item and how much its ratings differ."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.counts import value_counts
from metrics.agreement.ratings import Mask, Ratings
from metrics.agreement.sums import Floats, Sums, Whole, divided

TRIM = 5
"""A trimmed mean leaves out n // 5 ratings (20 %) at each end, as `scipy.stats.trim_mean(x, 0.2)` does."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemScores:
    """One entry per item; nan where the kept ratings do not define the figure.

    `mean`, `sd` (n - 1 below the line; needs two ratings), `median` (of an even number: half way between the
    middle two) and `trimmed` (20 % trimmed mean) are over the kept ratings, `n_raw` counts all.
    """

    n_raw: Whole
    n_kept: Whole
    mean: Floats
    sd: Floats
    median: Floats
    trimmed: Floats


def item_scores(ratings: Ratings, kept: Mask | None = None) -> ItemScores:
    """Scores of all items from the rows that `kept` (one truth per rating) keeps; without it from all."""
    counts = value_counts(ratings if kept is None else ratings.only(kept))
    values, unit = ratings.scale.steps, float(ratings.scale.unit)
    n = counts.sum(axis=1)
    sums = Sums(n, counts @ values, counts @ (values * values))
    upto = counts.cumsum(axis=1)
    return ItemScores(
        n_raw=np.bincount(ratings.items, minlength=ratings.n_items).astype(np.int64),
        n_kept=n,
        mean=sums.mean * unit,
        sd=np.sqrt(sums.variance) * unit,
        median=_median(upto, n, values) * unit,
        trimmed=_trimmed(upto, n, values) * unit,
    )


def _median(upto: Whole, n: Whole, values: npt.NDArray[np.int64]) -> Floats:
    lower = (upto <= ((n - 1) // 2)[:, None]).sum(axis=1)
    upper = (upto <= (n // 2)[:, None]).sum(axis=1)
    rated = n > 0
    medians = np.full(len(n), np.nan)
    medians[rated] = (values[lower[rated]] + values[upper[rated]]) / 2
    return medians


def _trimmed(upto: Whole, n: Whole, values: npt.NDArray[np.int64]) -> Floats:
    cut = n // TRIM
    inside = np.clip(upto, cut[:, None], (n - cut)[:, None]) - cut[:, None]
    left = np.diff(inside, axis=1, prepend=0)
    return divided(left @ values, n - 2 * cut)
