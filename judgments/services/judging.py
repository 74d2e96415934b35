"""Judgments come in."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from django.utils import timezone

from crowd.models import Assignment
from judgments import units
from judgments.models import AttentionCheck, CheckAnswer, Judgment
from judgments.selectors.ratings import scale_of
from metrics.agreement.scale import Scale


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
