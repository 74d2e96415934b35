"""Alpha after worker removal, cross-fitted: decided on one half of the items, measured on the other.

Who is removed for disagreeing on an item must not make the agreement on that same item look better. Both
halves take both roles, over several random halvings; the figure is the mean.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.alpha import Level, alpha
from quality.counts import value_counts
from quality.figure import Figure
from quality.halves import doubled, doubled_checks, halves_of_items
from quality.ratings import Ratings
from quality.recipes import Recipe
from quality.run import Checks, run, without_response_filter
from quality.seeds import generator

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """The mean alpha of the halves that were measured; how many workers a half removed on average."""

    alpha: Figure
    removed_workers: float
    halvings: int


def cross_fitted(
    ratings: Ratings,
    recipe: Recipe,
    *,
    checks: Checks | None = None,
    seconds: Floats | None = None,
    level: Level = "interval",
    halvings: int = 10,
    seed: int = 0,
) -> CrossFitted:
    """Cross-fitted alpha after the recipe's rules about workers; its response filter takes no part.

    `ratings` must be without repeated ratings of a worker on an item.
    """
    about_workers = without_response_filter(recipe)
    twice = doubled_checks(checks)
    rng = generator(seed, "halves of items")
    values, removed = [], []
    reason = ""
    for _ in range(halvings):
        second = halves_of_items(ratings, rng)
        beside = doubled(ratings, second[ratings.items], items=False)
        decided = run(beside, about_workers, checks=twice, seconds=seconds, repeated=False)
        gone = decided.removed_workers
        # A worker of the first half is 2 c: flipping the last bit asks what the other half decided.
        measured = ratings.only(~gone[beside.workers ^ 1])
        counts = value_counts(measured)
        for half in (second, ~second):
            figure = alpha(counts[half], ratings.scale.values, level)
            if figure.value is None:
                reason = figure.reason
            else:
                values.append(figure.value)
        removed.append(int(gone.sum()) / 2)
    if not values:
        return CrossFitted(Figure(None, reason), float(np.mean(removed or [0])), halvings)
    return CrossFitted(Figure(float(np.mean(values))), float(np.mean(removed)), halvings)
