"""The lists of the honest report: what was removed and by what, workers, items."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from metrics.agreement import kappa
from metrics.agreement.data import RatingGroups, Ratings
from metrics.agreement.filters import DUPLICATE, RESPONSE_Z, Checks, Run
from metrics.agreement.recipes import Z
from metrics.agreement.scores import AdjustedScores, ItemScores
from metrics.figure import number_or_none

Row = dict[str, Any]
#: Rows of a long list that are taken out of their columns together.
_AT_ONCE = 1 << 14
#: Pairwise kappas look at pairs of ratings of an item; above so many pairs they are left out.
MOST_PAIRS = 1_000_000
NOT_SETTLED = "too few items have ratings of several workers to tell workers' biases from items' scores"
_NONE_KEPT = "no rating of this item was kept"
_ONE_KEPT = "needs two ratings"
_NO_WORKER_RATING = "all ratings of this item are by removed workers"


class Rows(Iterable[Row]):
    """A list of rows that are made each time they are read, never all together."""

    def __init__(self, make: Callable[[], Iterator[Row]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Row]:
        return self._make()


def removed_workers(ratings: Ratings, done: Run) -> list[Row]:
    """Who was removed, by which rule, on what value."""
    rows = []
    for worker in np.flatnonzero(done.removed_workers).tolist():
        verdict = done.verdicts[int(done.removed_by[worker])]
        rows.append(
            {
                "worker": ratings.worker_names[worker],
                "reason": verdict.rule,
                "value": number_or_none(float(verdict.value[worker])),
                "words": verdict.reason(worker),
            }
        )
    return rows


def undetermined_workers(ratings: Ratings, done: Run) -> list[Row]:
    """Who stays although a rule knew too little to decide, a row per worker and rule."""
    rated = np.bincount(ratings.workers, minlength=ratings.n_workers) > 0
    rows = []
    for verdict in done.verdicts:
        unsure = verdict.undetermined & rated & ~done.removed_workers
        names = [ratings.worker_names[worker] for worker in np.flatnonzero(unsure).tolist()]
        numbers = verdict.n[unsure].tolist()
        rows += [
            {"worker": name, "rule": verdict.rule, "n": n} for name, n in zip(names, numbers, strict=True)
        ]
    return rows


def removed_ratings(ratings: Ratings, done: Run) -> Iterator[Row]:
    """Every rating that was not kept, in the order of submission; with its z where the response filter took
    it."""
    because = done.removed_because(ratings)
    gone = np.flatnonzero(because >= 0)
    last = len(done.reasons) - 1
    items, workers, reasons = ratings.item_names, ratings.worker_names, done.reasons
    for start in range(0, len(gone), _AT_ONCE):
        rows = gone[start : start + _AT_ONCE]
        columns = zip(
            ratings.items[rows].tolist(),
            ratings.workers[rows].tolist(),
            because[rows].tolist(),
            np.round(done.z[rows].astype(np.float64), 6).tolist(),
            strict=True,
        )
        for item, worker, reason, z in columns:
            row: Row = {"item": items[item], "worker": workers[worker], "reason": reasons[reason]}
            if reason == last:
                row["z"] = z
            yield row


def workers(ratings: Ratings, done: Run, checks: Checks | None, model: AdjustedScores) -> list[Row]:
    """A row per worker with ratings: kappas, checks, bias, inconsistency, verdict."""
    n = np.bincount(ratings.workers, minlength=ratings.n_workers)
    n_kept = np.bincount(ratings.workers[done.kept], minlength=ratings.n_workers)
    distinct = ratings.only(done.distinct)
    columns = {
        "kappa": _floats(kappa.pooled(distinct).kappa),
        "consensus": _floats(kappa.consensus(distinct).kappa),
    }
    why = "too few ratings beside others, or no variation"
    per_item = np.bincount(distinct.items, minlength=ratings.n_items)
    few = int((per_item * (per_item - 1)).sum()) <= 2 * MOST_PAIRS
    columns["pairwise_median"] = (
        _floats(kappa.pairwise_median(distinct).kappa) if few else [None] * ratings.n_workers
    )
    unknown: list[float | None] = [None] * ratings.n_workers
    columns["bias"] = _floats(model.bias) if model.settled else unknown
    columns["inconsistency"] = _floats(model.inconsistency) if model.settled else unknown
    reasons = dict.fromkeys(("kappa", "consensus", "pairwise_median"), why)
    reasons |= dict.fromkeys(
        ("bias", "inconsistency"), "the worker was removed" if model.settled else NOT_SETTLED
    )
    if not few:
        reasons["pairwise_median"] = f"not calculated for more than {MOST_PAIRS:,} pairs of ratings"
    presented = checks.presented.tolist() if checks is not None else [0] * ratings.n_workers
    failed = checks.failed.tolist() if checks is not None else [0] * ratings.n_workers
    verdict_names = np.array(
        ["kept", "undetermined", *(f"removed: {verdict.rule}" for verdict in done.verdicts)], dtype=object
    )
    verdicts = verdict_names[
        np.where(done.removed_workers, done.removed_by.astype(np.int64) + 2, done.undetermined)
    ]
    missing = sum(
        (
            np.array([value is None for value in column]) * (1 << place)
            for place, column in enumerate(columns.values())
        ),
        np.zeros(ratings.n_workers, dtype=np.int64),
    )
    absent = {
        pattern: {name: reasons[name] for place, name in enumerate(columns) if pattern >> place & 1}
        for pattern in np.unique(missing).tolist()
    }
    table = zip(
        ratings.worker_names,
        n.tolist(),
        n_kept.tolist(),
        presented,
        failed,
        verdicts.tolist(),
        missing.tolist(),
        zip(*columns.values(), strict=True),
        strict=True,
    )
    rows = []
    for name, n_ratings, left, n_presented, wrong, verdict, pattern, figures in table:
        if not n_ratings:
            continue
        row: Row = {
            "worker": name,
            "n": n_ratings,
            "n_kept": left,
            **dict(zip(columns, figures, strict=True)),
            "checks_presented": n_presented,
            "checks_failed": wrong,
            "verdict": verdict,
        }
        if pattern:
            row["reason"] = absent[pattern]
        rows.append(row)
    return rows


def items(ratings: Ratings, scores: ItemScores, model: AdjustedScores) -> Iterator[Row]:
    """A row per item with ratings: how many, the scores from what was kept, and the adjusted score."""
    for start in range(0, ratings.n_items, _AT_ONCE):
        yield from _items(ratings, scores, model, slice(start, min(start + _AT_ONCE, ratings.n_items)))


def _items(ratings: Ratings, scores: ItemScores, model: AdjustedScores, block: slice) -> Iterator[Row]:
    unscored = _NO_WORKER_RATING if model.settled else NOT_SETTLED
    columns = zip(
        ratings.item_names[block],
        scores.n_raw[block].tolist(),
        scores.n_kept[block].tolist(),
        _floats(scores.mean[block]),
        _floats(scores.sd[block]),
        _floats(scores.median[block]),
        _floats(scores.trimmed[block]),
        _floats(model.quality[block]) if model.settled else [None] * (block.stop - block.start),
        strict=True,
    )
    for name, n_raw, n_kept, mean, sd, median, trimmed, quality in columns:
        if not n_raw:
            continue
        row: Row = {
            "item": name,
            "n_raw": n_raw,
            "n_kept": n_kept,
            "mean": mean,
            "sd": sd,
            "median": median,
            "trimmed_mean": trimmed,
            "score_adjusted": quality,
        }
        if sd is None or quality is None:
            why = _ONE_KEPT if n_kept else _NONE_KEPT
            absent = {key: why for key in ("mean", "sd", "median", "trimmed_mean") if row[key] is None}
            row["reason"] = absent | ({} if quality is not None else {"score_adjusted": unscored})
        yield row


def removed(ratings: Ratings, done: Run, groups: Mapping[str, RatingGroups]) -> Row:
    """How much was removed: in all, by reason, and by group."""
    because = done.removed_because(ratings)
    table = _removed(because, done)
    for name, grouping in groups.items():
        table[f"by_{name}"] = [
            {name: label, **_removed(because[grouping.codes == code], done)}
            for code, label in enumerate(grouping.names)
        ]
    return table


def _removed(because: np.ndarray, done: Run) -> Row:
    n = len(because)
    counts = np.bincount(because + 1, minlength=len(done.reasons) + 1)[1:].tolist()
    total = sum(counts)
    return {
        "n_ratings": n,
        "removed": total,
        "share": total / n if n else None,
        **({} if n else {"reason": {"share": "there are no ratings"}}),
        "by_reason": {
            reason: {"removed": count, "share": count / n if n else None}
            for reason, count in zip(done.reasons, counts, strict=True)
            if count or reason not in {DUPLICATE, RESPONSE_Z} or (reason == RESPONSE_Z and done.recipe.has(Z))
        },
    }


def describe_kept(ratings: Ratings, done: Run, scores: ItemScores) -> Row:
    """How many ratings items keep, and where the cap of the response filter bound."""
    rated = scores.n_raw > 0
    n = scores.n_kept[rated]
    any_rated = len(n) > 0
    return {
        "mean_per_item": float(n.mean()) if any_rated else None,
        "median_per_item": float(np.median(n)) if any_rated else None,
        "least": int(n.min()) if any_rated else None,
        "most": int(n.max()) if any_rated else None,
        "items_without": int((n == 0).sum()),
        "items_by_n": {str(size): int(count) for size, count in enumerate(np.bincount(n)) if count},
        "capped_items": int(done.capped_items.sum()),
        "capped_share": float(done.capped_items[rated].mean()) if any_rated else None,
        **(
            {}
            if any_rated
            else {
                "reason": dict.fromkeys(
                    ("mean_per_item", "median_per_item", "least", "most", "capped_share"),
                    "there are no ratings",
                )
            }
        ),
    }


def histogram(ratings: Ratings, done: Run) -> Row:
    """How often each score was given, before and after the filters."""
    return {
        name: {
            text: int(count)
            for text, count in zip(
                ratings.scale.texts,
                np.bincount(
                    ratings.scores[mask].astype(np.int64) - ratings.scale.low, minlength=ratings.scale.size
                ),
                strict=True,
            )
        }
        for name, mask in (("before", done.distinct), ("kept", done.kept))
    }


def _floats(column: np.ndarray) -> list[float | None]:
    """Python floats, None for nan."""
    values: list[float | None] = column.tolist()
    for place in np.flatnonzero(np.isnan(column)).tolist():
        values[place] = None
    return values
