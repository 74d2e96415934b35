"""A recipe run over a stage's judgments, and what it decided as rows of the database; errors of filters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isnan
from typing import TYPE_CHECKING, Any

from core.allocation import return_large_blocks
from core.bulk_rows import BATCH, insert_batches, insert_columns
from crowd.errors import CrowdError
from crowd.models import Stage
from judgments.models import FilterRun, Score, Verdict
from judgments.selectors.rating_columns import StageRatings
from judgments.selectors.ratings import (
    QUESTIONNAIRE,
    checks_of,
    ratings_of_stage,
    scale_of,
    seconds_of_assignments,
)
from metrics.agreement.recipes import MOST_FOR_Z, Recipe, RecipeError, Z, recipe_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from metrics.agreement.filters import Checks, Run, Verdicts
    from metrics.agreement.scores import AdjustedScores, ItemScores


class FilteringError(CrowdError):
    """Filters cannot be run, applied or undone so; nothing was changed."""


class FiltersChangedError(FilteringError):
    """Other filters are in force than the person saw; nothing was changed."""


class NothingMissingError(FilteringError):
    """There is nothing to ask again for."""


@dataclass(frozen=True, slots=True, eq=False)
class FilterDecision:
    """What a recipe decides about the judgments of a stage as they are now."""

    columns: StageRatings
    run: "Run"
    checks: "Checks"
    seconds: "npt.NDArray[np.float64] | None"


def recipe_named(name: str, parameters: Mapping[str, Any]) -> Recipe:
    """The recipe with these parameters; raises FilteringError with the reason why there is no such recipe.

    Rules in another order than the fixed one are such a reason.
    """
    try:
        return recipe_of(name, parameters)
    except RecipeError as error:
        raise FilteringError(str(error)) from error
    except TypeError as error:
        raise FilteringError("The parameters of these filters cannot be read.") from error


def stored_parameters(recipe: Recipe) -> dict[str, Any]:
    """All parameters with the rules, as a run keeps them: enough to make the recipe again."""
    plain = {
        name: list(value) if isinstance(value, tuple) else value for name, value in recipe.parameters.items()
    }
    return {"rules": list(recipe.rules), **plain}


def decide(
    stage: Stage, recipe: Recipe, *, last: int | None = None, until: datetime | None = None
) -> FilterDecision:
    """Run the recipe over all good judgments; over those up to the key `last` and checks until a moment."""
    from metrics.agreement.filters import run

    return_large_blocks()
    scale = scale_of(stage)
    if recipe.has(Z) and scale.size > MOST_FOR_Z:
        raise FilteringError(
            f"The response filter z takes scales of at most {MOST_FOR_Z} scores, and that of this stage, "
            f"{scale.description}, has {len(scale.scores):,}. Take filters without it."
        )
    timed = recipe.has("technical")
    columns = ratings_of_stage(stage, last, with_assignments=timed)
    seconds = seconds_of(stage, columns) if timed else None
    checks = checks_by_code(stage, columns, until)
    return FilterDecision(
        columns, run(columns.ratings, recipe, checks=checks, seconds=seconds), checks, seconds
    )


def checks_by_code(stage: Stage, columns: StageRatings, until: datetime | None = None) -> "Checks":
    """How many attention checks each worker answered and failed, by the worker's code."""
    import numpy as np  # start-up does without numpy

    from metrics.agreement.filters import Checks

    counts_by_worker = checks_of(stage, until)
    counts = [counts_by_worker.get(key, (0, 0)) for key in columns.workers.tolist()]
    presented, failed = np.array(counts, dtype=np.int64).reshape(-1, 2).T
    return Checks(presented, failed)


def seconds_of(stage: Stage, columns: StageRatings) -> "npt.NDArray[np.float64]":
    """Seconds per rating: those of its assignment, shared by the judgments in it; nan where unknown."""
    import numpy as np

    assert columns.assignments is not None and columns.of_assignment is not None
    each = seconds_of_assignments(stage, columns.assignments) / np.bincount(columns.of_assignment)
    seconds: npt.NDArray[np.float64] = each[columns.of_assignment]
    return seconds


# What a recipe decided as rows of the database: verdicts about workers and judgments, and scores.

_MOST_WORDS = 300


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of all items, plain and allowing for workers."""

    items: "ItemScores"
    adjusted: "AdjustedScores"


def scores_of(decided: FilterDecision) -> Scores:
    """Scores of what a recipe keeps; adjusted ones of all that the rules about workers leave.

    The model of the adjusted score weighs each worker itself and must see what they really said.
    """
    from metrics.agreement.scores import adjusted, item_scores

    ratings, run = decided.columns.ratings, decided.run
    return Scores(item_scores(ratings, run.kept), adjusted(ratings, run.standing))


def counts_of(decided: FilterDecision) -> dict[str, int]:
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


def store_verdicts(decided: FilterDecision, run: FilterRun) -> None:
    """One row per removed or undetermined worker, then one per removed judgment.

    The caller holds a transaction.
    """
    _store_about_workers(decided, run)
    _store_about_judgments(decided, run)


def _store_about_workers(decided: FilterDecision, run: FilterRun) -> None:
    outcome, keys = decided.run, decided.columns.workers
    for place, verdict in enumerate(outcome.verdicts):
        mine = outcome.removed_by == place
        about = (mine | (verdict.undetermined & ~outcome.removed_workers)).nonzero()[0]
        insert_columns(
            Verdict,
            {
                "run_id": run.pk,
                "worker_id": keys[about].tolist(),
                "judgment_id": None,
                "response_id": None,
                "rule": verdict.rule,
                "removes": mine[about].tolist(),
                "value": numbers(verdict.value[about]),
                "rank": None,
                "reason": [verdict.reason(worker)[:_MOST_WORDS] for worker in about.tolist()],
            },
        )


def _store_about_judgments(decided: FilterDecision, run: FilterRun) -> None:
    """In the order of submission, some at a time."""
    of_questionnaire = run.stage.kind == QUESTIONNAIRE
    insert_batches(Verdict, _about_judgments(decided, run.pk, of_questionnaire=of_questionnaire))


def _about_judgments(
    decided: FilterDecision, run: int, *, of_questionnaire: bool
) -> Iterator[dict[str, Any]]:
    import numpy as np  # start-up does without numpy

    outcome, columns = decided.run, decided.columns
    because = outcome.removed_because(columns.ratings)
    removed = (~outcome.kept).nonzero()[0]
    if of_questionnaire:  # a response of several parts is removed once
        removed = removed[np.unique(columns.judgments[removed], return_index=True)[1]]
    by_worker = [_Reasons(verdict) for verdict in outcome.verdicts]
    for start in range(0, len(removed), BATCH):
        by_z: dict[float | None, str] = {}
        rows = removed[start : start + BATCH]
        workers, z, rank = (
            columns.ratings.workers[rows],
            numbers(outcome.z[rows]),
            outcome.rank[rows].tolist(),
        )
        value: list[float | None] = []
        reason: list[str] = []
        for at, (place, worker) in enumerate(zip(because[rows].tolist(), workers.tolist(), strict=True)):
            if 0 < place <= len(by_worker):
                rank[at] = None
                value.append(by_worker[place - 1].value[worker])
                reason.append(by_worker[place - 1][worker])
            elif place == 0:
                rank[at] = None
                value.append(None)
                reason.append("repeats an earlier judgment of the same worker on the same answer")
            else:
                measured = z[at]
                value.append(measured)
                if measured not in by_z:
                    by_z[measured] = _beyond(measured, outcome.recipe.z_limit)
                reason.append(by_z[measured])
        yield {
            "run_id": run,
            "worker_id": columns.workers[workers].tolist(),
            "judgment_id": None if of_questionnaire else columns.judgments[rows].tolist(),
            "response_id": columns.judgments[rows].tolist() if of_questionnaire else None,
            "rule": [outcome.reasons[place] for place in because[rows].tolist()],
            "removes": True,
            "value": value,
            "rank": rank,
            "reason": reason,
        }


class _Reasons(dict[int, str]):
    """One rule's reasons by the worker's code, each put into words once; `value` is what it measured."""

    def __init__(self, verdict: "Verdicts") -> None:
        super().__init__()
        self._verdict = verdict
        self.value = numbers(verdict.value)

    def __missing__(self, worker: int) -> str:
        self[worker] = reason = self._verdict.reason(worker)[:_MOST_WORDS]
        return reason


def _beyond(z: float | None, limit: float) -> str:
    away = float("nan") if z is None else abs(z)
    return f"lies {away:.2f} standard deviations from the mean of its answer; the limit is {limit:g}"


def store_scores(scores: Scores, decided: FilterDecision, run: FilterRun) -> None:
    """One row per candidate that has judgments; in the caller's transaction. Questionnaires have none."""
    if run.stage.kind == QUESTIONNAIRE:
        return
    insert_batches(Score, _about_candidates(scores, decided, run.pk))


def _about_candidates(scores: Scores, decided: FilterDecision, run: int) -> Iterator[dict[str, Any]]:
    items, candidates = scores.items, decided.columns.candidates
    for start in range(0, len(candidates), BATCH):
        portion = slice(start, start + BATCH)
        yield {
            "run_id": run,
            "candidate_id": candidates[portion].tolist(),
            "n_raw": items.n_raw[portion].tolist(),
            "n_kept": items.n_kept[portion].tolist(),
            "mean": numbers(items.mean[portion]),
            "sd": numbers(items.sd[portion]),
            "median": numbers(items.median[portion]),
            "trimmed": numbers(items.trimmed[portion]),
            "adjusted": numbers(scores.adjusted.quality[portion]) if scores.adjusted.settled else None,
        }


def numbers(values: "npt.NDArray[np.floating]") -> list[float | None]:
    """Floats that rows can hold: None for nan."""
    return [None if isnan(value) else value for value in values.tolist()]
