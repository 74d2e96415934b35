"""Intervals of Krippendorff's alpha by resampling.

Two-way: items and workers are drawn with replacement, independently of each other, and a rating counts as
often as its item and its worker together (the pigeonhole bootstrap: Owen 2007, Annals of Applied Statistics
1(2); Owen and Eckles 2012). Items alone say how alpha varies over items for these workers.

A worker drawn twice meets their own copy on every item they rated. Such a pair agrees by construction and says
nothing about agreement between people: with ten ratings per item it would lift every replicate by about a
tenth of what is missing to 1. So only pairs of different workers count. An item in which the drawn workers
have weights u_j (m = sum of u_j) contributes, as always, m ratings' worth of its mean disagreement over pairs:
sum over j != k of u_j u_k d_jk, divided by the weight of such pairs, m^2 - sum of u_j^2. With all u = 1 that is
Krippendorff's 1/(n - 1). Expected disagreement leaves out pairs of a rating with its own copies in the same way.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from quality.alpha import Level, coincidences, distances, from_coincidences
from quality.counts import Counts, cells, value_counts
from quality.ratings import Ratings

Over = Literal["both", "items"]
Replicate = Callable[[np.random.Generator], float]

COVERAGE = 0.95
# An interval needs this share of the replicates to have an alpha.
DEFINED = 0.9


def alpha_interval(
    ratings: Ratings,
    *,
    level: Level = "interval",
    replicates: int = 1000,
    seed: int = 0,
    over: Over = "both",
) -> tuple[float, float] | None:
    """The bounds of a 95 % percentile interval of alpha; None where it has none.

    `over="both"` generalises to other items and other workers; `over="items"` holds for these workers only and
    is much narrower. Deterministic in the seed.
    """
    raters = np.bincount(ratings.workers, minlength=1)
    if np.count_nonzero(raters) < 2:
        return None
    draws = _over_items(ratings, level) if over == "items" else _over_both(ratings, level)
    rng = np.random.default_rng(seed)
    found = np.array([draws(rng) for _ in range(replicates)])
    found = found[~np.isnan(found)]
    if not len(found) or len(found) < DEFINED * replicates:
        return None
    low, high = np.quantile(found, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)


def _over_items(ratings: Ratings, level: Level) -> Replicate:
    """Alphas of samples of the items that have two ratings.

    Items with the same counts are the same to alpha, so a sample is one multinomial draw over the different
    histograms, of which there are far fewer than items.
    """
    counts = value_counts(ratings)
    kinds, frequency = np.unique(counts[counts.sum(axis=1) > 1], axis=0, return_counts=True)
    items, size = int(frequency.sum()), ratings.scale.size
    values = ratings.scale.values.astype(np.float64)
    each = np.array([coincidences(kind[None, :]).ravel() for kind in kinds]).reshape(len(kinds), size * size)

    def draw(rng: np.random.Generator) -> float:
        drawn = rng.multinomial(items, frequency / max(1, items))
        together = (drawn @ each).reshape(size, size)
        alpha = from_coincidences(together, values, level)
        return np.nan if alpha is None else alpha

    return draw


def _over_both(ratings: Ratings, level: Level) -> Replicate:
    """Alphas of samples of items and workers, from the items that have two ratings."""
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes a while to load

    counts = value_counts(ratings)
    several = counts.sum(axis=1) > 1
    ratings = ratings.only(several[ratings.items])
    counts = counts[several]
    items, size = counts.shape
    present, workers = np.unique(ratings.workers, return_inverse=True)
    values = ratings.scale.values.astype(np.float64)
    # Rows by item, then by score: the same column of workers serves a matrix with a row for each cell and one
    # with a row for each item.
    columns = workers[np.argsort(cells(ratings, slice(None)), kind="stable")].astype(np.int32)
    ones = np.ones(len(columns))
    by_cell = csr_array((ones, columns, _ends(counts.ravel())), shape=(items * size, len(present)))
    by_item = csr_array((ones, columns, _ends(counts.sum(axis=1))), shape=(items, len(present)))

    def draw(rng: np.random.Generator) -> float:
        of_item = np.bincount(rng.integers(items, size=items), minlength=items)
        of_worker = np.bincount(rng.integers(len(present), size=len(present)), minlength=len(present))
        of_worker = of_worker.astype(np.float64)
        drawn = (by_cell @ of_worker).reshape(items, size)
        copies = by_item @ np.square(of_worker)
        m = drawn.sum(axis=1)
        pairs = m * m - copies
        counted = of_item * (pairs > 0)
        together = drawn.T @ (
            drawn * np.divide(counted * m, pairs, out=np.zeros(items), where=counted > 0)[:, None]
        )
        marginal = counted @ drawn
        total = float(marginal.sum())
        apart = distances(values, marginal, level)
        expected = float(marginal @ apart @ marginal)
        if expected <= 0:
            return np.nan
        own = float((np.square(counted) * copies).sum())
        return 1 - float((together * apart).sum()) / total * (total * total - own) / expected

    return draw


def _ends(lengths: Counts) -> Counts:
    """Where rows of these lengths begin, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(lengths)))
