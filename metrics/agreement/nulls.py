"""What a response filter makes of ratings without any agreement: the null of alpha after z.

Each worker's scores are dealt out again over the items that this worker rated: how workers use the scale
stays, what they say about items is gone. The same filter on such ratings shows how much agreement it
manufactures out of nothing. What it makes of a crowd that does agree: `metrics.agreement.expected_alpha`.
"""

from dataclasses import dataclass

import numpy as np

from metrics.agreement.alpha import Level, alpha_of
from metrics.agreement.figure import Figure
from metrics.agreement.ratings import Ratings, Scores
from metrics.agreement.recipes import Recipe
from metrics.agreement.run import respond
from metrics.agreement.seeds import generator


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
