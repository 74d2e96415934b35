"""Workers judged on other items: cross-fitting.

Who is removed for disagreeing on an item must not make the agreement on that same item look better. So the
items are dealt into ten folds; for each fold the rules about workers run on the ratings of the other nine,
and what they decide is applied to the ratings of the fold. A worker is judged on nine tenths of their
ratings, and rules that need a number of them need nine tenths of it. Deciding on one half of the items
instead leaves workers with ten to twenty ratings undecided; the figures then are those of a worse study.
"""

from dataclasses import dataclass, replace

import numpy as np

from metrics.agreement.alpha import Level, alpha_of
from metrics.agreement.figure import Figure
from metrics.agreement.ratings import Mask, Ratings
from metrics.agreement.recipes import Recipe
from metrics.agreement.run import Checks, Floats, run, without_response_filter
from metrics.agreement.seeds import generator

FOLDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Which ratings (mask of length n) are by workers who stand, as judged on the items of the other folds.

    `removed_workers` says how many a fold removed on average.
    """

    standing: Mask
    removed_workers: float


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """The mean alpha of the ratings that stand over the rounds; how many workers a fold removed on
    average."""

    alpha: Figure
    removed_workers: float
    rounds: int


def held_out(
    ratings: Ratings,
    recipe: Recipe,
    rng: np.random.Generator,
    *,
    checks: Checks | None = None,
    seconds: Floats | None = None,
) -> HeldOut:
    """Runs the recipe's rules about workers without the items that their decision is applied to.

    `ratings` must be without repeated ratings of a worker on an item. What workers did in attention checks is
    known to every fold: checks are no items.
    """
    rated = np.flatnonzero(np.bincount(ratings.items, minlength=ratings.n_items))
    folds = min(FOLDS, len(rated))
    if not recipe.judges_workers or folds < 2:  # two folds are the fewest
        return HeldOut(np.ones(len(ratings), dtype=np.bool_), 0.0)
    fold_of = np.zeros(ratings.n_items, dtype=np.int8)
    fold_of[rng.permutation(rated)] = np.arange(len(rated)) % folds
    fold = fold_of[ratings.items]
    rules = _for_a_part(without_response_filter(recipe), folds)
    standing = np.ones(len(ratings), dtype=np.bool_)
    removed = 0
    for each in range(folds):
        here = fold == each
        known = None if seconds is None else seconds[~here]
        gone = run(ratings.only(~here), rules, checks=checks, seconds=known, repeated=False).removed_workers
        standing[here] = ~gone[ratings.workers[here]]
        removed += int(gone.sum())
    return HeldOut(standing, removed / folds)


def cross_fitted(
    ratings: Ratings,
    recipe: Recipe,
    *,
    checks: Checks | None = None,
    seconds: Floats | None = None,
    level: Level = "interval",
    rounds: int = 3,
    seed: int = 0,
) -> CrossFitted:
    """Cross-fitted alpha after the recipe's rules about workers; its response filter takes no part.

    Each round deals the items into other folds. `ratings` as for `held_out`.
    """
    rng = generator(seed, "folds of items")
    found = [held_out(ratings, recipe, rng, checks=checks, seconds=seconds) for _ in range(rounds)]
    figures = [alpha_of(ratings.only(each.standing), level) for each in found]
    values = [figure.value for figure in figures if figure.value is not None]
    removed = float(np.mean([each.removed_workers for each in found]))
    if not values:
        return CrossFitted(figures[-1], removed, rounds)
    return CrossFitted(Figure(float(np.mean(values))), removed, rounds)


def _for_a_part(recipe: Recipe, folds: int) -> Recipe:
    """The recipe with the numbers of ratings that its rules need, for all folds but one."""

    def part(least: int) -> int:
        return max(1, -(-least * (folds - 1) // folds))

    return replace(recipe, kappa_least=part(recipe.kappa_least), technical_least=part(recipe.technical_least))
