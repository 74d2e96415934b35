"""Where people agree: about each aspect that judges were asked about, and inside groups such as sources.

Aspects stand beside the overall score (ADEM, Lowe et al. 2017). No filter looks at aspects, and none is
applied to them here: before and after the rules about workers every answer counts, so that no figure of an
aspect comes from ratings chosen by that aspect. A rule that removes by kappa does choose by the overall
score, whose figures after it are therefore null (`alpha` has the cross-fitted one).

Groups are of ratings that different people gave. A source has only a part of each item's ratings, so few
items may have two of them: with fewer than `LEAST_IN_GROUPS` such items alpha is too uncertain to show, and
is null. All figures of groups are from before the filters, except for what these flag (`flagged`,
`flagged_share`, `mean_kept`): a rule about workers raises the alpha of what it leaves, and more so in a group
where it removes more.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metrics.agreement.alpha import alpha_of
from metrics.agreement.data import NO_RATINGS, NO_VARIATION, Counts, Floats, Mask, RatingGroups, Ratings
from metrics.agreement.filters import Checks, Run
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
OVERALL_SAME = "not defined: all overall scores are the same"
TOO_FEW = f"not defined: fewer than {_LEAST} ratings have both"
_FIGURES = ("alpha", "kappa", "split_half", "spearman_brown")


def aspect_ratings(ratings: Ratings, values: Floats, among: Mask | None = None) -> Ratings:
    """The ratings with what they say of an aspect in place of the score; those that say nothing (nan) go.

    ValueError where an aspect is no whole number, or has more than 1,001 scores.
    """
    rated = ~np.isnan(values) if among is None else among & ~np.isnan(values)
    rated_values = values[rated]
    if (rated_values != np.rint(rated_values)).any():
        raise ValueError("scores of aspects are whole numbers")
    low, high = (int(rated_values.min()), int(rated_values.max())) if len(rated_values) else (1, 2)
    if high - low >= MOST_SCORES:
        raise ValueError(f"an aspect has at most {MOST_SCORES:,} different scores")
    rated_rows = ratings.only(rated)
    return replace(rated_rows, scores=rated_values.astype(np.int16), scale=Scale.of(low, max(high, low + 1)))


def worker_kappa(ratings: Ratings) -> Figure:
    """The median over workers of their median quadratic kappa with every other one; `n` workers have one."""
    n = np.bincount(ratings.items, minlength=ratings.n_items)
    if int((n * (n - 1)).sum()) > 2 * MOST_PAIRS:
        return Figure(None, f"not calculated for more than {MOST_PAIRS:,} pairs of ratings", n=0)
    kappas = pairwise_median(ratings, least=LEAST_SHARED).kappa
    defined = kappas[~np.isnan(kappas)]
    return Figure(float(np.median(defined)), n=len(defined)) if len(defined) else Figure(None, NO_KAPPA, n=0)


def with_overall(ratings: Ratings, values: Floats, among: Mask) -> Figure:
    """Pearson's r between an aspect and the overall score of the same ratings."""
    both = among & ~np.isnan(values)
    if both.sum() < _LEAST:
        return Figure(None, TOO_FEW)
    one, other = values[both], ratings.scores[both].astype(np.float64)
    one, other = one - one.mean(), other - other.mean()
    spread = float(np.sqrt(one @ one) * np.sqrt(other @ other))
    if spread:
        return Figure(float(one @ other) / spread)
    return Figure(None, OVERALL_SAME if one.any() else NO_VARIATION)


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
    alpha = alpha_of_items(own)
    ci, why = interval_or_reason(own, alpha, replicates=how.replicates, seed=how.seed)
    figures = {
        "alpha": alpha,
        "kappa": kappa,
        "split_half": halves.half,
        "spearman_brown": halves.full_length,
        "pearson": Figure(None, OF_ITSELF) if values is None else with_overall(ratings, values, among),
    }
    fields = {**_counts(own), "workers": kappa.n, **figures_as_json(figures)}
    fields["ci"] = None if ci is None else list(ci)
    return fields if ci is not None else add_reasons(fields, {"ci": why})


def alpha_of_items(ratings: Ratings) -> Figure:
    """Interval alpha; none of a single item, where it is near 0 whatever people say."""
    alpha = alpha_of(ratings)
    if alpha.value is not None and int((np.bincount(ratings.items) > 1).sum()) < 2:
        return Figure(None, ONE_ITEM)
    return alpha


#: Items that must have two ratings inside a group for its alpha. Of 200 simulated studies of a moderate crowd
#: (three ratings an item by 8 workers) each had an interval from ten items on; of five items a quarter had
#: none, and alpha, truly 0.38, had a standard deviation of 0.31.
LEAST_IN_GROUPS = 10
NO_FILTER = "no filter is in force"
NO_CHECKS = "its people were shown no attention check"
_NO_KEPT = "the filters keep none of its ratings"


def group_rows(
    ratings: Ratings,
    done: Run,
    groups: RatingGroups,
    *,
    name: str,
    checks: Checks | None,
    replicates: int,
    seed: int,
) -> list[dict[str, Any]]:
    """A row for each group in the order of its names, with its label under `name`.

    Ratings add up over groups, as do workers where each is in one group. Items do not: each is counted in
    every group that rated it. `shared_items` have two ratings from the group, `items_with_others` one from it
    and one from another. Shares are fractions, means are in points of the scale.
    """
    presence = _presence(ratings, groups)
    return [
        {
            name: label,
            **_row(ratings, done, groups.codes == code, checks, replicates=replicates, seed=seed),
            "items_with_others": int((presence[code] & np.delete(presence, code, axis=0).any(axis=0)).sum()),
        }
        for code, label in enumerate(groups.names)
    ]


def _presence(ratings: Ratings, groups: RatingGroups) -> np.ndarray:
    """Which group rated which item: shape (groups, items)."""
    present = np.zeros((len(groups.names), ratings.n_items), dtype=np.bool_)
    present[groups.codes, ratings.items] = True
    return present


def _row(
    ratings: Ratings, done: Run, mine: np.ndarray, checks: Checks | None, *, replicates: int, seed: int
) -> dict[str, Any]:
    own = ratings.only(done.distinct & mine)
    n = np.bincount(own.items, minlength=ratings.n_items)
    shared = int((n > 1).sum())
    n_ratings, n_kept = int(mine.sum()), int((done.kept & mine).sum())
    workers = np.unique(ratings.workers[mine])
    alpha = _group_alpha(own, shared)
    ci, why = interval_or_reason(own, alpha, replicates=replicates, seed=seed)
    figures = {
        "mean": _mean(ratings, done.distinct & mine, NO_RATINGS),
        "flagged_share": _flagged(done, n_ratings, n_kept),
        "mean_kept": _mean(ratings, done.kept & mine, _NO_KEPT),
        "alpha": alpha,
        "failed_checks_share": _failed(checks, workers),
    }
    fields: dict[str, Any] = {
        "n_ratings": n_ratings,
        "n_items": int((n > 0).sum()),
        "n_workers": len(workers),
        "shared_items": shared,
        "flagged": n_ratings - n_kept,
        **figures_as_json(figures),
        "ci": None if ci is None else list(ci),
    }
    return fields if ci is not None else add_reasons(fields, {"ci": why})


def _group_alpha(own: Ratings, shared: int) -> Figure:
    """Interval alpha where enough items have two ratings of the group."""
    alpha = alpha_of(own)
    if alpha.value is not None and shared < LEAST_IN_GROUPS:
        return Figure(None, explain_few(shared))
    return alpha


def explain_few(shared: int) -> str:
    """Why so few items with two ratings of a group give no alpha."""
    few = {0: "no item has", 1: "only 1 item has"}.get(shared, f"only {shared} items have")
    return f"{few} two ratings from here; alpha needs {LEAST_IN_GROUPS}"


def _mean(ratings: Ratings, mask: np.ndarray, none: str) -> Figure:
    """The mean of single ratings, as people gave them."""
    counts: Counts = np.bincount(
        ratings.scores[mask].astype(np.int64) - ratings.scale.low, minlength=ratings.scale.size
    )
    total = int(counts.sum())
    return Figure(float(counts @ ratings.scale.values) / total) if total else Figure(None, none)


def _flagged(done: Run, n_ratings: int, n_kept: int) -> Figure:
    if not done.recipe.rules:
        return Figure(None, NO_FILTER)
    return Figure((n_ratings - n_kept) / n_ratings) if n_ratings else Figure(None, NO_RATINGS)


def _failed(checks: Checks | None, workers: np.ndarray) -> Figure:
    """The share of failed attention checks, of all that these workers were shown."""
    presented = 0 if checks is None else int(checks.presented[workers].sum())
    if checks is None or not presented:
        return Figure(None, NO_CHECKS)
    return Figure(float(checks.failed[workers].sum()) / presented)
