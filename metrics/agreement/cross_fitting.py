"""Workers judged on other items: cross-fitting.

Who is removed for disagreeing on an item must not make the agreement on that same item look better. So
the items are dealt into ten folds; for each fold the rules about workers run on the ratings of the other
nine, and what they decide is applied to the ratings of the fold. A worker is judged on nine tenths of
their ratings, and rules that need a number of them need nine tenths of it. Deciding on one half of the
items instead leaves workers with ten to twenty ratings undecided; the figures then are those of a worse
study.

Rules that add up over ratings, checks and kappa, need not run for each fold: what a worker did outside a fold
is what they did less what they did in it. Where rounding might decide, the rules do run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metrics.agreement import kappa
from metrics.agreement.alpha import Level, alpha_of
from metrics.agreement.data import ROWS, Floats, Mask, Ratings, generator
from metrics.agreement.filters import Checks, reference_of, run, without_response_filter
from metrics.agreement.recipes import CHECKS, KAPPA, TECHNICAL, Recipe
from metrics.figure import Figure

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
    rules = _for_a_part(without_response_filter(recipe), folds)
    deal = _Deal(fold_of, folds)
    gone = np.stack(list(_removed(ratings, rules, deal, checks, seconds)))
    standing = np.empty(len(ratings), dtype=np.bool_)
    for start in range(0, len(ratings), ROWS):
        rows = slice(start, start + ROWS)
        standing[rows] = ~gone[fold_of[ratings.items[rows]], ratings.workers[rows]]
    return HeldOut(standing, int(gone.sum()) / folds)


@dataclass(frozen=True, slots=True, eq=False)
class _Deal:
    """Which fold each item is in."""

    fold_of: npt.NDArray[np.int8]
    folds: int


def _removed(
    ratings: Ratings, rules: Recipe, deal: _Deal, checks: Checks | None, seconds: Floats | None
) -> Iterator[Mask]:
    """For each fold the workers whom the rules remove on the ratings of the others."""
    quick = None if rules.has(TECHNICAL) else _removed_by_sums(ratings, rules, deal, checks)
    for each in range(deal.folds):
        removed = None if quick is None else next(quick)
        if removed is None:
            rest = deal.fold_of[ratings.items] != each
            seconds_of_rest = None if seconds is None else seconds[rest]
            done = run(ratings.only(rest), rules, checks=checks, seconds=seconds_of_rest, repeated=False)
            removed = done.removed_workers
        yield removed


#: What the sums of a worker may be wrong by, as a share of the most that they can come to.
_ROUNDED = 1e-11


def _removed_by_sums(
    ratings: Ratings, rules: Recipe, deal: _Deal, checks: Checks | None
) -> Iterator[Mask | None]:
    """The same for rules about checks and kappa; None for a fold in which rounding might decide."""
    nothing = replace(rules, rules=tuple(rule for rule in rules.rules if rule == CHECKS))
    none = ratings.only(slice(0, 0))
    failed = run(none, nothing, checks=checks, repeated=False).removed_workers
    if not rules.has(KAPPA):
        yield from (failed for _ in range(deal.folds))
        return
    rows = ratings.only(~failed[ratings.workers]) if failed.any() else ratings
    reference = reference_of(rows, rules)
    if reference is None:
        yield from (None for _ in range(deal.folds))
        return
    sums = kappa.sums_against(rows, reference, deal.fold_of, deal.folds)
    del rows
    total = sums.sum(axis=1, keepdims=True)
    for each in range(deal.folds):
        n, observed, chance = kappa.costs(total - sums[:, each : each + 1], reference.cost)
        n = np.rint(n)
        enough = n >= rules.kappa_least
        doubt = _ROUNDED * n * n * reference.cost.apart.max()
        little = chance - kappa.NOTHING * n
        above = observed * n - (1 - rules.kappa_below) * chance
        if (enough & ((np.abs(little) <= doubt) | ((little > 0) & (np.abs(above) <= doubt)))).any():
            yield None
        else:
            yield failed | (enough & (little > 0) & (above > 0))


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
    held_outs = [held_out(ratings, recipe, rng, checks=checks, seconds=seconds) for _ in range(rounds)]
    figures = [alpha_of(ratings.only(each.standing), level) for each in held_outs]
    values = [figure.value for figure in figures if figure.value is not None]
    removed = float(np.mean([each.removed_workers for each in held_outs]))
    if not values:
        return CrossFitted(figures[-1], removed, rounds)
    return CrossFitted(Figure(float(np.mean(values))), removed, rounds)


def _for_a_part(recipe: Recipe, folds: int) -> Recipe:
    """The recipe with the numbers of ratings that its rules need, for all folds but one."""

    def part(least: int) -> int:
        return max(1, -(-least * (folds - 1) // folds))

    return replace(recipe, kappa_least=part(recipe.kappa_least), technical_least=part(recipe.technical_least))
