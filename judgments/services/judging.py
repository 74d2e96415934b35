"""Judgments come in."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from django.utils import timezone

from crowd.models import Assignment, Stage
from judgments import units
from judgments.kinds.judging_config import judging_config
from judgments.models import AttentionCheck, CheckAnswer, Judgment, ShownReferences
from judgments.selectors.judge_view import references_shown
from judgments.selectors.ratings import scale_of
from metrics.agreement.scale import Scale

# The correct answers that the judges of a stage see, kept so that all of them see the same.

_AT_ONCE = 1000


def keep_references(stage: Stage, queries: Iterable[int]) -> None:
    """Keep what judges of these queries see; what was kept before stays, whatever was accepted since."""
    config = judging_config(stage)
    if config.reference == "none":
        return
    kept = set(ShownReferences.objects.filter(stage=stage).values_list("query", flat=True))
    new = sorted(set(queries).difference(kept))
    for start in range(0, len(new), _AT_ONCE):
        found = references_shown(stage, new[start : start + _AT_ONCE], config, stage.seed)
        ShownReferences.objects.bulk_create(
            (ShownReferences(stage=stage, query_id=query, texts=texts) for query, texts in found.items()),
            ignore_conflicts=True,
        )


def record_judgments(*, assignment: Assignment, responses: Mapping[str, Mapping[str, Any]]) -> None:
    """Keep the scores of candidates and of attention checks; called in the transaction of the answer.

    AttentionCheck.DoesNotExist where a check is not one of the stage: nothing is kept then.
    """
    at = assignment.stored_at or timezone.now()
    asked = {units.check_of(unit): unit for unit in responses if units.is_check(unit)}
    checks = AttentionCheck.objects.filter(stage=assignment.stage_id).in_bulk(list(asked)) if asked else {}
    if len(checks) < len(asked):
        raise AttentionCheck.DoesNotExist(
            f"Not checks of this stage: {sorted(asked.keys() - checks.keys())}."
        )
    scale = scale_of(assignment.stage)
    CheckAnswer.objects.bulk_create(
        CheckAnswer(
            check_item=check,
            assignment=assignment,
            worker=assignment.worker,
            score=in_units(responses[asked[pk]]["score"], scale),
            passed=in_units(responses[asked[pk]]["score"], scale) in check.accepted,
            at=at,
        )
        for pk, check in checks.items()
    )
    Judgment.objects.bulk_create(
        Judgment(
            stage=assignment.stage,
            assignment=assignment,
            worker=assignment.worker,
            candidate_id=units.candidate_of(unit),
            score=in_units(response["score"], scale),
            aspects=response.get("aspects", {}),
            comment=response.get("comment", ""),
            at=at,
        )
        for unit, response in responses.items()
        if not units.is_check(unit)
    )


def in_units(score: float, scale: Scale) -> int:
    """A score of a response as it is stored; ValueError for one that is none of the scale."""
    steps = scale.step_of(Fraction(repr(score)))
    if steps is None:
        raise ValueError(f"The score {score} is not on the scale {scale.description}.")
    return steps
