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

from quality.alpha import Level, coincidences, distances
from quality.counts import Counts, Floats, cells, value_counts
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
    """Alphas of samples of the pairable items.

    Items with the same counts are the same to alpha, so a sample is one multinomial draw over the different
    histograms, of which there are far fewer than items.
    """
    counts = value_counts(ratings)
    kinds, frequency = np.unique(counts[counts.sum(axis=1) > 1], axis=0, return_counts=True)
    items = int(frequency.sum())
    values, size = ratings.scale.values.astype(np.float64), ratings.scale.size
    each = np.stack([coincidences(kind[None, :]).ravel() for kind in kinds]) if items else None

    def draw(rng: np.random.Generator) -> float:
        if each is None:
            return float("nan")
        drawn = rng.multinomial(items, frequency / items)
        together = (drawn @ each).reshape(size, size)
        marginal = together.sum(axis=0)
        own = float(marginal.sum())
        return _ratio(together, marginal, own, distances(values, marginal, level))

    return draw


def _over_both(ratings: Ratings, level: Level) -> Replicate:
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes a while to load

    items = np.unique(ratings.items, return_inverse=True)[1]
    counts = value_counts(ratings)
    several = counts.sum(axis=1) > 1
    rated = np.flatnonzero(several)
    place = np.cumsum(several) - 1
    kept = ratings.only(several[ratings.items])
    return draw
