"""Marketplaces and panels of the installation, and the calls to them of which a person must say what became.

Keys go in and never come out.
"""

import uuid
from typing import Annotated, Any, Literal

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.accounts import security
from core.api.models import Scope
from core.projects.models import Project
from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.api.access import StagePermission, stage_access
from crowd.errors import CrowdError
from crowd.models import Endpoint, EndpointSpender, MarketOperation
from crowd.rights import usable_endpoints
from crowd.selectors import work_lists
from crowd.selectors.operations import operations_for_people, recent_operations
from crowd.services import endpoints as services
from crowd.services import review, spenders
from crowd.services.panels import subscribe_hooks
from web.api.access import MEMBER, STAFF, ApiRequest, Role, project_access
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


class EndpointIn(Body):
    """A marketplace or panel by what is known of it."""

    preset: Literal["local", "link", "prolific", "aws", "aws-sandbox"]
    name: str = Field(min_length=1, max_length=60, pattern=r"^[-a-zA-Z0-9_]+$")
    url: str = Field("", max_length=300, description="Only where it is not the usual one.")
    access_key: str = Field("", max_length=128)
    secret: str = Field("", max_length=400, description="Stored encrypted, never shown again.")


class EndpointMove(Body):
    """Where it really is."""

    url: str = Field(min_length=1, max_length=300)


SpenderKind = Literal["projects", "users"]


class Balance(BaseModel):
    """What can be spent there."""

    available_cents: int
    currency: str


class Hooks(BaseModel):
    """Where a panel sends its hooks."""

    address: str


@endpoints.get("/endpoints", scopes=[Scope.READ], role=MEMBER)
def list_endpoints(request: ApiRequest, paging: Query[PageRequest]) -> Page[EndpointOut]:
    """Marketplaces and panels that the token's person may spend from, by themselves or in their projects.

    For staff all of them; with a token of one project those that this project uses or its person holds.
    """
    page = page_of(_usable(request), paging, within=request.caller.token.pk)
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@endpoints.post("/endpoints", scopes=[Scope.ADMIN], role=STAFF, status=201)
def create_endpoint(request: ApiRequest, body: EndpointIn) -> EndpointOut:
    """Add a marketplace or panel; for staff."""
    row = services.create_endpoint(**body.model_dump())
    security.log("endpoint.added", name=row.name, by=request.caller.user.get_username())
    return _describe(row)


@endpoints.get("/endpoints/{endpoint}", scopes=[Scope.READ], role=MEMBER)
def get_endpoint(request: ApiRequest, endpoint: str) -> EndpointOut:
    """One marketplace."""
    row = _usable(request).filter(name=endpoint).first()
    if row is None:
        raise Http404("There is no such endpoint.")
    return _describe(row)


@endpoints.patch("/endpoints/{endpoint}", scopes=[Scope.ADMIN], role=STAFF)
def move_endpoint(request: ApiRequest, endpoint: str, body: EndpointMove) -> EndpointOut:
    """Correct the address of an endpoint to which nothing was sent; for staff."""
    moved = services.move_endpoint(endpoint=_find_endpoint(endpoint), url=body.url)
    security.log("endpoint.moved", name=moved.name, by=request.caller.user.get_username())
    return _describe(moved)


@endpoints.delete("/endpoints/{endpoint}", scopes=[Scope.ADMIN], role=STAFF)
def remove_endpoint(request: ApiRequest, endpoint: str) -> None:
    """Remove an unused endpoint; for staff."""
    services.remove_endpoint(endpoint=_find_endpoint(endpoint))
    security.log("endpoint.removed", name=endpoint, by=request.caller.user.get_username())


@endpoints.post("/endpoints/{endpoint}/check", scopes=[Scope.ADMIN], role=STAFF, atomic=False)
def check_endpoint(request: ApiRequest, endpoint: str) -> Balance:
    """Ask it for the balance, which proves that address and keys work; for staff."""
    row = _find_endpoint(endpoint)
    try:
        balance = registry.adapter(row).check()
    except (MarketplaceDownError, MarketplaceRefusedError, ValueError) as error:
        raise CrowdError(f"{row.label}: {error}") from error
    return Balance(available_cents=balance.available.minor, currency=row.currency)


@endpoints.post("/endpoints/{endpoint}/hooks", scopes=[Scope.ADMIN], role=STAFF, atomic=False)
def subscribe_to_hooks(request: ApiRequest, endpoint: str) -> Hooks:
    """Make a panel send hooks from now on; for staff."""
    row = _find_endpoint(endpoint)
    if row.protocol not in Endpoint.PANELS:
        raise CrowdError(f"{row.label} is no panel, and sends no hooks.")
    address = subscribe_hooks(row)
    security.log("endpoint.hooks", name=row.name, by=request.caller.user.get_username())
    return Hooks(address=address)


def _usable(request: ApiRequest) -> "QuerySet[Endpoint]":
    user, bound = request.caller.user, request.caller.token.project_id
    if bound is None:
        return usable_endpoints()
    rows = EndpointSpender.objects.filter(Q(project=bound) | Q(user=user))
    return Endpoint.objects.filter(pk__in=rows.values("endpoint"))


# Who may spend from them


class SpenderOut(BaseModel):
    """A project or a person who may spend from an endpoint; one of both is null."""

    project: str | None = Field(description="Its short name.")
    user: str | None = Field(description="User name: may in projects in which they are manager or owner.")
    created_at: Time


@endpoints.get("/endpoints/{endpoint}/spenders", scopes=[Scope.READ], role=STAFF)
def list_spenders(request: ApiRequest, endpoint: str, paging: Query[PageRequest]) -> Page[SpenderOut]:
    """Projects and people who may spend from an endpoint; for staff."""
    row = _find_endpoint(endpoint)
    rows = EndpointSpender.objects.filter(endpoint=row).select_related("project", "user")
    page = page_of(rows, paging, within=row.pk)
    return Page(items=[_describe_spender(each) for each in page.items], next=page.next)


@endpoints.put("/endpoints/{endpoint}/spenders/{kind}/{name}", scopes=[Scope.ADMIN, Scope.PAY], role=STAFF)
def allow_spending(request: ApiRequest, endpoint: str, kind: SpenderKind, name: str) -> SpenderOut:
    """Let a project or a person spend from an endpoint; for staff."""
    holder = _holder(kind, name)
    row = spenders.allow_spending(endpoint=_find_endpoint(endpoint), actor=request.caller.user, **holder)
    return _describe_spender(row)


@endpoints.delete("/endpoints/{endpoint}/spenders/{kind}/{name}", scopes=[Scope.ADMIN], role=STAFF)
def disallow_spending(request: ApiRequest, endpoint: str, kind: SpenderKind, name: str) -> None:
    """Remove that right. Open stages that depend on it alone are paused; for staff."""
    rows = EndpointSpender.objects.select_related("endpoint", "project", "user")
    row = rows.filter(endpoint=_find_endpoint(endpoint), **_holder(kind, name)).first()
    if row is None:
        raise Http404("There is no such right.")
    spenders.disallow_spending(row=row, actor=request.caller.user)


def _holder(kind: str, name: str) -> dict[str, Any]:
    row: Any = (
        Project.objects.filter(slug=name).first()
        if kind == "projects"
        else User.objects.filter(username=name, is_active=True).first()
    )
    if row is None:
        raise Http404(f"There is none of the {kind} named {name[:80]!r}.")
    return {"project" if kind == "projects" else "user": row}


def _describe_spender(row: EndpointSpender) -> SpenderOut:
    return SpenderOut(
        project=row.project.slug if row.project else None,
        user=row.user.get_username() if row.user else None,
        created_at=row.created_at,
    )


def _find_endpoint(name: str) -> Endpoint:
    row = Endpoint.objects.filter(name=name).first()
    if row is None:
        raise Http404("There is no such endpoint.")
    return row


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
