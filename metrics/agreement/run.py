"""Running a recipe: which ratings and which workers stay, what removed the others, and of whom too little is
known."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metrics.agreement import kappa
from metrics.agreement.attention import check_verdicts
from metrics.agreement.kappa import WorkerKappas
from metrics.agreement.ratings import Mask, Ratings
from metrics.agreement.recipes import CHECKS, KAPPA, TECHNICAL, Recipe, Z
from metrics.agreement.responses import ZRemoved, z_removed
from metrics.agreement.technical import duplicates, straight_lining, test_accounts, too_fast
from metrics.agreement.verdicts import Verdicts

DUPLICATE = "duplicate"
RESPONSE_Z = "z"
WORKER_KAPPA = "kappa"
Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Checks:
    """Attention checks that each worker was shown and failed, arrays of length n_workers."""

    presented: Whole
    failed: Whole


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a recipe decided. Masks over ratings have length n, those over workers n_workers.

    `distinct` leaves out ratings that repeat an earlier one of the same worker; `standing` leaves out those
    of removed workers too; `kept` leaves out single responses as well: it is what scores are made of.
    `verdicts` are those of the rules about workers, in the order in which they ran; a worker whom one
    removed is not looked at by the next. `removed_by` has, for each worker, the place in `verdicts` of the
    rule that removed them, or -1. `z` (nan where it was not measured) and `rank` (of removal in the item,
    from 1; 0 for none) belong to the response filter, as do `capped_items`.
    """

    recipe: Recipe
    distinct: Mask
    standing: Mask
    kept: Mask
    verdicts: tuple[Verdicts, ...]
    removed_by: npt.NDArray[np.int8]
    z: npt.NDArray[np.float32]
    rank: npt.NDArray[np.int16]
    capped_items: Mask
    kappas: WorkerKappas | None

    @property
    def removed_workers(self) -> Mask:
        """Workers whom a rule removed."""
        return self.removed_by >= 0

    @property
    def undetermined(self) -> Mask:
        """Workers who stay although a rule could not decide on them."""
        unsure = np.zeros(len(self.removed_by), dtype=np.bool_)
        for verdict in self.verdicts:
            unsure |= verdict.undetermined
        return unsure & ~self.removed_workers

    @property
    def reasons(self) -> tuple[str, ...]:
        """Names of what can remove a rating: `duplicate`, the rules about workers that ran, `z`."""
        return (DUPLICATE, *(verdict.rule for verdict in self.verdicts), RESPONSE_Z)

    def removed_because(self, ratings: Ratings) -> npt.NDArray[np.int8]:
        """For each rating the place in `reasons` of what removed it, -1 for those kept."""
        because = np.full(len(ratings), -1, dtype=np.int8)
        because[self.standing & ~self.kept] = len(self.verdicts) + 1
        by_worker = self.removed_by[ratings.workers]
        because[by_worker >= 0] = by_worker[by_worker >= 0] + 1
        because[~self.distinct] = 0
        return because


def run(
    ratings: Ratings,
    recipe: Recipe,
    *,
    checks: Checks | None = None,
    seconds: Floats | None = None,
    repeated: bool = True,
) -> Run:
    """Runs the recipe's rules in their fixed order. `seconds` has the time of each rating, nan for unknown.

    `repeated` false says that no worker rated an item twice, which then is not looked for. A rule without
    anything to look at (no checks, no times) does not run; `verdicts` then lacks it.
    """
    distinct = ~duplicates(ratings) if repeated else np.ones(len(ratings), dtype=np.bool_)
    standing = distinct
    gone = np.full(ratings.n_workers, -1, dtype=np.int8)
    verdicts: list[Verdicts] = []
    kappas = None

    def judge(verdict: Verdicts) -> None:
        nonlocal standing
        gone[verdict.removed & (gone < 0)] = len(verdicts)
        verdicts.append(verdict)
        if verdict.removed.any():
            standing = distinct & (gone < 0)[ratings.workers]

    if recipe.has(TECHNICAL):
        for verdict in _technical(
            ratings.only(distinct), recipe, None if seconds is None else seconds[distinct]
        ):
            judge(verdict)
    if recipe.has(CHECKS) and checks is not None:
        judge(_checks(recipe, checks))
    if recipe.has(KAPPA):
        kappas = kappa_of(_rows(ratings, standing), recipe)
        judge(_kappa(recipe, kappas))
    kept = standing
    z = np.full(len(ratings), np.nan, dtype=np.float32)
    rank = np.zeros(len(ratings), dtype=np.int16)
    capped = np.zeros(ratings.n_items, dtype=np.bool_)
    if recipe.has(Z):
        out = respond(_rows(ratings, standing), recipe)
        kept = standing.copy()
        kept[standing] = ~out.mask
        z[standing], rank[standing], capped = out.z, out.rank, out.capped_items
    return Run(recipe, distinct, standing, kept, tuple(verdicts), gone, z, rank, capped, kappas)


def respond(ratings: Ratings, recipe: Recipe) -> ZRemoved:
    """The recipe's response filter alone."""
    return z_removed(
        ratings,
        limit=recipe.z_limit,
        cap=recipe.z_cap,
        ddof=recipe.z_ddof,
        least=recipe.z_least,
        keep=recipe.z_keep,
        ties="group" if recipe.z_ties == "group" else "submission",
    )


def without_response_filter(recipe: Recipe) -> Recipe:
    """The recipe with its rules about workers alone."""
    return replace(recipe, rules=tuple(rule for rule in recipe.rules if rule != Z))


def kappa_of(ratings: Ratings, recipe: Recipe) -> WorkerKappas:
    """Each worker's kappa against the recipe's reference."""
    weights = "linear" if recipe.kappa_weights == "linear" else "quadratic"
    if recipe.kappa_reference == "pairwise":
        return kappa.pairwise_median(ratings, weights)
    if recipe.kappa_reference == "consensus":
        return kappa.consensus(ratings, weights)
    return kappa.pooled(ratings, weights)


def _rows(ratings: Ratings, mask: Mask) -> Ratings:
    return ratings if mask.all() else ratings.only(mask)


def _technical(ratings: Ratings, recipe: Recipe, seconds: Floats | None) -> list[Verdicts]:
    verdicts = []
    if recipe.test_accounts:
        exact = [name for name in recipe.test_accounts if not name.endswith("*")]
        prefixes = [name[:-1] for name in recipe.test_accounts if name.endswith("*")]
        verdicts.append(test_accounts(ratings.worker_names, exact, prefixes=prefixes))
    if recipe.seconds_below and seconds is not None:
        verdicts.append(too_fast(ratings, seconds, limit=recipe.seconds_below, least=recipe.technical_least))
    if recipe.straight_share:
        verdicts.append(straight_lining(ratings, least=recipe.technical_least, share=recipe.straight_share))
    return verdicts


def _checks(recipe: Recipe, checks: Checks) -> Verdicts:
    everybody = np.arange(len(checks.presented), dtype=np.int32)
    return check_verdicts(
        everybody,
        checks.presented,
        checks.failed,
        n_workers=len(everybody),
        failures=recipe.checks_failed,
        least=recipe.checks_least,
    )


def _kappa(recipe: Recipe, kappas: WorkerKappas) -> Verdicts:
    defined = ~np.isnan(kappas.kappa)
    enough = (kappas.n >= recipe.kappa_least) & defined
    with np.errstate(invalid="ignore"):
        below = kappas.kappa < recipe.kappa_below
    return Verdicts(
        rule=WORKER_KAPPA,
        removed=enough & below,
        undetermined=~enough,
        value=kappas.kappa,
        n=kappas.n,
        words=f"has a {recipe.kappa_weights} kappa of {{value:z.2f}} with the others over {{n}} ratings; "
        f"the limit is {recipe.kappa_below:g}",
        words_undetermined="has {n} ratings on items that others rated too; a decision needs "
        f"{recipe.kappa_least}, and scores that differ",
    )
