"""Work that came in, and what a person decides about it."""

from typing import Annotated, Any, Literal

from django.db.models import F
from django.http import Http404, StreamingHttpResponse
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from crowd.api.access import StagePermission, stage_access
from crowd.api.hits import OperationRef, planned, purpose_of
from crowd.desk import tables
from crowd.desk.access import StageAccess
from crowd.models import Assignment
from crowd.services import review
from web.api.access import ApiRequest, Role
from web.api.fields import MOST_ID, Body, Id, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource
from web.api.streams import lines_of, rows_by_key, stream_lines

assignments = Resource("Assignments", permission=StagePermission)
_STAGE = "/projects/{project}/stages/{stage}"
_LIST = f"{_STAGE}/assignments"
_ONE = f"{_LIST}/{{assignment}}"
_DECIDE, _PAID = [Scope.DECIDE], [Scope.DECIDE, Scope.PAY]


class AssignmentFilter(BaseModel):
    """Which work: `waiting` has no decision yet nor one on its way; a worker by their id."""

    state: Literal["waiting", "held", "quarantined", "approved", "rejected", "working", "all"] = "all"
    worker: str = Field("", max_length=64)


class AssignmentOut(BaseModel):
    """One worker's work on one HIT."""

    id: int
    external_id: str = Field(description="At the marketplace.")
    hit: int = Field(description="The HIT's number.")
    worker: str = Field(description="The worker's id at the marketplace.")
    simulated: bool
    state: Annotated[str, OneOf(Assignment.State)]
    arrived_at: Time
    stored_at: Time | None
    submitted_at: Time | None
    auto_approve_at: Time | None
    decided_at: Time | None
    failed_checks: int
    held: bool = Field(description="Waits for a person's decision.")
    note: str


class AssignmentDetails(AssignmentOut):
    """With what was answered, by unit."""

    response: Any


class AssignmentLine(AssignmentDetails):
    """A line of the export."""


class Approval(Body):
    """A note that the worker reads."""

    note: str = Field("", max_length=1024)


#: What a request without a body says.
_NO_APPROVAL = Approval(note="")


class Rejection(Body):
    """A reason that the worker reads."""

    reason: str = Field(min_length=1, max_length=1024)


class BonusIn(Body):
    """A payment beside the reward, with a reason that the worker reads."""

    cents: int = Field(ge=1, le=1_000_000)
    reason: str = Field(min_length=1, max_length=900)


class ChosenWork(Body):
    """Work to approve at once."""

    assignments: list[Id] = Field(min_length=1, max_length=review.MOST_AT_ONCE)
    note: str = Field("", max_length=1024)


class WorkNote(BaseModel):
    """Something about a worker's work."""

    worker: str
    why: str


class ApprovalOutcome(BaseModel):
    """How many were approved, what was not and why, and approved work with answers that still wait."""

    approved: int
    refused: list[WorkNote]
    undecided: list[WorkNote]


@assignments.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def list_assignments(
    request: ApiRequest, project: str, stage: str, paging: Query[PageRequest], which: Query[AssignmentFilter]
) -> Page[AssignmentOut]:
    """Work of a stage, without answers; `get_assignment` and the export have them."""
    row = stage_access(request).stage
    page = page_of(
        tables.work(row, which.state, which.worker),
        paging,
        key=("pk",),
        within=(row.pk, which.state, which.worker),
    )
    return Page(items=[AssignmentOut(**_facts(each)) for each in page.items], next=page.next)


@assignments.get(f"{_LIST}.jsonl", scopes=[Scope.READ], role=Role.VIEWER, content=lines_of(AssignmentLine))
def export_assignments(request: ApiRequest, project: str, stage: str) -> StreamingHttpResponse:
    """All work of a stage with its answers, one assignment per line."""
    rows = Assignment.objects.filter(stage=stage_access(request).stage).values(
        *(name for name in AssignmentLine.model_fields if name not in ("hit", "worker", "simulated")),
        number=F("hit__ordinal"),
        worker_name=F("worker__external_id"),
        simulated=F("worker__simulated"),
    )
    return stream_lines(_renamed(rows_by_key(rows)))


def _renamed(rows: Any) -> Any:
    for row in rows:
        row["hit"], row["worker"] = row.pop("number"), row.pop("worker_name")
        yield row


@assignments.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_assignment(request: ApiRequest, project: str, stage: str, assignment: int) -> AssignmentDetails:
    """One assignment with its answers."""
    row = _assignment(stage_access(request), assignment)
    return AssignmentDetails(**_facts(row), response=row.response)


@assignments.post(f"{_ONE}/approve", scopes=_PAID, role=Role.MANAGER)
def approve_assignment(
    request: ApiRequest, project: str, stage: str, assignment: int, body: Approval = _NO_APPROVAL
) -> OperationRef:
    """Approve work; its reward is paid."""
    access = stage_access(request)
    row = _assignment(access, assignment)
    return _planned(access, review.approve(assignment=row, actor=access.user, note=body.note))


@assignments.post(f"{_ONE}/reject", scopes=_DECIDE, role=Role.MANAGER)
def reject_assignment(
    request: ApiRequest, project: str, stage: str, assignment: int, body: Rejection
) -> OperationRef:
    """Reject work, with a reason; it can be approved after all for 30 days."""
    access = stage_access(request)
    row = _assignment(access, assignment)
    return _planned(access, review.reject(assignment=row, actor=access.user, reason=body.reason))


@assignments.post(f"{_ONE}/override", scopes=_PAID, role=Role.MANAGER, spends=True)
def override_rejection(
    request: ApiRequest, project: str, stage: str, assignment: int, body: Approval = _NO_APPROVAL
) -> OperationRef:
    """Approve rejected work after all."""
    access = stage_access(request)
    row = _assignment(access, assignment)
    return _planned(access, review.override(assignment=row, actor=access.user, note=body.note))


@assignments.post(f"{_ONE}/release", scopes=_PAID, role=Role.MANAGER)
def release_assignment(request: ApiRequest, project: str, stage: str, assignment: int) -> OperationRef:
    """Let held work go on: it is approved."""
    access = stage_access(request)
    row = _assignment(access, assignment)
    return _planned(access, review.release_hold(assignment=row, actor=access.user))


@assignments.post(f"{_ONE}/bonus", scopes=[Scope.PAY], role=Role.MANAGER, spends=True)
def pay_bonus(request: ApiRequest, project: str, stage: str, assignment: int, body: BonusIn) -> OperationRef:
    """Pay a bonus. With an Idempotency-Key it is paid once, however often and late it is asked for."""
    access = stage_access(request)
    operation = review.bonus(
        assignment=_assignment(access, assignment),
        actor=access.user,
        cents=body.cents,
        reason=body.reason,
        purpose=purpose_of(request),
    )
    return _planned(access, operation)


@assignments.post(f"{_STAGE}/approvals", scopes=_PAID, role=Role.MANAGER)
def approve_assignments(request: ApiRequest, project: str, stage: str, body: ChosenWork) -> ApprovalOutcome:
    """Approve several at once; one that cannot be approved is named and stops no other."""
    access = stage_access(request)
    outcome = review.approve_chosen(
        stage=access.stage, chosen=body.assignments, actor=access.user, note=body.note
    )
    return ApprovalOutcome(
        approved=outcome.approved,
        refused=[WorkNote(worker=worker, why=why) for worker, why in outcome.refused],
        undecided=[WorkNote(worker=worker, why=why) for worker, why in outcome.undecided],
    )


def _assignment(access: StageAccess, pk: int) -> Assignment:
    rows = Assignment.objects.select_related("hit", "worker").filter(stage=access.stage)
    row = rows.filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such assignment in this stage.")
    row.stage = access.stage
    return row


def _planned(access: StageAccess, operation: Any) -> OperationRef:
    return planned(operation, access.stage.endpoint.currency)


_COLUMNS = tuple(name for name in AssignmentOut.model_fields if name not in ("hit", "worker", "simulated"))


def _facts(row: Assignment) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _COLUMNS} | {
        "hit": row.hit.ordinal,
        "worker": row.worker.external_id,
        "simulated": row.worker.simulated,
    }
