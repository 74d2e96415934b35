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

from quality.ratings import Ratings
from quality.sums import Floats, added, divided

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
    items, workers = ratings.items, ratings.workers
    scores = ratings.scores.astype(np.float64)
    per_worker = np.bincount(workers, minlength=ratings.n_workers)

    def by_worker(values: Floats) -> Floats:
        return added(workers, values, ratings.n_workers)

    def by_item(values: Floats) -> Floats:
        return added(items, values, ratings.n_items)

    quality = divided(by_item(scores), np.bincount(items, minlength=ratings.n_items))
    bias = divided(by_worker(scores - quality[items]), per_worker)
    variance = np.full(ratings.n_workers, np.nan)
    settled, rounds = not len(ratings), 0
    while not settled and rounds < _MOST_ROUNDS:
        rounds += 1
        before = quality
        residuals = scores - quality[items] - bias[workers]
        variance = _variances(by_worker(residuals), by_worker(residuals**2), per_worker, shrink)
        weights = 1 / variance[workers]
        quality = divided(by_item((scores - bias[workers]) * weights), by_item(weights))
        bias = divided(by_worker(scores - quality[items]), per_worker)
        settled = bool(np.nanmax(np.abs(quality - before)) < _STILL)
    shift = float(np.nanmean(bias)) if len(ratings) else 0.0
    quality, bias = quality + shift, bias - shift
    return Adjusted(quality, bias, np.sqrt(variance), rounds, settled)


def _variances(sums: Floats, squares: Floats, n: npt.NDArray[np.int64], shrink: float) -> Floats:
    """Of each worker's residuals (n below the line), drawn towards that of all by `shrink` ratings."""
    inside = np.maximum(squares - divided(sums * sums, n), 0)
    common = np.nansum(inside) / n.sum()
    rated = n > 0
    variances = np.full(len(n), np.nan)
    variances[rated] = (inside[rated] + shrink * common) / (n[rated] + shrink)
    floored: Floats = np.maximum(variances, _LEAST_VARIANCE)
    return floored
