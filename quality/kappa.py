"""Weighted kappa (Cohen 1968): of each worker against the others, of a table, and Fleiss' kappa of many.

kappa = 1 - sum(w O) / sum(w E), w the weights of disagreement (0 on the diagonal), O the observed and E the
expected proportions. Where sum(w E) = 0 it is not defined: nan in arrays. That is not a failure of a worker.
Never on ratings that a z filter has been over: it hides the workers who should go. A worker rates an item
once; remove duplicates first (quality.technical).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.counts import ROWS, Counts, Floats, cells, value_counts
from quality.figure import NO_PAIRS, NO_RATINGS, NO_VARIATION, Figure
from quality.ratings import Ratings

Weights = str | npt.ArrayLike


@dataclass(frozen=True, slots=True, eq=False)
class WorkerKappas:
    """A kappa per worker, in the order of their codes, nan where it is not defined.

    `n`: their ratings on items with at least two ratings, which is what the kappa rests on.
    """

    kappa: Floats
    n: Counts


def disagreement(weights: Weights, size: int) -> Floats:
    """Weights of disagreement, shape (size, size): by name (unweighted, linear, quadratic) or a matrix."""
    x = np.arange(size, dtype=np.float64)
    apart = np.abs(x[:, None] - x[None, :])
    if isinstance(weights, str):
        named = {"unweighted": np.minimum(apart, 1), "linear": apart, "quadratic": np.square(apart)}
        if weights not in named:
            raise ValueError(f"no weights of kappa: {weights}")
        return named[weights]
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (size, size) or np.diag(given).any() or (given < 0).any():
        raise ValueError(f"weights must be {size} x {size}, not negative, and 0 on the diagonal")
    return given


def from_table(table: npt.ArrayLike, weights: Weights = "unweighted") -> Figure:
    """Kappa of a table of two raters: rows are what the first said, columns what the second said."""
    given = np.asarray(table, dtype=np.float64)
    total = float(given.sum())
    if not total:
        return Figure(None, NO_RATINGS)
    apart = disagreement(weights, len(given))
    expected = float(given.sum(axis=1) @ apart @ given.sum(axis=0)) / total
    if expected <= 0:
        return Figure(None, NO_VARIATION)
    return Figure(1 - float((apart * given).sum()) / expected)


def fleiss(counts: npt.NDArray[np.number]) -> Figure:
    """Fleiss' kappa of an item x value count matrix, also where items have different numbers of ratings.

    Agreement is averaged over the items with at least two ratings; chance comes from the mean share of each
    value over all rated items (Gwet 2014, Handbook of Inter-Rater Reliability, for missing ratings).
    """
    n = counts.sum(axis=1)
    rated = n > 0
    if not rated.any():
        return Figure(None, NO_RATINGS)
    pairs = n * (n - 1)
    several = pairs > 0
    if not several.any():
        return Figure(None, NO_PAIRS)
    same = (np.square(counts.astype(np.float64)).sum(axis=1) - n)[several]
    observed = float((same / pairs[several]).mean())
    share = (counts[rated] / n[rated][:, None]).mean(axis=0)
    chance = float(np.square(share).sum())
    if chance >= 1:
        return Figure(None, NO_VARIATION)
    return Figure((observed - chance) / (1 - chance))


def pooled(ratings: Ratings, weights: Weights = "quadratic") -> WorkerKappas:
    """Each worker against the distribution of all others' ratings on the same items.

    Every rating of the worker meets the distribution of the others on its item, whatever their number: an item
    that many rated does not outweigh the rest. One pass over the ratings; needs no two workers who share items.
    """
    counts = value_counts(ratings)
    apart = disagreement(weights, ratings.scale.size)
    n = counts.sum(axis=1)
    others = np.divide(1.0, n - 1, out=np.zeros(len(n)), where=n > 1)
    # What a rating of this value costs against the others of its item: the diagonal of `apart` is 0, so the
    # rating itself may stay among them.
    cost = (counts @ apart.T) * others[:, None]
    shares = counts * others[:, None]
    return _against(ratings, apart, others, cost.ravel(), shares)


def _against(ratings: Ratings, apart: Floats, others: Floats, cost: Floats, shares: Floats) -> WorkerKappas:
    """Kappas from per-item tables: 1/(n - 1), each value's cost, each value's share with the rating itself."""
    workers, size = ratings.n_workers, ratings.scale.size
    own, observed = np.zeros(workers * size), np.zeros(workers)
    pool = np.zeros((workers, size))
    step = max(ROWS, workers * size)
    for start in range(0, len(ratings), step):
        rows = slice(start, start + step)
        items, codes = ratings.items[rows], ratings.workers[rows].astype(np.int64)
        weight = others[items]
        observed += np.bincount(codes, cost[cells(ratings, rows)], workers)
        for value in range(size):
            pool[:, value] += np.bincount(codes, shares[:, value][items], workers)
        codes *= size
        codes += ratings.scores[rows]
        codes -= ratings.scale.low
        own += np.bincount(codes, weight > 0, workers * size)
        pool -= np.bincount(codes, weight, workers * size).reshape(workers, size)
    mine = own.reshape(workers, size)
    n = mine.sum(axis=1)
    expected = np.divide(((mine @ apart) * pool).sum(axis=1), n, out=np.zeros(workers), where=n > 0)
    defined = expected > 1e-9 * np.maximum(1, n)
    kappa = np.full(workers, np.nan)
    kappa[defined] = 1 - observed[defined] / expected[defined]
    return WorkerKappas(kappa, n.astype(np.int64))
