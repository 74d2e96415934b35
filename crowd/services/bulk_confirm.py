"""Ordinary submissions, confirmed many at a time.

Ordinary is what nearly all are: answered on our page, handed over with the receipt that we gave, undecided,
for the HIT that lists it, and its units are the worker's own. They need no look at each; whatever differs
is left to `collecting`, one by one. In the caller's transaction, which holds the assignments' rows.
"""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from crowd import bulk
from crowd.adapters.base import Submission
from crowd.models import Assignment, Claim, Hit, HitUnit, MarketOperation, Stage, Worker

State = Assignment.State


@dataclass(frozen=True, slots=True)
class AssignmentFacts:
    """What decides whether an assignment is ordinary, without its answer."""

    pk: int
    external_id: str
    worker: str
    hit_pk: int
    stage_pk: int
    state: str
    receipt: str
    untouched: bool
    failed_checks: int
    proven: bool


def known(stage: Stage, submissions: Sequence[Submission]) -> dict[tuple[str, str], AssignmentFacts]:
    """Our assignments of these submissions by (external id, worker), their rows held."""
    rows = (
        Assignment.objects.filter(
            external_id__in=[submission.ref for submission in submissions],
            stage__in=Stage.objects.filter(endpoint=stage.endpoint_id).values("pk"),
        )
        .select_for_update(of=("self",), no_key=True)
        .order_by("pk")
        .values_list(
            "pk",
            "external_id",
            "worker_id",
            "hit_id",
            "stage_id",
            "state",
            "receipt",
            "submitted_at",
            "failed_checks",
            "stored_at",
            "proven",
        )
    )
    found = list(rows)
    workers = dict(Worker.objects.filter(pk__in={row[2] for row in found}).values_list("pk", "external_id"))
    return {
        (row[1], workers[row[2]]): AssignmentFacts(
            pk=row[0],
            external_id=row[1],
            worker=workers[row[2]],
            hit_pk=row[3],
            stage_pk=row[4],
            state=row[5],
            receipt=str(row[6]),
            untouched=row[7] is None and row[9] is not None,
            failed_checks=row[8],
            proven=row[10],
        )
        for row in found
    }


#: A submission, the HIT that lists it, and the assignment that it is here.
Pair = tuple[Submission, Hit, AssignmentFacts]


def confirm(stage: Stage, pairs: Sequence[Pair]) -> set[int]:
    """Confirm the ordinary ones and plan their approval by policy; the keys of those assignments."""
    ordinary = _with_their_units(stage, [pair for pair in pairs if _is_ordinary(stage, *pair)])
    bulk.update(
        Assignment,
        ("submitted_at", "auto_approve_at"),
        [(row.pk, said.submitted_at, said.auto_approve_at) for said, _, row in ordinary],
        {"state": State.SUBMITTED, "held": False, "note": ""},
    )
    if stage.approve_at_once:
        _plan_approvals(stage, [row for _, _, row in ordinary])
    return {row.pk for _, _, row in ordinary}


def _is_ordinary(stage: Stage, submission: Submission, hit: Hit, row: AssignmentFacts) -> bool:
    return (
        submission.state == "submitted"
        and submission.auto_approve_at is not None
        and row.state == State.STORED
        and row.untouched
        and row.proven
        and row.hit_pk == hit.pk
        and row.stage_pk == stage.pk
        and submission.answer.get("receipt") == row.receipt
        and not (stage.hold_failed_checks and row.failed_checks)
    )


def _with_their_units(stage: Stage, pairs: Sequence[Pair]) -> list[Pair]:
    """Those whose worker has every unit of the HIT through this very assignment."""
    if not pairs:
        return []
    own: dict[int, set[str]] = defaultdict(set)
    units = HitUnit.objects.filter(hit__in={hit.pk for _, hit, _ in pairs}, role=HitUnit.Role.UNIT)
    for hit_pk, unit in units.values_list("hit_id", "unit"):
        own[hit_pk].add(unit)
    held: dict[int, set[str]] = defaultdict(set)
    claims = Claim.objects.filter(stage=stage, assignment__in=[row.pk for _, _, row in pairs])
    for assignment_pk, unit in claims.values_list("assignment_id", "unit"):
        held[assignment_pk].add(unit)
    return [pair for pair in pairs if own[pair[1].pk] <= held[pair[2].pk]]


def _plan_approvals(stage: Stage, rows: Sequence[AssignmentFacts]) -> None:
    """What `collecting.plan_decision` plans for one; an assignment that was never decided has no other."""
    now = timezone.now()
    shared: dict[str, Any] = {
        "kind": MarketOperation.Kind.APPROVE,
        "endpoint": stage.endpoint_id,
        "endpoint_url": stage.endpoint.url,
        "stage": stage.pk,
        "purpose": MarketOperation.Kind.APPROVE,
        "planned_at": now,
        "not_before": now,
    }
    bulk.insert(
        MarketOperation,
        ("id", "assignment", "target", "payload"),
        [
            (uuid.uuid4(), row.pk, f"assignment:{row.pk}", {"ref": row.external_id, "note": ""})
            for row in rows
        ],
        shared,
    )
