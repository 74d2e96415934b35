"""Responses to one field as ratings, so that filters look at them as they look at judgments.

The field is the stage's `quality_field`, or the first that has values of its own. What a filter removes is a
whole response: all fields that a person answered about a unit.
"""

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from crowd.counted_work import counting, not_counting
from crowd.kinds import PendingUnit
from crowd.models import Assignment, Stage
from judgments.models import UnitResponse
from judgments.questionnaire.config import (
    BOTH_BAD,
    LEFT,
    RIGHT,
    TIE,
    QuestionnaireConfig,
    QuestionnaireField,
    questionnaire_config,
)
from judgments.questionnaire.prompts import passes_gold
from judgments.questionnaire.units import asked_units, counted_responses, name_of
from judgments.selectors.rating_columns import StageRatings, names_of
from metrics.agreement.scale import Scale

if TYPE_CHECKING:
    from metrics.agreement.filters import Run
    from metrics.agreement.planning import ScoreSpread

_CHUNK = 2_000
#: Parts of a unit that are items of their own.
_MOST_PARTS = 10_000


def quality_field(config: QuestionnaireConfig) -> QuestionnaireField | None:
    """The field by which people's work is judged; None where no field has values that can be compared."""
    if config.quality_field:
        return config.by_name[config.quality_field]
    fitting = [each for each in config.fields if values_in_order(each)]
    return fitting[0] if fitting else None


def values_in_order(of: QuestionnaireField) -> tuple[str, ...]:
    """The values of a field as steps of a scale; a tie is between the two sides."""
    if of.compares:
        between = [value for value in of.options if value not in (LEFT, RIGHT)]
        if not set(between) <= {TIE, BOTH_BAD}:
            return ()
        return (LEFT, *sorted(between, key=(TIE, BOTH_BAD).index), RIGHT)
    if of.type in ("slider", "number"):
        return tuple(of.scale.text(step) for step in of.scale.scores)
    return of.values if of.type in ("choice", "yesno", "scale") else ()


def scale_of_questionnaire(stage: Stage) -> Scale:
    """The steps of the quality field, from 1."""
    return _scale_of(quality_field(questionnaire_config(stage)))


def _scale_of(field: QuestionnaireField | None) -> Scale:
    return Scale(1, max(2, len(values_in_order(field)) if field is not None else 2))


def good_responses(stage: Stage, last: int | None = None) -> QuerySet[UnitResponse]:
    """Responses of work that counts, also those that filters removed; none to attention checks."""
    rows = UnitResponse.objects.filter(counting("assignment"), stage=stage, unit__gold={})
    return rows if last is None else rows.filter(pk__lte=last)


def spread_of_field(stage: Stage, field: QuestionnaireField) -> "ScoreSpread | None":
    """How far a field's values spread in the two systems with most answers, in steps; None for too little.

    What a person says of the parts of an answer counts as its mean; what filters removed does not count.
    """
    import numpy as np  # noqa: PLC0415 - start-up does without numpy

    from metrics.agreement.data import Sums  # noqa: PLC0415 - as above
    from metrics.agreement.planning import ScoreSpread, spread_of  # noqa: PLC0415 - as above

    steps = {value: step for step, value in enumerate(values_in_order(field), 1)}
    means: dict[str, dict[int, list[int]]] = {}  # in thousandths, for sums are of whole numbers
    rows = counted_responses(stage).filter(unit__candidate__isnull=False)
    names = ("unit__candidate__system__name", "unit__candidate__query", "values")
    for system, query, values in rows.order_by().values_list(*names).iterator(_CHUNK):
        value = values.get(field.name)
        of_parts = value.values() if isinstance(value, dict) else [value]
        scores = [step for each in of_parts if (step := steps.get(_as_text(each))) is not None]
        if scores:
            means.setdefault(system, {}).setdefault(query, []).append(round(1000 * sum(scores) / len(scores)))
    most = sorted(means, key=lambda system: (-len(means[system]), system))[:2]
    if len(most) < 2:
        return None
    common = sorted(set(means[most[0]]) & set(means[most[1]]))

    def sums(system: str) -> Sums:
        answers = [np.array(means[system][query]) for query in common]
        sizes, totals, squares = zip(*((each.size, each.sum(), each @ each) for each in answers), strict=True)
        return Sums(np.array(sizes), np.array(totals), np.array(squares))

    spread = spread_of(sums(most[0]), sums(most[1])) if common else None
    if not isinstance(spread, ScoreSpread):
        return None
    return ScoreSpread(spread.sd_difference / 1000, spread.sd_rating / 1000)


def ratings_of_questionnaire(
    stage: Stage,
    last: int | None = None,
    *,
    with_assignments: bool = False,
    field: QuestionnaireField | None = None,
) -> StageRatings:
    """The values of a field, if none is named of the quality field, as ratings, in the order of submission.

    An item is a unit, or a part of one: `judgments` are keys of responses, which repeat where a response has
    several parts.
    """
    import numpy as np  # noqa: PLC0415 - start-up does without numpy

    from metrics.agreement.data import Ratings  # noqa: PLC0415 - as above

    field = field or quality_field(questionnaire_config(stage))
    rows: list[tuple[int, int, int, int, int]] = []
    parts: dict[str, int] = {}
    steps = {value: step for step, value in enumerate(values_in_order(field), 1)} if field is not None else {}
    columns = good_responses(stage, last).order_by("pk")
    for pk, unit, worker, assignment, values in columns.values_list(
        "pk", "unit", "worker", "assignment", "values"
    ).iterator(_CHUNK):
        value = values.get(field.name) if field is not None else None
        of_parts = value.items() if isinstance(value, dict) else [("", value)]
        for part, each in of_parts:
            step = steps.get(_as_text(each))
            if step is not None:
                item = unit * _MOST_PARTS + parts.setdefault(part, len(parts)) % _MOST_PARTS
                rows.append((pk, item, worker, assignment, step))
    table = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    responses, item_keys, worker_keys, assignment_keys, scores = table
    items, of_item = np.unique(item_keys, return_inverse=True)
    workers, of_worker = np.unique(worker_keys, return_inverse=True)
    assignments, of_assignment = np.unique(assignment_keys, return_inverse=True)
    ratings = Ratings(
        of_item.astype(np.int32),
        of_worker.astype(np.int32),
        scores.astype(np.int16),
        [name_of(int(key) // _MOST_PARTS) for key in items],
        names_of(workers.tolist()),
        _scale_of(field),
    )
    return StageRatings(
        ratings,
        responses,
        items,
        workers,
        assignments if with_assignments else None,
        of_assignment.astype(np.int32) if with_assignments else None,
    )


def _as_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def checks_of_questionnaire(stage: Stage, until: datetime | None = None) -> dict[int, tuple[int, int]]:
    """How many units with gold each worker answered, and how many they failed; of work that counts."""
    aside = Assignment.objects.filter(not_counting(), stage=stage).values("pk")
    rows = UnitResponse.objects.filter(stage=stage).exclude(unit__gold={}).exclude(assignment__in=aside)
    if until is not None:
        rows = rows.filter(at__lte=until)
    shown: Counter[int] = Counter()
    failed: Counter[int] = Counter()
    for response in rows.select_related("unit").iterator(_CHUNK):
        shown[response.worker_id] += 1
        failed[response.worker_id] += not passes_gold(response.unit, response.values)
    return {worker: (count, failed[worker]) for worker, count in shown.items()}


def pending_after(stage: Stage, columns: StageRatings, run: "Run") -> tuple[list[PendingUnit], int]:
    """What a stage would lack with these filters, and how many units would fall below what is wanted."""
    removed = set(columns.judgments[~run.kept].tolist())
    before: Counter[int] = Counter()
    after: Counter[int] = Counter()
    for pk, unit in good_responses(stage).values_list("pk", "unit").iterator(_CHUNK):
        before[unit] += 1
        after[unit] += pk not in removed
    wanted = stage.redundancy
    units = list(asked_units(stage).order_by("pk").values_list("pk", flat=True))
    pending = [PendingUnit(name_of(pk), wanted - after[pk]) for pk in units if after[pk] < wanted]
    return pending, sum(after[pk] < wanted <= before[pk] for pk in units)
