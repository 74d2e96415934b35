"""Scores that allow for workers who rate high, low or carelessly: ITU-T P.913 (06/2021), clause 12.6.

Each rating is taken as quality of the item + bias of the worker + noise, where the noise of each worker has
its own standard deviation, the worker's inconsistency. The three are found by alternating projection (Li,
Bampis, Krasula, Janowski, Katsavounidis: "A simple model for subject behavior in subjective experiments",
2020): each in turn from the other two until the qualities stand still. Only differences of biases are in the
data, so their mean over the workers is set to zero.

The published procedure believes a worker who always gives one score, or whose few ratings happen to fit: a
variance near zero gets a weight without bound, and that worker alone then decides. So variances are shrunk:
`shrink` imagined ratings of ordinary noise (that of all workers together) are added to the ratings of each.
With `shrink=0` it is the published procedure. Use it after workers were filtered by kappa, not in place of
that.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.ratings import Ratings
from metrics.agreement.sums import Floats, added, divided

_STILL = 1e-8
_LEAST_VARIANCE = 1e-8
_MOST_ROUNDS = 500


@dataclass(frozen=True, slots=True, eq=False)
class AdjustedScores:
    """`quality` per item, `bias` and `inconsistency` (standard deviation) per worker, in points of the scale.

    nan for items and workers without ratings. `rounds` it took; `settled` is false if the qualities were
    still moving when it was stopped.
    """

    quality: Floats
    bias: Floats
    inconsistency: Floats
    rounds: int
    settled: bool


def adjusted(ratings: Ratings, *, shrink: float = 5.0) -> AdjustedScores:
    """Adjusted quality of every item, with each worker's bias (positive: rates high) and inconsistency."""
    from scipy.sparse import csr_array  # noqa: PLC0415  # slow to import; only this needs it here

    n = np.bincount(ratings.workers, minlength=ratings.n_workers)
    if not len(ratings):
        none = np.full(ratings.n_workers, np.nan)
        return AdjustedScores(np.full(ratings.n_items, np.nan), none, none.copy(), 0, True)
    middle = float(ratings.scores.mean())
    scores: Floats = ratings.scores.astype(np.float64) - middle
    shape, places = (ratings.n_items, ratings.n_workers), (ratings.items, ratings.workers)
    given = csr_array((scores, places), shape=shape)
    sums, squares = added(ratings.workers, scores, len(n)), added(ratings.workers, scores**2, len(n))
    ones = np.ones(len(scores))
    once = given.nnz == len(scores)  # no worker rated an item twice: the places are the same
    rated = csr_array((ones, given.indices, given.indptr) if once else (ones, places), shape=shape)
    del scores, ones

    def residuals(quality: Floats) -> tuple[Floats, Floats]:
        """Sums of score minus quality, and of its square, for each worker."""
        known = np.nan_to_num(quality)
        first = rated.T @ known
        return sums - first, squares - 2 * (given.T @ known) + rated.T @ known**2

    quality = divided(given.sum(axis=1), rated.sum(axis=1))
    above, beyond = residuals(quality)
    bias = divided(above, n)
    settled, rounds = False, 0
    while not settled and rounds < _MOST_ROUNDS:
        rounds += 1
        before = quality
        variance = _variances(above, beyond, n, shrink)
        weights = np.nan_to_num(1 / variance)
        quality = divided(given @ weights - rated @ (np.nan_to_num(bias) * weights), rated @ weights)
        above, beyond = residuals(quality)
        bias = divided(above, n)
        settled = bool(np.nanmax(np.abs(quality - before)) < _STILL)
    shift = float(np.nanmean(bias))
    unit = float(ratings.scale.unit)
    return AdjustedScores(
        (quality + shift + middle) * unit, (bias - shift) * unit, np.sqrt(variance) * unit, rounds, settled
    )


def _variances(sums: Floats, squares: Floats, n: npt.NDArray[np.int64], shrink: float) -> Floats:
    """Of each worker's residuals (n below the line), drawn towards that of all by `shrink` ratings.

    `sums` and `squares` may still hold the bias: it cancels.
    """
    inside = np.maximum(squares - divided(sums * sums, n), 0)
    common = np.nansum(inside) / n.sum()
    rated = n > 0
    variances = np.full(len(n), np.nan)
    variances[rated] = (inside[rated] + shrink * common) / (n[rated] + shrink)
    floored: Floats = np.maximum(variances, _LEAST_VARIANCE)
    return floored
