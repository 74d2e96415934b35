"""Judgments come in."""

from typing import Any

from django.utils import timezone

from crowd.models import Assignment
from judgments import units
from judgments.models import AttentionCheck, CheckAnswer, Judgment


def record_judgment(*, assignment: Assignment, unit: str, response: dict[str, Any]) -> None:
    """Keep a score of a candidate, or of an attention check; called in the transaction of the answer."""
    at = assignment.stored_at or timezone.now()
    if units.is_check(unit):
        check = AttentionCheck.objects.get(pk=units.check_of(unit), stage=assignment.stage_id)
        CheckAnswer.objects.create(
            check_item=check,
            assignment=assignment,
            worker=assignment.worker,
            score=response["score"],
            passed=response["score"] in check.accepted,
            at=at,
        )
        return
    Judgment.objects.create(
        stage=assignment.stage,
        assignment=assignment,
        worker=assignment.worker,
        candidate_id=units.candidate_of(unit),
        score=response["score"],
        aspects=response.get("aspects", {}),
        comment=response.get("comment", ""),
        at=at,
    )
