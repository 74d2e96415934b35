"""Agreement inside groups of ratings that different people gave, such as the sources of a stage.

A source has only a part of each item's ratings, so few items may have two of them: with fewer than
`LEAST_SHARED` such items alpha is too uncertain to show, and is null. All figures are from before the
filters, except for what these flag (`flagged`, `flagged_share`, `mean_kept`): a rule about workers raises the
alpha of what it leaves, and more so in a group where it removes more.
"""

from typing import Any

import numpy as np

from metrics.agreement.alpha import alpha_of
from metrics.agreement.data import NO_RATINGS, Counts, RatingGroups, Ratings
from metrics.agreement.filters import Checks, Run
from metrics.agreement.intervals import interval_or_reason
from metrics.figure import Figure, add_reasons, figures_as_json

#: Items that must have two ratings inside a group for its alpha. Of 200 simulated studies of a moderate crowd
#: (three ratings an item by 8 workers) each had an interval from ten items on; of five items a quarter had
#: none, and alpha, truly 0.38, had a standard deviation of 0.31.
LEAST_SHARED = 10
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
    found = np.zeros((len(groups.names), ratings.n_items), dtype=np.bool_)
    found[groups.codes, ratings.items] = True
    return found


def _row(
    ratings: Ratings, done: Run, mine: np.ndarray, checks: Checks | None, *, replicates: int, seed: int
) -> dict[str, Any]:
    own = ratings.only(done.distinct & mine)
    n = np.bincount(own.items, minlength=ratings.n_items)
    shared = int((n > 1).sum())
    given, kept = int(mine.sum()), int((done.kept & mine).sum())
    workers = np.unique(ratings.workers[mine])
    alpha = _alpha(own, shared)
    ci, why = interval_or_reason(own, alpha, replicates=replicates, seed=seed)
    figures = {
        "mean": _mean(ratings, done.distinct & mine, NO_RATINGS),
        "flagged_share": _flagged(done, given, kept),
        "mean_kept": _mean(ratings, done.kept & mine, _NO_KEPT),
        "alpha": alpha,
        "failed_checks_share": _failed(checks, workers),
    }
    said: dict[str, Any] = {
        "n_ratings": given,
        "n_items": int((n > 0).sum()),
        "n_workers": len(workers),
        "shared_items": shared,
        "flagged": given - kept,
        **figures_as_json(figures),
        "ci": None if ci is None else list(ci),
    }
    return said if ci is not None else add_reasons(said, {"ci": why})


def _alpha(own: Ratings, shared: int) -> Figure:
    """Interval alpha where enough items have two ratings of the group."""
    found = alpha_of(own)
    if found.value is not None and shared < LEAST_SHARED:
        return Figure(None, explain_few(shared))
    return found


def explain_few(shared: int) -> str:
    """Why so few items with two ratings of a group give no alpha."""
    few = {0: "no item has", 1: "only 1 item has"}.get(shared, f"only {shared} items have")
    return f"{few} two ratings from here; alpha needs {LEAST_SHARED}"


def _mean(ratings: Ratings, mask: np.ndarray, none: str) -> Figure:
    """The mean of single ratings, as people gave them."""
    counts: Counts = np.bincount(
        ratings.scores[mask].astype(np.int64) - ratings.scale.low, minlength=ratings.scale.size
    )
    total = int(counts.sum())
    return Figure(float(counts @ ratings.scale.values) / total) if total else Figure(None, none)


def _flagged(done: Run, given: int, kept: int) -> Figure:
    if not done.recipe.rules:
        return Figure(None, NO_FILTER)
    return Figure((given - kept) / given) if given else Figure(None, NO_RATINGS)


def _failed(checks: Checks | None, workers: np.ndarray) -> Figure:
    """The share of failed attention checks, of all that these workers were shown."""
    shown = 0 if checks is None else int(checks.presented[workers].sum())
    if checks is None or not shown:
        return Figure(None, NO_CHECKS)
    return Figure(float(checks.failed[workers].sum()) / shown)
