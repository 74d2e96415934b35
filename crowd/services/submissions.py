"""What the marketplace lists as submitted, against what we have stored: confirmed, restored or quarantined.

Ordinary submissions are confirmed many at a time. Ordinary is what nearly all are: answered on our page,
handed over with our receipt, undecided, for the HIT that lists it, and its units are the worker's own.
Whatever differs is reconciled one by one. What is listed but was never stored here is kept in quarantine and
shown to a person, not dropped.
"""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from crowd import bulk
from crowd.adapters import base
from crowd.counted_work import counts
from crowd.errors import BudgetError
from crowd.models import Assignment, Claim, Hit, HitUnit, MarketOperation, Stage, Worker
from crowd.services import decisions, responses
from crowd.services.approvals import approve_by_policy
from crowd.services.decisions import recount

State = Assignment.State
#: A submission and the HIT that lists it.
Submitted = tuple[base.Submission, Hit]


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


def _load_facts(
    stage: Stage, submissions: Sequence[base.Submission]
) -> dict[tuple[str, str], AssignmentFacts]:
    """Our assignments of these submissions by (external id, worker), their rows held."""
    rows = (
        Assignment.objects.filter(
            external_id__in=[submission.ref for submission in submissions],
            worker__endpoint=stage.endpoint_id,
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
    row_values = list(rows)
    workers = dict(
        Worker.objects.filter(pk__in={row[2] for row in row_values}).values_list("pk", "external_id")
    )
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
        for row in row_values
    }


#: A submission, the HIT that lists it, and the assignment that it is here.
Pair = tuple[base.Submission, Hit, AssignmentFacts]


def _confirm_ordinary(stage: Stage, pairs: Sequence[Pair]) -> set[int]:
    """Confirm the ordinary ones and plan their approval by policy; the keys of those assignments."""
    ordinary = _with_their_units(stage, [pair for pair in pairs if _is_ordinary(stage, *pair)])
    bulk.update(
        Assignment,
        ("submitted_at", "auto_approve_at"),
        [(row.pk, submission.submitted_at, submission.auto_approve_at) for submission, _, row in ordinary],
        {"state": State.SUBMITTED, "held": False, "note": ""},
    )
    if stage.approve_at_once:
        _plan_approvals(stage, [row for _, _, row in ordinary])
    return {row.pk for _, _, row in ordinary}


def _is_ordinary(stage: Stage, submission: base.Submission, hit: Hit, row: AssignmentFacts) -> bool:
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
    claimed_units: dict[int, set[str]] = defaultdict(set)
    claims = Claim.objects.filter(stage=stage, assignment__in=[row.pk for _, _, row in pairs])
    for assignment_pk, unit in claims.values_list("assignment_id", "unit"):
        claimed_units[assignment_pk].add(unit)
    return [pair for pair in pairs if own[pair[1].pk] <= claimed_units[pair[2].pk]]


def _plan_approvals(stage: Stage, rows: Sequence[AssignmentFacts]) -> None:
    """What `plan_decision` plans for one; an assignment that was never decided has no other."""
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


@transaction.atomic
def reconcile(stage: Stage, submitted: Sequence[Submitted]) -> int:
    """Take over what the marketplace says of these submissions; how many of them changed something."""
    facts = _load_facts(stage, [submission for submission, _ in submitted])
    matches = [
        (submission, hit, facts.get((submission.ref, submission.worker))) for submission, hit in submitted
    ]
    confirmed = _confirm_ordinary(stage, [(read, hit, row) for read, hit, row in matches if row is not None])
    others = [one for one in matches if one[2] is None or one[2].pk not in confirmed]
    rows = _load_assignments([(hit, row.pk) for _, hit, row in others if row is not None], stage)
    return len(confirmed) + sum(
        _reconcile_one(stage, hit, submission, rows[row.pk] if row else None)
        for submission, hit, row in others
    )


def _load_assignments(pairs: Sequence[tuple[Hit, int]], stage: Stage) -> dict[int, Assignment]:
    """Assignments that need a look at each, with all that is looked at."""
    if not pairs:
        return {}
    assignments = (
        Assignment.objects.select_related("worker")
        .defer("draft", "telemetry")
        .in_bulk([pk for _, pk in pairs])
    )
    for hit, pk in pairs:
        row = assignments[pk]
        if (row.hit_id, row.stage_id) == (hit.pk, stage.pk):
            row.hit, row.stage = hit, stage
    return assignments


def _reconcile_one(
    stage: Stage, hit: Hit, submission: base.Submission, assignment: Assignment | None
) -> bool:
    assignment = assignment or _recover(stage, hit, submission)
    if assignment is None:
        _take_unknown(stage, hit, submission)
        return True
    changed = False
    if assignment.submitted_at is None:
        changed = True
        _confirm(assignment, submission, hit)
    if submission.state == "approved":
        try:
            with transaction.atomic():
                changed |= decisions.book_approval(assignment, at=submission.decided_at or timezone.now())
        except BudgetError as error:
            note = f"Approved at the marketplace after its rejection, but not booked here: {error}"
            Assignment.objects.filter(pk=assignment.pk).update(held=True, note=note[:300])
    elif submission.state == "rejected":
        changed |= decisions.book_rejection(assignment, at=submission.decided_at or timezone.now())
    elif changed and assignment.state == State.SUBMITTED:
        approve_by_policy(assignment)
    return changed


def _confirm(assignment: Assignment, submission: base.Submission, hit: Hit) -> None:
    """The marketplace has it too. Without an answer here, the copy in the receipt is read."""
    Assignment.objects.filter(pk=assignment.pk).update(
        submitted_at=submission.submitted_at, auto_approve_at=submission.auto_approve_at
    )
    assignment.submitted_at = submission.submitted_at
    assignment.auto_approve_at = submission.auto_approve_at
    if assignment.hit_id != hit.pk:
        # Its money is that of the HIT that lists it, whatever the page's address said.
        _quarantine(assignment, "Answered on the page of another HIT than the one it was accepted for.")
        Assignment.objects.filter(pk=assignment.pk).update(hit=hit, stage=hit.stage_id)
        assignment.hit, assignment.stage = hit, hit.stage
        return
    if assignment.response is None:
        restored = responses.read_copy(submission.answer, assignment)
        if restored is None:
            _quarantine(assignment, "Submitted at the marketplace, but no answer was stored here.")
            return
        responses.store_response(assignment, restored, at=submission.submitted_at)
    elif submission.answer.get("receipt") != str(assignment.receipt):
        _quarantine(assignment, "The receipt that came back is not the one that was given out.")
        return
    if not _has_its_units(assignment):
        _quarantine(assignment, "Sent after its time was over, when the worker had begun the same again.")
        return
    Assignment.objects.filter(pk=assignment.pk).update(state=State.SUBMITTED, held=False, note="")
    given_up = assignment.state == State.QUARANTINED
    assignment.state, assignment.held = State.SUBMITTED, False
    if given_up and counts(assignment):
        recount(assignment, "was listed by the marketplace after all")
    if not assignment.proven:
        responses.bar_from_more(assignment)


def _has_its_units(assignment: Assignment) -> bool:
    """Units of work that we gave up are claimed again, unless the worker has them through another HIT now."""
    own = set(
        HitUnit.objects.filter(hit=assignment.hit_id, role=HitUnit.Role.UNIT).values_list("unit", flat=True)
    )
    claims = Claim.objects.filter(stage=assignment.stage_id, worker=assignment.worker_id, unit__in=own)
    holders = dict(claims.values_list("unit", "assignment_id"))
    if any(holder != assignment.pk for holder in holders.values()):
        return False
    Claim.objects.bulk_create(
        Claim(stage=assignment.stage, worker=assignment.worker, assignment=assignment, unit=unit)
        for unit in sorted(own.difference(holders))
    )
    return True


def _recover(stage: Stage, hit: Hit, submission: base.Submission) -> Assignment | None:
    """Work that was stored here once and that a restored database has lost: its copy carries our receipt.

    A receipt that other work has is a copy of a copy, and recovers nothing.
    """
    receipt = responses.receipt_in(submission.answer)
    if receipt is None or Assignment.objects.filter(receipt=receipt).exists():
        return None
    worker = _worker(stage, submission)
    others = Assignment.objects.filter(hit=hit, worker=worker)
    if others.exclude(state__in=[State.ENDED, State.QUARANTINED]).exists():
        return None
    assignment = Assignment(
        stage=stage,
        hit=hit,
        worker=worker,
        external_id=submission.ref,
        receipt=receipt,
        arrived_at=submission.accepted_at or submission.submitted_at,
    )
    assignment.save(force_insert=True)
    return assignment


def _worker(stage: Stage, submission: base.Submission) -> Worker:
    worker, _ = Worker.objects.get_or_create(
        endpoint=stage.endpoint,
        external_id=submission.worker,
        defaults={"first_seen_at": timezone.now()},
    )
    return worker


def _take_unknown(stage: Stage, hit: Hit, submission: base.Submission) -> None:
    """Submitted work that never came to our page: kept, in quarantine, for a person to look at."""
    worker = _worker(stage, submission)
    Assignment.objects.get_or_create(
        worker=worker,
        external_id=submission.ref,
        defaults={
            "stage": stage,
            "hit": hit,
            "state": State.QUARANTINED,
            "arrived_at": submission.accepted_at or submission.submitted_at,
            "submitted_at": submission.submitted_at,
            "auto_approve_at": submission.auto_approve_at,
            "held": True,
            "note": "Submitted at the marketplace without ever opening the task page here.",
        },
    )


def _quarantine(assignment: Assignment, why: str) -> None:
    decisions.quarantine(assignment, note=why)
    assignment.state = State.QUARANTINED
