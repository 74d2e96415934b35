"""What a response filter makes of ratings without any agreement: the null of alpha after z.

Each worker's scores are dealt out again over the items that this worker rated: how workers use the scale
stays, what they say about items is gone. The same filter on such ratings shows how much agreement it
manufactures out of nothing. What it makes of a crowd that does agree: `metrics.agreement.nulls`.
"""

from dataclasses import dataclass, replace

import numpy as np

from metrics.agreement.alpha import Level, alpha_of
from metrics.agreement.data import Codes, Ratings, Scores, generator
from metrics.agreement.filters import respond
from metrics.agreement.recipes import Recipe
from metrics.figure import Figure


@dataclass(frozen=True, slots=True)
class Null:
    """Mean alphas of permuted ratings before and after the filter, and the spread of the second."""

    before: Figure
    after: Figure
    sd: float | None
    permutations: int


def permuted(ratings: Ratings, rng: np.random.Generator) -> Ratings:
    """The ratings with every worker's scores in random order over the same items."""
    by_worker = np.argsort(ratings.workers, kind="stable")
    return _dealt(ratings, by_worker, rng)


def null_alpha(
    ratings: Ratings,
    recipe: Recipe,
    *,
    level: Level = "interval",
    permutations: int = 20,
    seed: int = 0,
) -> Null:
    """Alpha that the recipe's response filter makes of ratings permuted within worker.

    `ratings` are those that the rules about workers left: the rows that the filter sees.
    """
    rng = generator(seed, "permutation")
    by_worker = np.argsort(ratings.workers, kind="stable")
    before: list[Figure] = []
    after: list[Figure] = []
    for _ in range(permutations):
        noise = _dealt(ratings, by_worker, rng)
        before.append(alpha_of(noise, level))
        after.append(alpha_of(noise.only(~respond(noise, recipe).mask), level))
    values = [figure.value for figure in after if figure.value is not None]
    return Null(
        _mean(before),
        _mean(after),
        float(np.std(values, ddof=1)) if len(values) > 1 else None,
        permutations,
    )


def _dealt(ratings: Ratings, by_worker: np.ndarray, rng: np.random.Generator) -> Ratings:
    workers = ratings.workers[by_worker].astype(np.int64)
    keys = (workers << 32) | rng.integers(0, 1 << 32, len(workers), dtype=np.int64)
    scores: Scores = np.empty_like(ratings.scores)
    scores[by_worker] = ratings.scores[by_worker[np.argsort(keys)]]
    return Ratings(
        ratings.items, ratings.workers, scores, ratings.item_names, ratings.worker_names, ratings.scale
    )


def _mean(figures: list[Figure]) -> Figure:
    values = [figure.value for figure in figures if figure.value is not None]
    if not values:
        return Figure(None, figures[0].reason if figures else "not calculated")
    return Figure(float(np.mean(values)))


# What a response filter makes of a crowd that agrees as much as this one did before it.
#
# A filter that removes the ratings far from the others raises alpha at every level of agreement, so alpha
# after it cannot be read by itself. Crowds are made with the same items, workers, numbers of ratings and
# scale: each rating becomes one drawn from those of the same item, or, as often as it takes until alpha is
# what it was before the filter, one of the same worker's own scores on any item. The same filter then shows
# what it makes of a crowd of which nothing is known but that. Alpha after the filter says something only
# where it differs from this.

_STEPS = 12


@dataclass(frozen=True, slots=True)
class ExpectedAlpha:
    """Mean alphas of the made crowds before and after the filter, and the spread of the second."""

    before: Figure
    after: Figure
    sd: float | None
    crowds: int


def expected_alpha(
    ratings: Ratings, recipe: Recipe, *, level: Level = "interval", crowds: int = 10, seed: int = 0
) -> ExpectedAlpha:
    """Alpha that the recipe's response filter makes of crowds whose alpha is that of `ratings`."""
    raw = alpha_of(ratings, level)
    if raw.value is None:
        return ExpectedAlpha(raw, raw, None, 0)
    rng = generator(seed, "crowds of the same agreement")
    made = [_crowd(ratings, raw.value, level, rng) for _ in range(crowds)]
    before = [alpha_of(each, level) for each in made]
    after = [alpha_of(each.only(~respond(each, recipe).mask), level) for each in made]
    values = [figure.value for figure in after if figure.value is not None]
    return ExpectedAlpha(
        _mean(before),
        _mean(after),
        float(np.std(values, ddof=1)) if len(values) > 1 else None,
        crowds,
    )


def _crowd(ratings: Ratings, raw: float, level: Level, rng: np.random.Generator) -> Ratings:
    """A crowd of about this alpha: the more ratings come from workers instead of items, the lower it is."""
    of_item = ratings.scores[_partners(ratings.items, ratings.n_items, rng)]
    of_worker = ratings.scores[_partners(ratings.workers, ratings.n_workers, rng)]
    chance = rng.random(len(ratings))
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        share = (low + high) / 2
        found = alpha_of(_mixed(ratings, chance < share, of_worker, of_item), level).value
        low, high = (share, high) if found is not None and found > raw else (low, share)
    return _mixed(ratings, chance < (low + high) / 2, of_worker, of_item)


def _mixed(ratings: Ratings, blind: np.ndarray, of_worker: np.ndarray, of_item: np.ndarray) -> Ratings:
    return replace(ratings, scores=np.where(blind, of_worker, of_item))


def _partners(codes: Codes, size: int, rng: np.random.Generator) -> np.ndarray:
    """For each row another row, or itself, of the same code."""
    order = np.argsort(codes, kind="stable")
    n = np.bincount(codes, minlength=size)
    start = np.cumsum(n) - n
    partners: np.ndarray = order[start[codes] + (rng.random(len(codes)) * n[codes]).astype(np.int64)]
    return partners
