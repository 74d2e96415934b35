"""What a recipe decided as rows of the database: verdicts about workers and judgments, and scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from judgments.models import FilterRun, Score, Verdict
from judgments.services.deciding import Decided

if TYPE_CHECKING:
    from quality.p913 import AdjustedScores
    from quality.scores import ItemScores

_MOST_WORDS = 300


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of all items, plain and allowing for workers."""

    items: "ItemScores"
    adjusted: "AdjustedScores"


def scores_of(decided: Decided) -> Scores:
    """Scores of what a recipe keeps; adjusted ones of all that the rules about workers leave.

    The model of the adjusted score weighs each worker itself and must see what they really said.
    """
    from quality.p913 import adjusted  # noqa: PLC0415 - numpy
    from quality.scores import item_scores  # noqa: PLC0415 - numpy

    ratings, run = decided.columns.ratings, decided.run
    return Scores(item_scores(ratings, run.kept), adjusted(ratings.only(run.standing)))


def counts_of(decided: Decided) -> dict[str, int]:
    """How much was looked at and how much was removed, for the log and the list of runs."""
    ratings, run = decided.columns.ratings, decided.run
    return {
        "workers": ratings.n_workers,
        "ratings": len(ratings),
        "items": ratings.n_items,
        "removed_workers": int(run.removed_workers.sum()),
        "removed_ratings": int((~run.kept).sum()),
        "undetermined": int(run.undetermined.sum()),
    }


def verdicts_of(decided: Decided, stored: FilterRun) -> Iterator[Verdict]:
    """One verdict per removed or undetermined worker, and one per removed judgment."""
    yield from _about_workers(decided, stored)
    yield from _about_judgments(decided, stored)


def _about_workers(decided: Decided, stored: FilterRun) -> Iterator[Verdict]:
    run, keys = decided.run, decided.columns.workers
    for place, verdict in enumerate(run.verdicts):
        mine = run.removed_by == place
        for worker in (mine | (verdict.undetermined & ~run.removed_workers)).nonzero()[0].tolist():
            yield Verdict(
                run=stored,
                worker_id=int(keys[worker]),
                rule=verdict.rule,
                removes=bool(mine[worker]),
                value=number(verdict.value[worker]),
                reason=verdict.reason(worker)[:_MOST_WORDS],
            )


def _about_judgments(decided: Decided, stored: FilterRun) -> Iterator[Verdict]:
    run, columns = decided.run, decided.columns
    because = run.removed_because(columns.ratings)
    for row in (~run.kept).nonzero()[0].tolist():
        worker, place = int(columns.ratings.workers[row]), int(because[row])
        verdict = Verdict(
            run=stored,
            worker_id=int(columns.workers[worker]),
            judgment_id=int(columns.judgments[row]),
            rule=run.reasons[place],
        )
        if 0 < place <= len(run.verdicts):
            about = run.verdicts[place - 1]
            verdict.value, verdict.reason = number(about.value[worker]), about.reason(worker)[:_MOST_WORDS]
        elif place == 0:
            verdict.reason = "repeats an earlier judgment of the same worker on the same answer"
        else:
            verdict.value, verdict.rank = number(run.z[row]), int(run.rank[row])
            verdict.reason = (
                f"lies {abs(run.z[row]):.2f} standard deviations from the mean of its answer; "
                f"the limit is {run.recipe.z_limit:g}"
            )
        yield verdict


def rows_of(scores: Scores, decided: Decided, stored: FilterRun) -> Iterator[Score]:
    """One score per candidate that has judgments."""
    items = scores.items
    for code, key in enumerate(decided.columns.candidates.tolist()):
        yield Score(
            run=stored,
            candidate_id=key,
            n_raw=int(items.n_raw[code]),
            n_kept=int(items.n_kept[code]),
            mean=number(items.mean[code]),
            sd=number(items.sd[code]),
            median=number(items.median[code]),
            trimmed=number(items.trimmed[code]),
            adjusted=number(scores.adjusted.quality[code]) if scores.adjusted.settled else None,
        )


def number(value: Any) -> float | None:
    """A float that a row can hold: None for nan."""
    plain = float(value)
    return None if isnan(plain) else plain
