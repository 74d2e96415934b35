"""What the quality study measures in one simulated study: figures by name."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from metrics.agreement.alpha import alpha_of
from metrics.agreement.cross_fitting import cross_fitted
from metrics.agreement.data import Mask, Sums, pooled_variance, sums_of
from metrics.agreement.filters import Checks, Run, check_verdicts, run
from metrics.agreement.intervals import Over, alpha_interval, expected_alpha, null_alpha
from metrics.agreement.kappa import WorkerKappas, pooled
from metrics.agreement.planning import CROWDS, Rule, Study, decision, precision, simulated
from metrics.agreement.recipes import DEFAULT, KPQA_2021, RECIPES
from metrics.agreement.reliability import split_half
from metrics.agreement.scores import adjusted, item_scores

Floats = npt.NDArray[np.float64]
Figures = dict[str, float]
POOL = 15
DECISION_LEAST = 4
THRESHOLD = 3.5
FIXED = (3, 5, 7, 10, 15)
_SPLITS = 10
_REPLICATES = 300
_OVER: tuple[Over, Over] = ("both", "items")


def measured(name: str, seed: int, *, items: int = 1000) -> Figures:
    """All figures of one study of this crowd; a figure that is not defined is left out."""
    study = simulated(CROWDS[name], items=items, seed=seed)
    checks = Checks(study.presented, study.failed)
    runs = {recipe.name: run(study.ratings, recipe, checks=checks) for recipe in RECIPES.values()}
    figures: Figures = {}
    for recipe, done in runs.items():
        kept = study.ratings.only(done.kept)
        figures[f"alpha {recipe}"] = _known(alpha_of(kept).value)
        halves = split_half(study.ratings, RECIPES[recipe], checks=checks, splits=_SPLITS, seed=seed)
        figures[f"reliability {recipe}"] = _known(halves.whole.value)
        figures[f"kept {recipe}"] = len(kept) / items
        figures |= _score(recipe, study, item_scores(study.ratings, done.kept).mean)
    standing = study.ratings.only(runs["default"].standing)
    figures |= _score("adjusted", study, adjusted(standing).quality)
    figures |= _score("adjusted alone", study, adjusted(study.ratings).quality)
    figures |= _score("unshrunk alone", study, adjusted(study.ratings, shrink=0).quality)
    figures |= _about_z(study, runs["kpqa-2021"], seed)
    crossed = cross_fitted(study.ratings, DEFAULT, checks=checks, seed=seed)
    figures["alpha cross-fitted"] = _known(crossed.alpha.value)
    figures |= _who_was_found(study, runs["kpqa-2021"])
    return {what: value for what, value in figures.items() if not np.isnan(value)}


def stopped(name: str, seed: int, *, items: int = 1000) -> Figures:
    """Ratings per item and errors when every item stops by a rule, out of a pool of fifteen ratings each."""
    study = simulated(CROWDS[name], items=items, per_item=POOL, seed=seed)
    order = np.argsort(study.ratings.items, kind="stable")
    scores = study.ratings.scores[order].reshape(items, POOL).astype(np.int64)
    sums, squares = scores.cumsum(axis=1), (scores**2).cumsum(axis=1)
    n = np.tile(np.arange(1, POOL + 1), (items, 1))
    prefixes = Sums(n.ravel(), sums.ravel(), squares.ravel())
    prior = pooled_variance(sums_of(study.ratings)) or 0.0
    stops = {
        "precision": precision(prefixes, Rule(prior, most=POOL)).enough,
        "decision": decision(
            prefixes, Rule(prior, least=DECISION_LEAST, most=POOL), threshold=THRESHOLD
        ).enough,
        **{f"fixed {fixed}": prefixes.n == fixed for fixed in FIXED},
    }
    figures: Figures = {}
    for rule, enough in stops.items():
        at = enough.reshape(items, POOL).argmax(axis=1)
        means = sums[np.arange(items), at] / (at + 1)
        figures[f"n {rule}"] = float((at + 1).mean())
        figures[f"wrong {rule}"] = float(((means >= THRESHOLD) != (study.truth >= THRESHOLD)).mean())
        figures[f"error {rule}"] = _rmse(means, study.truth)
    return figures


def covered(studies: int, *, items: int = 1000, workers: int = 150) -> Figures:
    """How often 95 % intervals of alpha hold the alpha of the population that every study draws.

    Each worker is a spammer with the chance of the moderate crowd. The alpha of the population is taken as
    the mean over all these studies; `width` is the mean width of the intervals.
    """
    random = np.random.default_rng(1)
    crowds = [
        replace(CROWDS["moderate"], spam=random.binomial(workers, CROWDS["moderate"].spam) / workers)
        for _ in range(studies)
    ]
    ratings = [
        simulated(crowd, items=items, workers=workers, seed=seed).ratings for seed, crowd in enumerate(crowds)
    ]
    truth = float(np.mean([alpha_of(each).value for each in ratings]))
    figures: Figures = {"alpha": truth}
    for over in _OVER:
        bounds = [
            alpha_interval(each, replicates=_REPLICATES, seed=seed, over=over)
            for seed, each in enumerate(ratings)
        ]
        known = np.array([each for each in bounds if each is not None])
        figures[f"covered {over}"] = float(((known[:, 0] <= truth) & (truth <= known[:, 1])).mean())
        figures[f"width {over}"] = float((known[:, 1] - known[:, 0]).mean())
    return figures


def _about_z(study: Study, done: Run, seed: int) -> Figures:
    null = null_alpha(study.ratings, KPQA_2021, permutations=10, seed=seed).after
    return {
        "null": _known(null.value),
        "expected": _known(expected_alpha(study.ratings, KPQA_2021, crowds=5, seed=seed).after.value),
        "capped": float(done.capped_items.mean()),
    }


def _who_was_found(study: Study, z: Run) -> Figures:
    if study.spammers.all():
        return {}
    figures: Figures = {}
    ways = {
        "kappa": _below(pooled(study.ratings)),
        "kappa after z": _below(pooled(study.ratings.only(z.kept))),
        "two checks": _failed(study, failures=2, least=4),
        "any check": _failed(study, failures=1, least=1),
    }
    for way, removed in ways.items():
        figures[f"lost {way}"] = float(removed[~study.spammers].mean())
        if study.spammers.any():
            figures[f"caught {way}"] = float(removed[study.spammers].mean())
    return figures


def _below(kappas: WorkerKappas) -> Mask:
    return (kappas.kappa < DEFAULT.kappa_below) & (kappas.n >= DEFAULT.kappa_least)


def _failed(study: Study, *, failures: int, least: int) -> Mask:
    workers = np.arange(len(study.presented), dtype=np.int32)
    return check_verdicts(workers, study.presented, study.failed, failures=failures, least=least).removed


def _score(which: str, study: Study, scores: Floats) -> Figures:
    known = ~np.isnan(scores) & ~np.isnan(study.truth)
    if not known.any():
        return {}
    return {
        f"rmse {which}": _rmse(scores[known], study.truth[known]),
        f"r {which}": float(np.corrcoef(scores[known], study.truth[known])[0, 1]),
        f"contested {which}": _rmse(scores[known & study.contested], study.truth[known & study.contested]),
    }


def _rmse(scores: Floats, truth: Floats) -> float:
    return float(np.sqrt(np.mean((scores - truth) ** 2))) if len(scores) else np.nan


def _known(value: float | None) -> float:
    return np.nan if value is None else value
