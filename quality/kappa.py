"""Weighted kappa (Cohen 1968): of each worker against the others, of a table, and Fleiss' kappa of many.

kappa = 1 - sum(w O) / sum(w E), w the weights of disagreement (0 on the diagonal), O the observed and E the
expected proportions. Where sum(w E) = 0 it is not defined: nan in arrays. That is not a failure of a worker.
Never on ratings that a z filter has been over: it hides the workers who should go. A worker rates an item
once; remove duplicates first (quality.technical).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.counts import ROWS, Counts, Floats, cells, value_counts
from quality.figure import NO_PAIRS, NO_RATINGS, NO_VARIATION, Figure
from quality.grouped import medians
from quality.pairs import pair_cells
from quality.ratings import Mask, Ratings

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

    Every rating of the worker meets the distribution of the others on its item, whatever their number: an
    item that many rated does not outweigh the rest. One pass over the ratings; defined also where no two
    workers share more than one item.
    """
    counts = value_counts(ratings)
    apart = disagreement(weights, ratings.scale.size)
    others = _share_of_each_other(counts)
    # What a rating costs against the others of its item. The weights have a 0 on the diagonal, so the rating
    # itself may stay among them.
    cost = ((counts @ apart.T) * others[:, None]).ravel()
    shares = [np.ascontiguousarray(counts[:, value] * others) for value in range(ratings.scale.size)]
    sums = _Sums(ratings)
    for rows in sums.portions():
        items = ratings.items[rows]
        weight = others[items]
        sums.add(rows, weight > 0, cost[cells(ratings, rows)])
        for value, share in enumerate(shares):
            sums.add_reference(rows, value, share[items])
        sums.take_own(rows, weight)
    return sums.kappas(apart)


def consensus(ratings: Ratings, weights: Weights = "quadratic") -> WorkerKappas:
    """Each worker against the rounded mean of the others' ratings on the same items (leave one out).

    A mean that lies halfway between two scores counts half as the lower and half as the upper one, so that
    reversing the scale changes nothing.
    """
    counts = value_counts(ratings)
    size = ratings.scale.size
    apart = disagreement(weights, size)
    n, total = counts.sum(axis=1), counts @ np.arange(size)
    sums = _Sums(ratings)
    for rows in sums.portions():
        items, own = ratings.items[rows], ratings.scores[rows].astype(np.int64) - ratings.scale.low
        several = n[items] > 1
        others, rest = np.maximum(1, n[items] - 1), total[items] - own
        lower = np.where(several, (2 * rest + others - 1) // (2 * others), 0)
        upper = np.where(several, (2 * rest + others) // (2 * others), 0)
        sums.add(rows, several, (apart[own, lower] + apart[own, upper]) / 2 * several)
        for value in range(size):
            sums.add_reference(rows, value, ((lower == value) / 2 + (upper == value) / 2) * several)
    return sums.kappas(apart)


def pairwise_median(ratings: Ratings, weights: Weights = "quadratic", *, least: int = 5) -> WorkerKappas:
    """The median of each worker's kappas with every other worker (ADEM, Lowe et al. 2017).

    Pairs count that share at least `least` items and whose kappa is defined. The tables of all pairs come from
    sorting the pairs of ratings inside items, so that the work grows with these and not with the square of the
    workers; `n` is as for the other kappas.
    """
    size = ratings.scale.size
    apart = disagreement(weights, size)
    workers: list[npt.NDArray[np.int32]] = [np.zeros(0, dtype=np.int32)]
    values: list[Floats] = [np.zeros(0)]
    for found in pair_cells(ratings, least):
        shared = np.add.reduceat(found.n, found.starts)
        observed = np.add.reduceat(found.n * apart[found.first, found.second], found.starts)
        second = [np.add.reduceat(found.n * (found.second == value), found.starts) for value in range(size)]
        pool = np.stack(second, axis=1) @ apart.T
        expected = np.zeros(len(shared))
        for value in range(size):
            expected += np.add.reduceat(found.n * (found.first == value), found.starts) * pool[:, value]
        defined = (shared >= least) & (expected > 0)
        workers.append(found.workers[defined])
        values.append(1 - observed[defined] * shared[defined] / expected[defined])
    several = value_counts(ratings).sum(axis=1) > 1
    n = np.bincount(ratings.workers[several[ratings.items]], minlength=ratings.n_workers)
    return WorkerKappas(medians(np.concatenate(workers), np.concatenate(values), ratings.n_workers), n)


def _share_of_each_other(counts: Counts) -> Floats:
    """1/(n - 1) of every item, 0 for items with fewer than two ratings."""
    n = counts.sum(axis=1)
    return np.divide(1.0, n - 1, out=np.zeros(len(n)), where=n > 1)


class _Sums:
    """What a kappa of each worker against a reference is made of, added up over portions of the ratings."""

    def __init__(self, ratings: Ratings) -> None:
        self.ratings = ratings
        self.size = ratings.scale.size
        self.workers = ratings.n_workers
        self.own = np.zeros(self.workers * self.size)
        self.reference = np.zeros((self.size, self.workers))
        self.observed = np.zeros(self.workers)

    def portions(self) -> Iterator[slice]:
        """Slices of rows, large enough that adding up a portion is not what takes the time."""
        step = max(ROWS, self.workers * self.size)
        return (slice(start, start + step) for start in range(0, len(self.ratings), step))

    def add(self, rows: slice, counted: Mask, cost: Floats) -> None:
        """The worker's own ratings where they count, and what each costs against its reference."""
        self.observed += np.bincount(self.ratings.workers[rows], cost, self.workers)
        self.own += np.bincount(self._own_cells(rows), counted, self.own.size)

    def add_reference(self, rows: slice, value: int, share: Floats) -> None:
        """How much of each rating's reference has one value."""
        self.reference[value] += np.bincount(self.ratings.workers[rows], share, self.workers)

    def take_own(self, rows: slice, share: Floats) -> None:
        """Takes each rating itself out of its reference, which it has this share of."""
        own = np.bincount(self._own_cells(rows), share, self.own.size)
        self.reference -= own.reshape(self.workers, self.size).T

    def kappas(self, apart: Floats) -> WorkerKappas:
        """1 - observed / expected for each worker."""
        own = self.own.reshape(self.workers, self.size)
        n = own.sum(axis=1)
        chance = ((own @ apart) * self.reference.T).sum(axis=1)
        # References are sums of fractions: an expected disagreement of nothing may come out as 1e-17.
        defined = chance > 1e-9 * n
        kappa = np.full(self.workers, np.nan)
        kappa[defined] = 1 - self.observed[defined] * n[defined] / chance[defined]
        return WorkerKappas(kappa, n.astype(np.int64))

    def _own_cells(self, rows: slice) -> Counts:
        keys = self.ratings.workers[rows].astype(np.int64)
        keys *= self.size
        keys += self.ratings.scores[rows]
        keys -= self.ratings.scale.low
        return keys
