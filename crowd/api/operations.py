"""Calls of marketplaces, and those of which a person must say what became."""

import uuid
from typing import Annotated, Any, Literal

from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from crowd.api.access import StagePermission, stage_access
from crowd.desk import tables
from crowd.models import MarketOperation
from crowd.selectors.operations import operations_for_people, recent_operations
from crowd.services import review
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import Body, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

operations = Resource("Operations", permission=StagePermission)
_KEY = ("planned_at", "pk")


class OperationFilter(BaseModel):
    """Which calls."""

    state: Literal["all", "unfinished", "unknown", "refused", "confirmed"] = "all"


class OperationOut(BaseModel):
    """One call that changes something at a marketplace, from plan to certainty."""

    id: uuid.UUID
    stage: str | None
    kind: Annotated[str, OneOf(MarketOperation.Kind)]
    state: Annotated[str, OneOf(MarketOperation.State)]
    target: str
    hit: int | None
    assignment: int | None
    amount_cents: int
    fee_cents: int
    currency: str
    attempts: int
    planned_at: Time
    finished_at: Time | None
    error_code: str
    error_text: str
    needs_person: bool


class Resolution(Body):
    """What became of it. `ref`: the HIT's id at the marketplace, where one was published."""

    happened: bool
    ref: str = Field("", max_length=64)
    why: str = Field(min_length=1, max_length=1000)


@operations.get("/projects/{project}/operations/waiting", scopes=[Scope.READ], role=Role.VIEWER)
def list_waiting_operations(
    request: ApiRequest, project: str, paging: Query[PageRequest]
) -> Page[OperationOut]:
    """Calls without an answer, in all stages: a person must find out what became of them."""
    at = project_access(request).project
    rows = operations_for_people().filter(stage__project=at)
    return _page(rows, paging, ("waiting", at.pk))


@operations.get("/projects/{project}/stages/{stage}/operations", scopes=[Scope.READ], role=Role.VIEWER)
def list_operations(
    request: ApiRequest, project: str, stage: str, paging: Query[PageRequest], which: Query[OperationFilter]
) -> Page[OperationOut]:
    """Every call of a stage that changed something, or should have."""
    row = stage_access(request).stage
    rows = tables.operations_of(recent_operations(row), which.state).select_related("stage", "endpoint")
    return _page(rows, paging, (row.pk, which.state))


@operations.post(
    "/projects/{project}/operations/{operation}/resolve", scopes=[Scope.DECIDE], role=Role.MANAGER
)
def resolve_operation(
    request: ApiRequest, project: str, operation: uuid.UUID, body: Resolution
) -> OperationOut:
    """State what became of a call without an answer: it is booked as done, or its money is free again."""
    access = project_access(request)
    rows = MarketOperation.objects.select_related("stage", "endpoint", "hit")
    row = rows.filter(stage__project=access.project, pk=operation).first()
    if row is None:
        raise Http404("There is no such operation in this project.")
    review.resolve_operation(
        operation=row, actor=access.user, happened=body.happened, ref=body.ref, why=body.why
    )
    return _describe(rows.get(pk=row.pk))


def _page(rows: Any, paging: PageRequest, within: object) -> Page[OperationOut]:
    page = page_of(rows.select_related("stage", "endpoint", "hit"), paging, key=_KEY, within=within)
    return Page(items=[_describe(row) for row in page.items], next=page.next)


_SAME = tuple(
    name for name in OperationOut.model_fields if name not in ("stage", "hit", "assignment", "currency")
)


def _describe(row: MarketOperation) -> OperationOut:
    return OperationOut(
        **{name: getattr(row, name) for name in _SAME},
        stage=row.stage.slug if row.stage else None,
        hit=row.hit.ordinal if row.hit else None,
        assignment=row.assignment_id,
        currency=row.endpoint.currency,
    )
