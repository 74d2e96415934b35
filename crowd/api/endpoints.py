"""Marketplaces and panels of the installation, and calls to them. Keys never come out."""

import uuid
from typing import Annotated, Any, Literal

from django.db.models import Q, QuerySet
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from crowd.api.access import StagePermission, stage_access
from crowd.models import Endpoint, EndpointSpender, MarketOperation
from crowd.rights import usable_endpoints
from crowd.selectors import work_lists
from crowd.selectors.operations import recent_operations
from crowd.services import review
from web.api.access import MEMBER, ApiRequest, Role, project_access
from web.api.fields import Body, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

endpoints = Resource("Endpoints")


class EndpointOut(BaseModel):
    """A marketplace that stages can be published on."""

    name: str
    label: str
    protocol: str
    url: str
    currency: str
    real_money: bool = Field(description="OpeningTerms a stage there needs its budget confirmed.")
    created_at: Time


@endpoints.get("/endpoints", scopes=[Scope.READ], role=MEMBER)
def list_endpoints(request: ApiRequest, paging: Query[PageRequest]) -> Page[EndpointOut]:
    """Marketplaces and panels that the token's person may spend from, by themselves or in their projects.

    For staff all of them; with a token of one project those that this project uses or its person holds.
    """
    page = page_of(_usable(request), paging, within=request.caller.token.pk)
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@endpoints.get("/endpoints/{endpoint}", scopes=[Scope.READ], role=MEMBER)
def get_endpoint(request: ApiRequest, endpoint: str) -> EndpointOut:
    """One marketplace."""
    row = _usable(request).filter(name=endpoint).first()
    if row is None:
        raise Http404("There is no such endpoint.")
    return _describe(row)


def _usable(request: ApiRequest) -> "QuerySet[Endpoint]":
    user, bound = request.caller.user, request.caller.token.project_id
    if bound is None:
        return usable_endpoints()
    rows = EndpointSpender.objects.filter(Q(project=bound) | Q(user=user))
    return Endpoint.objects.filter(pk__in=rows.values("endpoint"))


def _describe(row: Endpoint) -> EndpointOut:
    return EndpointOut(
        name=row.name,
        label=row.label,
        protocol=row.protocol,
        url=row.url,
        currency=row.currency,
        real_money=row.real_money,
        created_at=row.created_at,
    )


# Calls to them

operations = Resource("Operations", permission=StagePermission)
_KEY = ("planned_at", "pk")


class OperationFilter(BaseModel):
    """Which calls."""

    state: Literal["all", "unfinished", "unknown", "refused", "confirmed"] = Field(
        "all", description="unknown: a person must find out what became of it."
    )


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


@operations.get("/projects/{project}/stages/{stage}/operations", scopes=[Scope.READ], role=Role.VIEWER)
def list_operations(
    request: ApiRequest, project: str, stage: str, paging: Query[PageRequest], which: Query[OperationFilter]
) -> Page[OperationOut]:
    """Every call of a stage that changed something, or should have."""
    row = stage_access(request).stage
    rows = work_lists.operations_of(recent_operations(row), which.state).select_related("stage", "endpoint")
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
    return _describe_operation(rows.get(pk=row.pk))


def _page(rows: Any, paging: PageRequest, within: object) -> Page[OperationOut]:
    page = page_of(rows.select_related("stage", "endpoint", "hit"), paging, key=_KEY, within=within)
    return Page(items=[_describe_operation(row) for row in page.items], next=page.next)


_SAME = tuple(
    name for name in OperationOut.model_fields if name not in ("stage", "hit", "assignment", "currency")
)


def _describe_operation(row: MarketOperation) -> OperationOut:
    return OperationOut(
        **{name: getattr(row, name) for name in _SAME},
        stage=row.stage.slug if row.stage else None,
        hit=row.hit.ordinal if row.hit else None,
        assignment=row.assignment_id,
        currency=row.endpoint.currency,
    )
