"""Pairs of workers who rated the same items, and what both said, without a worker x worker matrix."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from quality.counts import Counts, value_counts
from quality.ratings import Codes, Ratings, Scores

# Pairs of ratings that lie in memory at a time (about 100 bytes each).
PAIRS = 1 << 21


@dataclass(frozen=True, slots=True, eq=False)
class PairCells:
    """The filled cells of the tables of some pairs of workers, sorted by pair; one number per cell.

    In `n` ratings of shared items the first worker said `first` and the second `second` (codes from 0). The
    cells of pair p are those from `starts[p]` on; `workers` has the code of each pair's first worker.
    """

    workers: Codes
    starts: Counts
    first: Counts
    second: Counts
    n: Counts


def pair_cells(ratings: Ratings, least: int) -> Iterator[PairCells]:
    """The tables of all ordered pairs of workers, in portions; every worker's pairs come in one portion.

    Workers with fewer than `least` ratings share no `least` items with anybody and are left out before pairs
    are made. The work grows with the number of pairs of ratings inside items.
    """
    rated = value_counts(ratings).sum(axis=1)
    given = np.bincount(ratings.workers, minlength=ratings.n_workers)
    ratings = ratings.only((rated[ratings.items] > 1) & (given[ratings.workers] >= least))
    if not len(ratings):
        return
    order = np.argsort(ratings.items, kind="stable")
    item_workers, item_values = ratings.workers[order], ratings.scores[order] - ratings.scale.low
    n = np.bincount(ratings.items, minlength=ratings.n_items)
    first = np.cumsum(n) - n
    by_worker = ratings.only(np.argsort(ratings.workers, kind="stable"))
    load = np.cumsum(n[by_worker.items])
    ends = np.append(np.flatnonzero(np.diff(by_worker.workers)) + 1, len(by_worker))
    start = 0
    while start < len(by_worker):
        done = load[start - 1] if start else 0
        fits = int(np.searchsorted(load[ends - 1], done + PAIRS, side="right"))
        within = int(np.searchsorted(ends, start, side="right"))
        end = int(ends[max(fits - 1, within)])
        mine = by_worker.only(slice(start, end))
        yield _cells(mine, n, first, item_workers, item_values)
        start = end


def _cells(mine: Ratings, n: Counts, first: Counts, item_workers: Codes, item_values: Scores) -> PairCells:
    """Every rating of some workers beside every rating of its item, counted by pair and by both values."""
    size, workers = mine.scale.size, mine.n_workers
    lengths = n[mine.items]
    ends = np.cumsum(lengths)
    others = np.arange(ends[-1]) + np.repeat(first[mine.items] - (ends - lengths), lengths)
    keys = np.repeat(mine.workers.astype(np.int64) * (workers * size * size), lengths)
    keys += np.repeat((mine.scores.astype(np.int64) - mine.scale.low) * size, lengths)
    second = item_workers[others]
    apart = second != np.repeat(mine.workers, lengths)
    keys += second.astype(np.int64) * (size * size)
    keys += item_values[others]
    keys = np.sort(keys[apart])
    cells = np.flatnonzero(np.diff(keys, prepend=-1))
    counted = np.diff(cells, append=len(keys))
    pair, both = np.divmod(keys[cells], size * size)
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    return PairCells((pair[starts] // workers).astype(np.int32), starts, both // size, both % size, counted)
