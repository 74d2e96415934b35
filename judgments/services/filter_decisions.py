"""Running a recipe over a stage's judgments: nothing is stored here."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from crowd.models import Stage
from judgments.errors import FilteringError
from judgments.selectors.ratings import (
    StageRatings,
    checks_of,
    ratings_of_stage,
    scale_of,
    seconds_of_assignments,
)
from metrics.agreement.recipes import MOST_FOR_Z, Recipe, RecipeError, Z, recipe_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from metrics.agreement.filters import Checks, Run


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

    scale = scale_of(stage)
    if recipe.has(Z) and scale.size > MOST_FOR_Z:
        raise FilteringError(
            f"The response filter z takes scales of at most {MOST_FOR_Z} scores, and that of this stage, "
            f"{scale.description}, has {len(scale.scores):,}. Take filters without it."
        )
    columns = ratings_of_stage(stage, last)
    seconds = seconds_of(stage, columns) if recipe.has("technical") else None
    checks = checks_by_code(stage, columns, until)
    return FilterDecision(
        columns, run(columns.ratings, recipe, checks=checks, seconds=seconds), checks, seconds
    )


def checks_by_code(stage: Stage, columns: StageRatings, until: datetime | None = None) -> "Checks":
    """How many attention checks each worker answered and failed, by the worker's code."""
    import numpy as np  # start-up does without numpy

    from metrics.agreement.filters import Checks

    presented: Counter[int] = Counter()
    failed: Counter[int] = Counter()
    for worker, _, passed in checks_of(stage, until):
        presented[worker] += 1
        failed[worker] += not passed
    keys = columns.workers.tolist()
    return Checks(
        np.array([presented[key] for key in keys], dtype=np.int64),
        np.array([failed[key] for key in keys], dtype=np.int64),
    )


def seconds_of(stage: Stage, columns: StageRatings) -> "npt.NDArray[np.float64]":
    """Seconds per rating: those of its assignment, shared by the judgments in it; nan where unknown."""
    import numpy as np

    each = seconds_of_assignments(stage, columns.assignments) / np.bincount(columns.of_assignment)
    seconds: npt.NDArray[np.float64] = each[columns.of_assignment]
    return seconds
