"""Scores that allow for workers who rate high, low or carelessly: ITU-T P.913 (06/2021), clause 12.6.

Each rating is taken as quality of the item + bias of the worker + noise, where the noise of each worker has
its own standard deviation, the worker's inconsistency. The three are found by alternating projection (Li,
Bampis, Krasula, Janowski, Katsavounidis: "A simple model for subject behavior in subjective experiments",
2020): each in turn from the other two until the qualities stand still. Only differences of biases are in the
data, so their mean over the workers is set to zero.

The published procedure believes a worker who always gives one score, or whose few ratings happen to fit: a
variance near zero gets a weight without bound, and that worker known then decides. So variances are shrunk:
`shrink` imagined ratings of ordinary noise (that of all workers together) are added to the ratings of each.
With `shrink=0` it is the published procedure. Use it after workers were filtered by kappa, not in place of
that.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.ratings import Ratings
from quality.sums import Floats, added, divided, sums_of

_STILL = 1e-9
_LEAST_VARIANCE = 1e-8
_MOST_ROUNDS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Adjusted:
    """`quality` per item, `bias` and `inconsistency` (standard deviation) per worker, in points of the scale.

    nan for items and workers without ratings. `rounds` it took; `settled` is false if the qualities were
    still moving when it was stopped.
    """

    quality: Floats
    bias: Floats
    inconsistency: Floats
    rounds: int
    settled: bool


def adjusted(ratings: Ratings, *, shrink: float = 5.0) -> Adjusted:
    """Adjusted quality of every item, with each worker's bias (positive: rates high) and inconsistency."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes a while to load

    scores = ratings.scores.astype(np.float64)
    shape = (ratings.n_items, ratings.n_workers)
    given = csr_array((np.ones(len(ratings)), (ratings.items, ratings.workers)), shape=shape)
    rated = csr_array((scores, (ratings.items, ratings.workers)), shape=shape)
    given_by, rated_by = given.T.tocsr(), rated.T.tocsr()
    n = np.bincount(ratings.workers, minlength=ratings.n_workers)
    totals = added(ratings.workers, scores, ratings.n_workers)
    squares = added(ratings.workers, scores**2, ratings.n_workers)

    def biases(quality: Floats) -> Floats:
        return divided(totals - given_by @ quality, n)

    def inside(quality: Floats, bias: Floats) -> Floats:
        """Sum of squared residuals of each worker; their mean is zero once the bias is taken out."""
        off = squares - 2 * (rated_by @ quality) + given_by @ quality**2
        return np.maximum(off - n * np.nan_to_num(bias) ** 2, 0)

    known = given.sum(axis=1) > 0
    quality = np.where(known, sums_of(ratings).mean, 0.0)
    bias = biases(quality)
    variance = np.full(ratings.n_workers, np.nan)
    settled, rounds = not len(ratings), 0
    while not settled and rounds < _MOST_ROUNDS:
        rounds += 1
        before = quality
        variance = _variances(inside(quality, bias), n, shrink)
        weights = np.nan_to_num(1 / variance)
        quality = np.nan_to_num(
            divided(rated @ weights - given @ (np.nan_to_num(bias) * weights), given @ weights)
        )
        bias = biases(quality)
        settled = bool(np.abs(quality - before).max() < _STILL)
    shift = float(np.nanmean(bias)) if len(ratings) else 0.0
    return Adjusted(
        np.where(known, quality + shift, np.nan), bias - shift, np.sqrt(variance), rounds, settled
    )


def _variances(inside: Floats, n: npt.NDArray[np.int64], shrink: float) -> Floats:
    """Of each worker's residuals (n below the line), drawn towards that of all by `shrink` ratings."""
    common = inside.sum() / n.sum()
    rated = n > 0
    variances = np.full(len(n), np.nan)
    variances[rated] = (inside[rated] + shrink * common) / (n[rated] + shrink)
    floored: Floats = np.maximum(variances, _LEAST_VARIANCE)
    return floored
