"""Technical filters: ratings given twice, workers too fast to have read, straight-liners, test accounts."""

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from metrics.agreement.groups import medians, stable_order
from metrics.agreement.ratings import Mask, Ratings
from metrics.agreement.verdicts import Verdicts

DUPLICATE = "this worker rated this item before"


def duplicates(ratings: Ratings) -> Mask:
    """The ratings of a worker who had rated the item before: all but the first of each, by submission."""
    again = np.zeros(len(ratings), dtype=np.bool_)
    pairs = ratings.items.astype(np.int64)
    pairs *= max(1, ratings.n_workers)
    pairs += ratings.workers
    ordered = np.sort(pairs)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    del ordered
    if len(twice):
        rows = np.flatnonzero(np.isin(pairs, twice))
        by_pair = rows[np.argsort(pairs[rows], kind="stable")]
        again[by_pair[1:][pairs[by_pair[1:]] == pairs[by_pair[:-1]]]] = True
    return again


def too_fast(ratings: Ratings, seconds: npt.ArrayLike, *, limit: float, least: int = 1) -> Verdicts:
    """Removes a worker whose median seconds per rating lie below `limit`.

    `seconds` has one number per rating, nan where the time is not known. With fewer than `least` known times
    a worker is undetermined. The median, because one long pause must not hide a hundred hasty answers.
    """
    taken = np.asarray(seconds, dtype=np.float64)
    if taken.shape != (len(ratings),):
        raise ValueError("there must be as many times as ratings")
    known = np.flatnonzero(~np.isnan(taken))
    workers, taken = ratings.workers[known], taken[known]
    n = np.bincount(workers, minlength=ratings.n_workers)
    median = medians(workers, taken, ratings.n_workers)
    enough = n >= max(1, least)
    return Verdicts(
        rule="too fast",
        removed=enough & (median < limit),
        undetermined=~enough,
        value=median,
        n=n,
        words=f"took a median of {{value:.1f}} s for a rating over {{n}} ratings; the limit is {limit:g} s",
        words_undetermined=f"{{n}} ratings have a known time; a decision needs {max(1, least)}",
    )


def straight_lining(ratings: Ratings, *, least: int = 10, share: float = 1.0) -> Verdicts:
    """Removes a worker whose longest run of the same score holds at least `share` of all their ratings.

    Runs are counted in the order of submission. With fewer than `least` ratings a worker is undetermined. A
    share of 1 removes those who gave one score only.
    """
    n = np.bincount(ratings.workers, minlength=ratings.n_workers)
    longest = np.zeros(ratings.n_workers, dtype=np.int64)
    if len(ratings):
        order = stable_order(ratings.workers)
        workers, scores = ratings.workers[order], ratings.scores[order]
        starts = np.flatnonzero(
            np.concatenate(([True], (workers[1:] != workers[:-1]) | (scores[1:] != scores[:-1])))
        )
        lengths = np.diff(starts, append=len(workers))
        np.maximum.at(longest, workers[starts], lengths)
    part = np.divide(longest, n, out=np.full(ratings.n_workers, np.nan), where=n > 0)
    enough = n >= max(1, least)
    return Verdicts(
        rule="straight-lining",
        removed=enough & (part >= share),
        undetermined=~enough,
        value=part,
        n=n,
        words="gave the same score {value:.0%} of {n} ratings in a row",
        words_undetermined=f"gave {{n}} ratings; a decision needs {max(1, least)}",
    )


def test_accounts(
    worker_names: Sequence[str], names: Collection[str] = (), *, prefixes: Sequence[str] = ()
) -> Verdicts:
    """Removes the accounts of testers: those named, and those whose name begins with one of the prefixes.

    Upper and lower case are not told apart.
    """
    named = {name.casefold() for name in names}
    begins = tuple(prefix.casefold() for prefix in prefixes if prefix)
    lower = [name.casefold() for name in worker_names]
    removed = np.array([name in named or name.startswith(begins) for name in lower], dtype=np.bool_)
    return Verdicts(
        rule="test accounts",
        removed=removed,
        undetermined=np.zeros_like(removed),
        value=np.full(len(removed), np.nan),
        n=np.zeros(len(removed), dtype=np.int64),
        words="is an account for testing",
    )
