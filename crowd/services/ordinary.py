"""Ordinary submissions, confirmed many at a time.

Ordinary is what nearly all are: answered on our page, handed over with the receipt that we gave, undecided,
for the HIT that lists it, and its units are the worker's own. They need no look at each; whatever differs
is left to `collecting`, one by one. In the caller's transaction, which holds the assignments' rows.
"""

from collections import Counter
from collections.abc import Sequence

from django.db import connection
from django.utils import timezone

from crowd.adapters.base import Submission
from crowd.models import Assignment, Claim, Hit, HitUnit, MarketOperation, Stage

State = Assignment.State
Pair = tuple[Submission, Assignment]
_CONFIRM = """
UPDATE crowd_assignment SET state = %s, held = %s, note = '', submitted_at = %s, auto_approve_at = %s
 WHERE id = %s AND submitted_at IS NULL
"""


def confirm(stage: Stage, hit: Hit, pairs: Sequence[Pair]) -> set[int]:
    """Confirm the ordinary ones and plan their approval by policy; the keys of those assignments."""
    ordinary = _with_their_units(stage, hit, [pair for pair in pairs if _is_ordinary(stage, hit, *pair)])
    if not ordinary:
        return set()
    moment = connection.ops.adapt_datetimefield_value
    with connection.cursor() as cursor:
        cursor.executemany(
            _CONFIRM,
            [
                (
                    State.SUBMITTED,
                    False,
                    moment(submission.submitted_at),
                    moment(submission.auto_approve_at),
                    assignment.pk,
                )
                for submission, assignment in ordinary
            ],
        )
    if stage.approve_at_once:
        _plan_approvals(stage, ordinary)
    return {assignment.pk for _, assignment in ordinary}


def _is_ordinary(stage: Stage, hit: Hit, submission: Submission, assignment: Assignment) -> bool:
    return (
        submission.state == "submitted"
        and assignment.state == State.STORED
        and assignment.submitted_at is None
        and assignment.response is not None
        and assignment.hit_id == hit.pk
        and assignment.stage_id == stage.pk
        and submission.answer.get("receipt") == str(assignment.receipt)
        and not (stage.hold_failed_checks and assignment.failed_checks)
    )


def _with_their_units(stage: Stage, hit: Hit, pairs: Sequence[Pair]) -> list[Pair]:
    """Those whose worker has every unit of the HIT through this very assignment."""
    if not pairs:
        return []
    own = list(HitUnit.objects.filter(hit=hit, role=HitUnit.Role.UNIT).values_list("unit", flat=True))
    claims = Claim.objects.filter(
        stage=stage, unit__in=own, assignment__in=[assignment.pk for _, assignment in pairs]
    )
    held = Counter(claims.values_list("assignment_id", flat=True))
    return [pair for pair in pairs if held[pair[1].pk] == len(own)]


def _plan_approvals(stage: Stage, pairs: Sequence[Pair]) -> None:
    """What `collecting.plan_decision` plans for one; an assignment that was never decided has no other."""
    now = timezone.now()
    MarketOperation.objects.bulk_create(
        (
            MarketOperation(
                kind=MarketOperation.Kind.APPROVE,
                endpoint_id=stage.endpoint_id,
                endpoint_url=stage.endpoint.url,
                stage=stage,
                assignment=assignment,
                target=f"assignment:{assignment.pk}",
                purpose=MarketOperation.Kind.APPROVE,
                payload={"ref": assignment.external_id, "note": ""},
                planned_at=now,
                not_before=now,
            )
            for _, assignment in pairs
        ),
        ignore_conflicts=True,
    )
