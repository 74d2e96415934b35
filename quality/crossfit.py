"""Alpha after worker removal, cross-fitted: workers are judged on one half of the items, alpha measured on the other.

Who is removed for disagreeing on an item must not make the agreement on that same item look better. Both halves
take both roles, over several random halvings; the figure is the mean.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.alpha import Level, alpha_of
from quality.figure import Figure
from quality.halves import halves_of_items
from quality.ratings import Ratings
from quality.recipes import Recipe
from quality.run import Checks, run, without_response_filter

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
    """Cross-fitted alpha after the recipe's rules about workers; its response filter takes no part."""
    about_workers = without_response_filter(recipe)
    rng = np.random.default_rng(seed)
    values, removed = [], []
    reason = ""
    for _ in range(halvings):
        first = halves_of_items(ratings, rng)
        for decide, measure in ((first, ~first), (~first, first)):
            decided = run(
                ratings.only(decide),
                about_workers,
                checks=checks,
                seconds=None if seconds is None else seconds[decide],
            )
            measured = ratings.only(measure & ~decided.removed_workers[ratings.workers])
            figure = alpha_of(measured, level)
            removed.append(int(decided.removed_workers.sum()))
            if figure.value is None:
                reason = figure.reason
            else:
                values.append(figure.value)
    if not values:
        return CrossFitted(Figure(None, reason), float(np.mean(removed or [0])), halvings)
    return CrossFitted(Figure(float(np.mean(values))), float(np.mean(removed)), halvings)
