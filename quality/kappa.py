"""Weighted kappa (Cohen 1968): of each worker against the others, of a table, and Fleiss' kappa of many.

kappa = 1 - sum(w O) / sum(w E), w the weights of disagreement (0 on the diagonal), O the observed and E the
expected proportions. Where sum(w E) = 0 it is not defined: nan in arrays. That is not a failure of a worker.
Never on ratings that a z filter has been over: it hides the workers who should go. A worker rates an item
once; remove duplicates first (quality.technical).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.counts import Counts, Floats, cells, own_cells, portions, value_counts
from quality.figure import NO_PAIRS, NO_RATINGS, NO_VARIATION, Figure
from quality.grouped import medians
from quality.pairs import pair_cells
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

    Every rating of the worker meets the distribution of the others on its item, whatever their number: an
    item that many rated does not outweigh the rest. One pass over the ratings; defined also where no two
    workers share more than one item.
    """
    counts = value_counts(ratings)
    size = ratings.scale.size
    apart = disagreement(weights, size)
    given, marks = _linear_in(apart, weights)
    n = counts @ np.ones(size)
    several = n > 1
    share = np.divide(1.0, n - 1, out=np.zeros(len(n)), where=several)[:, None]
    of_others = [(((counts @ mark)[:, None] - mark) * share).ravel() for mark in marks]
    # By worker and own score: how many ratings, and the sums of their references' marks.
    sums = np.zeros((1 + len(marks), ratings.n_workers * size))
    for rows in portions(ratings, sums.shape[1]):
        own, keys = own_cells(ratings, rows), cells(ratings, rows)
        counted = None if several.all() else several[ratings.items[rows]]
        sums[0] += np.bincount(own, counted, sums.shape[1])
        for place, mark in enumerate(of_others, start=1):
            sums[place] += np.bincount(own, mark[keys], sums.shape[1])
    by_score = sums.reshape(len(sums), -1, size)
    observed = np.einsum("rwx,xr->w", by_score, given)
    chance = np.einsum("wx,xr,rw->w", by_score[0], given, by_score.sum(axis=2), optimize=True)
    return _kappas(observed, chance, by_score[0].sum(axis=1))


def consensus(ratings: Ratings, weights: Weights = "quadratic") -> WorkerKappas:
    """Each worker against the rounded mean of the others' ratings on the same items (leave one out).

    A mean that lies halfway between two scores counts half as the lower and half as the upper one, so that
    reversing the scale changes nothing.
    """
    counts = value_counts(ratings)
    size = ratings.scale.size
    apart = disagreement(weights, size)
    x = np.arange(size)
    others = (counts.sum(axis=1) - 1)[:, None]
    rest = (counts @ x)[:, None] - x
    below, above = (
        (2 * rest + others - 1) // np.maximum(1, 2 * others),
        (2 * rest + others) // np.maximum(1, 2 * others),
    )
    # Twice the consensus of each cell, odd where it lies between two scores; a last one for no others at all.
    none = 2 * size - 1
    twice = np.where(others > 0, below + above, none).clip(0, none).astype(np.int16).ravel()
    table = np.zeros(ratings.n_workers * size * (none + 1), dtype=np.int64)
    for rows in portions(ratings, table.size):
        keys = own_cells(ratings, rows)
        keys *= none + 1
        keys += twice[cells(ratings, rows)]
        table += np.bincount(keys, minlength=table.size)
    halves = (np.arange(none)[:, None] // 2 == x) / 2 + ((np.arange(none)[:, None] + 1) // 2 == x) / 2
    said = table.reshape(-1, size, none + 1)[:, :, :none] @ halves
    observed = np.einsum("wab,ab->w", said, apart)
    own, reference = said.sum(axis=2), said.sum(axis=1)
    return _kappas(observed, (own @ apart * reference).sum(axis=1), own.sum(axis=1))


def pairwise_median(ratings: Ratings, weights: Weights = "quadratic", *, least: int = 5) -> WorkerKappas:
    """The median of each worker's kappas with every other worker (ADEM, Lowe et al. 2017).

    Pairs count that share at least `least` items and whose kappa is defined. The tables of all pairs come
    from sorting the pairs of ratings inside items, so that the work grows with these and not with the square
    of the workers; `n` is as for the other kappas.
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


def _linear_in(apart: Floats, weights: Weights) -> tuple[Floats, Floats]:
    """Two matrices `given` (size, 1 + r) and `marks` (r, size): apart[a, b] = given[a] . (1, marks[:, b]).

    Marks are what has to be added up about a reference to know what it costs. Quadratic weights need two.
    """
    x = np.arange(len(apart), dtype=np.float64)
    if isinstance(weights, str) and weights == "quadratic":
        return np.stack([x * x, -2 * x, np.ones(len(x))], axis=1), np.stack([x, x * x])
    return np.hstack([apart[:, :1], apart[:, 1:] - apart[:, :1]]), np.eye(len(x))[1:]


def _kappas(observed: Floats, chance: Floats, n: Floats) -> WorkerKappas:
    """1 - observed / expected for each worker; `chance` is n times the expected disagreement.

    References are sums of fractions: a chance of nothing may come out as 1e-17.
    """
    defined = chance > 1e-9 * n
    kappa = np.full(len(n), np.nan)
    kappa[defined] = 1 - observed[defined] * n[defined] / chance[defined]
    return WorkerKappas(kappa, np.rint(n).astype(np.int64))
