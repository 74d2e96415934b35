"""Agreement about each aspect that judges were asked about beside the overall score (ADEM, Lowe et al. 2017).

No filter looks at aspects, and none is applied to them here: before and after the rules about workers every
answer counts, so that no figure of an aspect comes from ratings chosen by that aspect. A rule that removes by
kappa does choose by the overall score, whose figures after it are therefore null (`alpha` has the
cross-fitted one).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metrics.agreement.alpha import alpha_of
from metrics.agreement.data import NO_RATINGS, NO_VARIATION, Floats, Mask, Ratings
from metrics.agreement.filters import Run
from metrics.agreement.intervals import interval_or_reason
from metrics.agreement.kappa import pairwise_median
from metrics.agreement.quotes import OVERALL
from metrics.agreement.recipes import KAPPA, NONE
from metrics.agreement.reliability import split_half
from metrics.agreement.report_tables import MOST_PAIRS
from metrics.agreement.scale import MOST_SCORES, Scale
from metrics.figure import Figure, add_reasons, figures_as_json

#: Items that two workers must share for a kappa of the two.
LEAST_SHARED = 5
_LEAST = 3
ONE_ITEM = "not defined: only one item has two ratings, which says nothing about differences between items"
NO_KAPPA = f"not defined: no two workers share {LEAST_SHARED} items, or they do not vary"
OF_ITSELF = "it is the overall score itself"
SELECTED = "workers were removed by their kappa on this score; alpha after it is quoted cross-fitted"
TOO_FEW = f"not defined: fewer than {_LEAST} ratings have both"
_FIGURES = ("alpha", "kappa", "split_half", "spearman_brown")


def aspect_ratings(ratings: Ratings, values: Floats, among: Mask | None = None) -> Ratings:
    """The ratings with what they say of an aspect in place of the score; those that say nothing (nan) go.

    ValueError where an aspect is no whole number, or has more than 1,001 scores.
    """
    given = ~np.isnan(values) if among is None else among & ~np.isnan(values)
    said = values[given]
    if (said != np.rint(said)).any():
        raise ValueError("scores of aspects are whole numbers")
    low, high = (int(said.min()), int(said.max())) if len(said) else (1, 2)
    if high - low >= MOST_SCORES:
        raise ValueError(f"an aspect has at most {MOST_SCORES:,} different scores")
    some = ratings.only(given)
    return replace(some, scores=said.astype(np.int16), scale=Scale.of(low, max(high, low + 1)))


def worker_kappa(ratings: Ratings) -> Figure:
    """The median over workers of their median quadratic kappa with every other one; `n` workers have one."""
    n = np.bincount(ratings.items, minlength=ratings.n_items)
    if int((n * (n - 1)).sum()) > 2 * MOST_PAIRS:
        return Figure(None, f"not calculated for more than {MOST_PAIRS:,} pairs of ratings", n=0)
    kappas = pairwise_median(ratings, least=LEAST_SHARED).kappa
    known = kappas[~np.isnan(kappas)]
    return Figure(float(np.median(known)), n=len(known)) if len(known) else Figure(None, NO_KAPPA, n=0)


def with_overall(ratings: Ratings, values: Floats, among: Mask) -> Figure:
    """Pearson's r between an aspect and the overall score of the same ratings."""
    both = among & ~np.isnan(values)
    if both.sum() < _LEAST:
        return Figure(None, TOO_FEW)
    one, other = values[both], ratings.scores[both].astype(np.float64)
    one, other = one - one.mean(), other - other.mean()
    spread = float(np.sqrt(one @ one) * np.sqrt(other @ other))
    return Figure(float(one @ other) / spread) if spread else Figure(None, NO_VARIATION)


def aspect_rows(
    ratings: Ratings,
    done: Run,
    aspects: Mapping[str, Floats],
    *,
    replicates: int,
    splits: int,
    seed: int,
) -> list[dict[str, Any]]:
    """A row for the overall score and one for each aspect, with its figures before and after worker removal.

    `aspects` have a number for each rating, nan where nothing was said. Halves are split without any filter.
    `replicates` are those of alpha's interval, over items and workers; 0 leaves it out.
    """
    how = _Draws(replicates, splits, seed)
    same = bool((done.standing == done.distinct).all())
    rows = []
    for name, values in ((OVERALL, None), *aspects.items()):
        before = _figures(ratings, values, done.distinct, how)
        if same:
            after = dict(before)
        elif values is None and removed_by_kappa(done):
            after = _counts(ratings.only(done.standing))
            after |= {"workers": 0, **figures_as_json(dict.fromkeys(_FIGURES, Figure(None, SELECTED)))}
            after |= {"ci": None, "pearson": None}
            after["reason"] |= {"ci": SELECTED, "pearson": OF_ITSELF}
        else:
            after = _figures(ratings, values, done.standing, how)
        rows.append({"aspect": name, "before": before, "after_workers": after})
    return rows


def removed_by_kappa(done: Run) -> bool:
    """Whether a worker was removed by the overall score."""
    return any(
        verdict.rule == KAPPA and bool((done.removed_by == place).any())
        for place, verdict in enumerate(done.verdicts)
    )


def _counts(ratings: Ratings) -> dict[str, Any]:
    n = np.bincount(ratings.items, minlength=ratings.n_items)
    return {"n_ratings": len(ratings), "n_items": int((n > 0).sum())}


@dataclass(frozen=True, slots=True)
class _Draws:
    """How much is drawn for an interval and for halves, and from which seed."""

    replicates: int
    splits: int
    seed: int


def _figures(ratings: Ratings, values: Floats | None, among: Mask, how: _Draws) -> dict[str, Any]:
    own = ratings.only(among) if values is None else aspect_ratings(ratings, values, among)
    halves = split_half(own, NONE, splits=how.splits, seed=how.seed)
    kappa = worker_kappa(own) if len(own) else Figure(None, NO_RATINGS, n=0)
    alpha = _alpha(own)
    ci, why = interval_or_reason(own, alpha, replicates=how.replicates, seed=how.seed)
    figures = {
        "alpha": alpha,
        "kappa": kappa,
        "split_half": halves.half,
        "spearman_brown": halves.whole,
        "pearson": Figure(None, OF_ITSELF) if values is None else with_overall(ratings, values, among),
    }
    said = {**_counts(own), "workers": kappa.n, **figures_as_json(figures)}
    said["ci"] = None if ci is None else list(ci)
    return said if ci is not None else add_reasons(said, {"ci": why})


def _alpha(ratings: Ratings) -> Figure:
    """Interval alpha; none of a single item, where it is near 0 whatever people say."""
    found = alpha_of(ratings)
    if found.value is not None and int((np.bincount(ratings.items) > 1).sum()) < 2:
        return Figure(None, ONE_ITEM)
    return found
