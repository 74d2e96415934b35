"""HITs of a stage: what is on offer, the work that came in, and what a person decides about it."""

import uuid
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from django.db.models import F
from django.http import Http404, StreamingHttpResponse
from django.utils import timezone
from ninja import Query
from pydantic import BaseModel, Field, field_validator

from core.api.models import Scope
from crowd.access import StageAccess
from crowd.api.access import StagePermission, stage_access
from crowd.errors import StageStateError
from crowd.kinds import kind_of
from crowd.models import Assignment, Hit, MarketOperation
from crowd.selectors import work_lists
from crowd.services import review
from crowd.services import stages as services
from web.api.access import ApiRequest, Role
from web.api.bodies import rows_by_key, stream_lines, wants_lines
from web.api.fields import MOST_ID, MOST_NUMBER, Body, Id, Moment, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import KEY_HEADER, Resource

hits = Resource("HITs", permission=StagePermission)
_LIST = "/projects/{project}/stages/{stage}/hits"
_ONE = f"{_LIST}/{{number}}"


class HitFilter(BaseModel):
    """Which HITs."""

    state: Literal["all", "planned", "open", "closed", "refused"] = Field(
        "all", description="Where it is on its way."
    )


class HitOut(BaseModel):
    """A task on offer to several people."""

    number: int = Field(description="Within its stage.")
    external_id: str = Field(description="At the marketplace; empty until it is published.")
    state: Annotated[str, OneOf(Hit.State)]
    places: int = Field(description="Different people who may do it.")
    answered: int
    working: int
    reward_cents: int
    fee_cents: int = Field(description="Expected, for each assignment.")
    wave: int = Field(description="0 for the first publication, then top-ups.")
    published_at: Time | None
    expires_at: Time | None


class UnitOut(BaseModel):
    """A unit in a HIT."""

    unit: str
    role: Literal["unit", "overlap", "check"]
    wording: str


class HitDetails(HitOut):
    """A HIT together with the units that its task page shows."""

    units: list[UnitOut]


class HitLine(BaseModel):
    """A line of the export."""

    number: int
    external_id: str
    state: str
    places: int
    reward_cents: int
    fee_cents: int
    wave: int
    published_at: Time | None
    expires_at: Time | None


class HitChanges(Body):
    """Until when a HIT is on offer."""

    expires_at: Moment = Field(description="Within a year; a time that is over ends it now.")

    @field_validator("expires_at")
    @classmethod
    def _is_within_a_year(cls, moment: datetime) -> datetime:
        if moment > timezone.now() + timedelta(days=365):
            raise ValueError("choose a time within a year from now")
        return moment


class MorePlaces(Body):
    """How many more people."""

    places: int = Field(ge=1, le=10_000)


class OperationRef(BaseModel):
    """A call that is planned; it is sent in the next round at the marketplace."""

    operation: uuid.UUID
    kind: str
    state: str
    amount_cents: int
    fee_cents: int
    currency: str


def planned(operation: MarketOperation, currency: str) -> OperationRef:
    """An operation as the answer to what asked for it."""
    return OperationRef(
        operation=operation.pk,
        kind=operation.kind,
        state=operation.state,
        amount_cents=operation.amount_cents,
        fee_cents=operation.fee_cents,
        currency=currency,
    )


def purpose_of(request: ApiRequest) -> str:
    """The name under which a call is planned: the same for a request that comes again, else a new one."""
    key = request.headers.get(KEY_HEADER, "")
    if not key:
        return f"api {uuid.uuid4().hex}"
    return f"api {uuid.uuid5(uuid.NAMESPACE_URL, f'{request.caller.user.pk} {key}').hex}"


@hits.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER, lines=HitLine)
def list_hits(
    request: ApiRequest, project: str, stage: str, paging: Query[PageRequest], which: Query[HitFilter]
) -> Page[HitOut] | StreamingHttpResponse:
    """HITs of a stage, by number."""
    row = stage_access(request).stage
    if wants_lines(request):
        lines = Hit.objects.filter(stage=row, **({} if which.state == "all" else {"state": which.state}))
        names = [name for name in HitLine.model_fields if name != "number"]
        return stream_lines(_numbered(rows_by_key(lines.values("ordinal", *names), key="ordinal")))
    page = page_of(work_lists.hits(row, which.state), paging, key=("ordinal",), within=(row.pk, which.state))
    return Page(items=[HitOut(**_facts(each)) for each in page.items], next=page.next)


def _numbered(rows: Any) -> Any:
    for row in rows:
        yield {"number": row.pop("ordinal"), **row}


@hits.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_hit(request: ApiRequest, project: str, stage: str, number: int) -> HitDetails:
    """One HIT with its units."""
    access = stage_access(request)
    row = _hit(access, number)
    units = list(row.units.order_by("position"))
    wording = kind_of(access.stage).wording(access.stage, [unit.unit for unit in units])
    return HitDetails(
        **_facts(row),
        units=[
            UnitOut.model_validate(
                {"unit": unit.unit, "role": unit.role, "wording": wording.get(unit.unit, unit.unit)}
            )
            for unit in units
        ],
    )


@hits.patch(_ONE, scopes=[Scope.COLLECT], role=Role.MANAGER)
def change_hit(request: ApiRequest, project: str, stage: str, number: int, body: HitChanges) -> OperationRef:
    """Keep a HIT on offer until a time, or end it; who works on it may still submit."""
    access = stage_access(request)
    row = _hit(access, number)
    if row.state == Hit.State.PLANNED or not row.external_id:
        raise StageStateError("The HIT is not published yet.")
    if body.expires_at > timezone.now():
        operation = services.extend_hit_time(hit=row, until=body.expires_at.replace(microsecond=0))
    else:
        operation = services.expire_hit(hit=row, purpose=purpose_of(request))
    return planned(operation, access.stage.endpoint.currency)


@hits.post(f"{_ONE}/more-places", scopes=[Scope.COLLECT, Scope.PAY], role=Role.MANAGER, spends=True)
def extend_hit_places(
    request: ApiRequest, project: str, stage: str, number: int, body: MorePlaces
) -> OperationRef:
    """More people for it; their money is reserved."""
    access = stage_access(request)
    operation = services.extend_hit_places(
        hit=_hit(access, number), places=body.places, purpose=purpose_of(request)
    )
    return planned(operation, access.stage.endpoint.currency)


def _hit(access: StageAccess, number: int) -> Hit:
    row = None
    if 0 <= number <= MOST_NUMBER:
        row = work_lists.hits(access.stage, "all").filter(ordinal=number).first()
    if row is None:
        raise Http404("There is no such HIT in this stage.")
    row.stage = access.stage
    return row


def _facts(row: Any) -> dict[str, Any]:
    return {"number": row.ordinal} | {
        name: getattr(row, name) for name in HitOut.model_fields if name != "number"
    }


# Work that came in

assignments = Resource("Assignments", permission=StagePermission)
_STAGE = "/projects/{project}/stages/{stage}"
_ASSIGNMENTS = f"{_STAGE}/assignments"
_ASSIGNMENT = f"{_ASSIGNMENTS}/{{assignment}}"
_DECIDE, _PAID = [Scope.DECIDE], [Scope.DECIDE, Scope.PAY]


class AssignmentFilter(BaseModel):
    """Which work."""

    state: Literal["waiting", "held", "quarantined", "approved", "rejected", "working", "all"] = Field(
        "all", description="waiting: no decision yet, nor one on its way."
    )
    worker: str = Field("", max_length=64, description="The worker's id at the marketplace.")


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
    instructions_version: int = Field(
        description="Of the stage's instructions, as they were when it was opened."
    )
    language: str = Field(description="In which its texts were read; empty: the stage has one language.")
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


@assignments.get(_ASSIGNMENTS, scopes=[Scope.READ], role=Role.VIEWER, lines=AssignmentLine)
def list_assignments(
    request: ApiRequest, project: str, stage: str, paging: Query[PageRequest], which: Query[AssignmentFilter]
) -> Page[AssignmentOut] | StreamingHttpResponse:
    """Work of a stage, without answers; `get_assignment` and lines have them."""
    row = stage_access(request).stage
    if wants_lines(request):
        lines = work_lists.work(row, which.state, which.worker).values(
            *(name for name in AssignmentLine.model_fields if name not in ("hit", "worker", "simulated")),
            number=F("hit__ordinal"),
            worker_name=F("worker__external_id"),
            simulated=F("worker__simulated"),
        )
        return stream_lines(_renamed(rows_by_key(lines)))
    page = page_of(
        work_lists.work(row, which.state, which.worker),
        paging,
        key=("pk",),
        within=(row.pk, which.state, which.worker),
    )
    return Page(items=[AssignmentOut(**_describe_assignment(each)) for each in page.items], next=page.next)


def _renamed(rows: Any) -> Any:
    for row in rows:
        row["hit"], row["worker"] = row.pop("number"), row.pop("worker_name")
        yield row


@assignments.get(_ASSIGNMENT, scopes=[Scope.READ], role=Role.VIEWER)
def get_assignment(request: ApiRequest, project: str, stage: str, assignment: int) -> AssignmentDetails:
    """One assignment with its answers."""
    row = _assignment(stage_access(request), assignment)
    return AssignmentDetails(**_describe_assignment(row), response=row.response)


@assignments.post(f"{_ASSIGNMENT}/approve", scopes=_PAID, role=Role.MANAGER)
def approve_assignment(
    request: ApiRequest, project: str, stage: str, assignment: int, body: Approval = _NO_APPROVAL
) -> OperationRef:
    """Approve work; its reward is paid."""
    access = stage_access(request)
    row = _assignment(access, assignment)
    return _planned(access, review.approve(assignment=row, actor=access.user, note=body.note))


@assignments.post(f"{_ASSIGNMENT}/reject", scopes=_DECIDE, role=Role.MANAGER)
def reject_assignment(
    request: ApiRequest, project: str, stage: str, assignment: int, body: Rejection
) -> OperationRef:
    """Reject work, with a reason; it can be approved after all for 30 days."""
    access = stage_access(request)
    row = _assignment(access, assignment)
    return _planned(access, review.reject(assignment=row, actor=access.user, reason=body.reason))


@assignments.post(f"{_ASSIGNMENT}/override", scopes=_PAID, role=Role.MANAGER, spends=True)
def override_rejection(
    request: ApiRequest, project: str, stage: str, assignment: int, body: Approval = _NO_APPROVAL
) -> OperationRef:
    """Approve rejected work after all."""
    access = stage_access(request)
    row = _assignment(access, assignment)
    return _planned(access, review.override(assignment=row, actor=access.user, note=body.note))


@assignments.post(f"{_ASSIGNMENT}/release", scopes=_PAID, role=Role.MANAGER)
def release_assignment(request: ApiRequest, project: str, stage: str, assignment: int) -> OperationRef:
    """Let held work go on: it is approved."""
    access = stage_access(request)
    row = _assignment(access, assignment)
    return _planned(access, review.release_hold(assignment=row, actor=access.user))


@assignments.post(f"{_ASSIGNMENT}/bonus", scopes=[Scope.PAY], role=Role.MANAGER, spends=True)
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
        stage=access.stage, assignments=body.assignments, actor=access.user, note=body.note
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


def _describe_assignment(row: Assignment) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _COLUMNS} | {
        "hit": row.hit.ordinal,
        "worker": row.worker.external_id,
        "simulated": row.worker.simulated,
    }
