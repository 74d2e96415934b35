"""Kappas of all pairs of workers who rated the same items, in closed form.

Where few pairs share items, pairs of ratings are listed and sorted, so that no worker x worker matrix is made
and the work grows with the pairs of ratings inside items. Where most workers rated most items, products of
matrices do the same in a fraction of the time.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from metrics.agreement.cost import NOTHING, Cost
from metrics.agreement.counts import Counts, Floats, value_counts
from metrics.agreement.groups import stable_order
from metrics.agreement.ratings import Codes, Ratings, Scores

# Pairs of ratings in memory at a time (about 60 bytes each), and cells of a dense matrix.
PAIRS = 1 << 20
CELLS = 1 << 22
# What a listed pair of ratings costs, in multiplications of a matrix product and in its own cells.
PER_PAIR, PER_CELL = 80, 50


@dataclass(frozen=True, slots=True, eq=False)
class PairKappas:
    """Kappas of ordered pairs of workers, by the code of the first."""

    workers: Codes
    kappa: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _ByItem:
    """Ratings sorted by item: where each item's ratings begin and how many there are."""

    first: Counts
    n: Counts
    workers: Codes
    values: Scores


def pair_kappas(ratings: Ratings, cost: Cost, least: int) -> Iterator[PairKappas]:
    """The kappas of all pairs that share at least `least` items and whose kappa is defined, in portions."""
    rated = value_counts(ratings).sum(axis=1)
    given = np.bincount(ratings.workers, minlength=ratings.n_workers)
    # Workers with fewer than `least` ratings share no `least` items with anybody.
    ratings = ratings.only((rated[ratings.items] > 1) & (given[ratings.workers] >= least))
    if not len(ratings):
        return
    pairs = int(np.square(np.bincount(ratings.items)).sum())
    people, items = len(np.unique(ratings.workers)), len(np.unique(ratings.items))
    if people * items <= CELLS and pairs * PER_PAIR > people * people * (items + PER_CELL):
        yield _multiplied(ratings, cost, least)
    else:
        yield from _listed(ratings.only(stable_order(ratings.workers)), cost, least)


def _multiplied(ratings: Ratings, cost: Cost, least: int) -> PairKappas:
    people, workers = np.unique(ratings.workers, return_inverse=True)
    present, items = np.unique(ratings.items, return_inverse=True)
    values = ratings.scores - ratings.scale.low
    there = np.zeros((len(people), len(present)))
    there[workers, items] = 1
    shared = there @ there.T
    observed, chance = np.zeros(shared.shape), np.zeros(shared.shape)
    for given, mark in zip(cost.given.T, cost.marks, strict=True):
        first, second = np.zeros(there.shape), np.zeros(there.shape)
        first[workers, items], second[workers, items] = given[values], mark[values]
        observed += first @ second.T
        chance += (first @ there.T) * (there @ second.T)
    np.fill_diagonal(shared, 0)
    return _defined(people.repeat(len(people)), shared.ravel(), observed.ravel(), chance.ravel(), least)


def _defined(workers: Codes, shared: Floats, observed: Floats, chance: Floats, least: int) -> PairKappas:
    found = (shared >= max(1, least)) & (chance > NOTHING * shared)
    return PairKappas(workers[found], 1 - observed[found] * shared[found] / chance[found])


def _listed(ratings: Ratings, cost: Cost, least: int) -> Iterator[PairKappas]:
    """From ratings in the order of their workers; all pairs of a first worker come in one portion."""
    order = stable_order(ratings.items)
    n = np.bincount(ratings.items, minlength=ratings.n_items)
    by_item = _ByItem(np.cumsum(n) - n, n, ratings.workers[order], ratings.scores[order] - ratings.scale.low)
    load = np.cumsum(n[ratings.items])
    ends = np.append(np.flatnonzero(np.diff(ratings.workers)) + 1, len(ratings))
    start = 0
    while start < len(ratings):
        done = load[start - 1] if start else 0
        last_that_fits = int(np.searchsorted(load[ends - 1], done + PAIRS, side="right")) - 1
        own = int(np.searchsorted(ends, start, side="right"))
        end = int(ends[max(last_that_fits, own)])
        yield _of_portion(ratings.only(slice(start, end)), by_item, cost, least)
        start = end


def _of_portion(mine: Ratings, by_item: _ByItem, cost: Cost, least: int) -> PairKappas:
    """Every rating of some workers beside every other worker's rating of its item, sorted by pair."""
    size, workers = mine.scale.size, mine.n_workers
    lengths = by_item.n[mine.items]
    ends = np.cumsum(lengths)
    others = np.arange(ends[-1])
    others += np.repeat(by_item.first[mine.items] - (ends - lengths), lengths)
    keys = mine.workers.astype(np.int64) * (workers * size * size)
    keys += (mine.scores.astype(np.int64) - mine.scale.low) * size
    keys = np.repeat(keys, lengths)
    second = by_item.workers[others]
    keys += second.astype(np.int64) * (size * size)
    keys += by_item.values[others]
    keys = keys[second != np.repeat(mine.workers, lengths)]
    keys.sort()
    pair, both = np.divmod(keys, size * size)
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    shared = np.diff(starts, append=len(pair))
    enough = shared >= max(1, least)
    if not enough.any():
        return PairKappas(np.zeros(0, dtype=np.int32), np.zeros(0))
    first = (pair[starts[enough]] // workers).astype(np.int32)
    both = both[np.repeat(enough, shared)]
    shared = shared[enough]
    starts = np.cumsum(shared) - shared
    own, theirs = np.divmod(both, size)
    observed = np.add.reduceat(cost.apart.ravel()[both], starts)
    chance = np.zeros(len(starts))
    for given, mark in zip(cost.given.T, cost.marks, strict=True):
        chance += np.add.reduceat(given[own], starts) * np.add.reduceat(mark[theirs], starts)
    return _defined(first, shared.astype(np.float64), observed, chance, least)
