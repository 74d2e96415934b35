"""Weighted kappa (Cohen 1968): of each worker against the others, of a table, and Fleiss' kappa of many.

kappa = 1 - sum(w O) / sum(w E), w the weights of disagreement (0 on the diagonal), O the observed and E the
expected proportions. Where sum(w E) = 0 it is not defined: nan in arrays. That is not a failure of a worker.
Never on ratings that a z filter has been over: it hides the workers who should go. A worker rates an item
once; remove duplicates first (metrics.agreement.technical).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.cost import NOTHING, Cost, Weights, cost_of, disagreement
from metrics.agreement.counts import Counts, Floats, cells, own_cells, portions, value_counts
from metrics.agreement.figure import NO_PAIRS, NO_RATINGS, NO_VARIATION, Figure
from metrics.agreement.groups import medians
from metrics.agreement.pairs import pair_kappas
from metrics.agreement.ratings import Codes, Mask, Ratings


@dataclass(frozen=True, slots=True, eq=False)
class WorkerKappas:
    """A kappa per worker, in the order of their codes, nan where it is not defined.

    `n`: their ratings on items with at least two ratings, which is what the kappa rests on.
    """

    kappa: Floats
    n: Counts


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
    cost = cost_of(weights, ratings.scale.size)
    n, *sums = cost.marks @ counts.astype(np.float64).T
    share = np.divide(1.0, n - 1, out=np.zeros(len(n)), where=n > 1)
    others = np.empty((*counts.shape, len(sums)))
    for place, total in enumerate(sums):
        for value, mark in enumerate(cost.marks[1 + place]):
            np.multiply(total - mark, share, out=others[:, value, place])
    return _against(ratings, n > 1, cost, others)


def consensus(ratings: Ratings, weights: Weights = "quadratic") -> WorkerKappas:
    """Each worker against the rounded mean of the others' ratings on the same items (leave one out).

    A mean that lies halfway between two scores counts half as the lower and half as the upper one, so that
    reversing the scale changes nothing.
    """
    counts = value_counts(ratings)
    cost = cost_of(weights, ratings.scale.size)
    x = np.arange(ratings.scale.size)
    n = counts.sum(axis=1)
    several = n > 1
    # For each item and own score, twice the mean of the others as a fraction over `others`, and from it the
    # two scores nearest to the mean. Cells that nobody is in may come to lie outside the scale.
    others = np.maximum(1, n - 1)[:, None]
    twice = 2 * ((counts @ x)[:, None] - x) * several[:, None]
    both = (twice + others - 1) // (2 * others) + (twice + others) // (2 * others)
    halves = np.arange(2 * ratings.scale.size - 1)
    of_both = (cost.marks[1:, halves // 2] + cost.marks[1:, (halves + 1) // 2]) / 2
    return _against(ratings, several, cost, of_both.T[both.clip(0, halves[-1])])


def _against(ratings: Ratings, several: Mask, cost: Cost, reference: Floats) -> WorkerKappas:
    """Kappas against a reference that is known by item and own score.

    `reference` has the mean of each of the cost's marks (but the first, the ones) in the reference: shape
    (items, V, marks), 0 for the items that do not count; `several` are those that do. What a worker's ratings
    cost, and what they would cost by chance, follow from the sums of marks by worker and own score.
    """
    size = ratings.scale.size
    # A row for each cell: all marks of a rating come with one look into memory.
    table = reference.reshape(-1, reference.shape[2])
    sums = np.zeros((1 + table.shape[1], ratings.n_workers * size))
    for rows in portions(ratings, sums.shape[1]):
        own, keys = own_cells(ratings, rows), cells(ratings, rows)
        counted = None if several.all() else several[ratings.items[rows]]
        sums[0] += np.bincount(own, counted, sums.shape[1])
        for place, mark in enumerate(table.take(keys, axis=0).T, start=1):
            sums[place] += np.bincount(own, mark, sums.shape[1])
    by_score = sums.reshape(len(sums), -1, size)
    n = by_score[0].sum(axis=1)
    observed = np.einsum("rwx,xr->w", by_score, cost.given)
    chance = ((by_score[0] @ cost.given) * by_score.sum(axis=2).T).sum(axis=1)
    defined = chance > NOTHING * n
    kappa = np.full(ratings.n_workers, np.nan)
    kappa[defined] = 1 - observed[defined] * n[defined] / chance[defined]
    return WorkerKappas(kappa, np.rint(n).astype(np.int64))


def pairwise_median(ratings: Ratings, weights: Weights = "quadratic", *, least: int = 5) -> WorkerKappas:
    """The median of each worker's kappas with every other worker (ADEM, Lowe et al. 2017).

    Pairs count that share at least `least` items and whose kappa is defined. `n` is as for the other kappas.
    """
    cost = cost_of(weights, ratings.scale.size)
    workers: list[Codes] = [np.zeros(0, dtype=np.int32)]
    kappas: list[Floats] = [np.zeros(0)]
    for found in pair_kappas(ratings, cost, least):
        workers.append(found.workers)
        kappas.append(found.kappa)
    several = value_counts(ratings).sum(axis=1) > 1
    n = np.bincount(ratings.workers[several[ratings.items]], minlength=ratings.n_workers)
    return WorkerKappas(medians(np.concatenate(workers), np.concatenate(kappas), ratings.n_workers), n)
