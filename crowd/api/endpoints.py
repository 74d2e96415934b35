"""Marketplaces and panels of the installation. Keys go in and never come out."""

from typing import Literal

from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.accounts import security
from core.api.models import Scope
from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.errors import CrowdError
from crowd.models import Endpoint
from crowd.services.endpoints import create_endpoint as create
from crowd.services.panels import subscribe_hooks
from web.api.access import MEMBER, STAFF, ApiRequest
from web.api.fields import Body, Time
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


class Balance(BaseModel):
    """What can be spent there."""

    available_cents: int
    currency: str


class Hooks(BaseModel):
    """Where a panel sends its hooks."""

    address: str


@endpoints.get("/endpoints", scopes=[Scope.READ], role=MEMBER)
def list_endpoints(request: ApiRequest, paging: Query[PageRequest]) -> Page[EndpointOut]:
    """All marketplaces and panels of this installation."""
    page = page_of(Endpoint.objects.all(), paging)
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@endpoints.post("/endpoints", scopes=[Scope.ADMIN], role=STAFF, status=201)
def create_endpoint(request: ApiRequest, body: EndpointIn) -> EndpointOut:
    """Add a marketplace or panel; for staff."""
    made = create(**body.model_dump())
    security.log("endpoint.added", name=made.name, by=request.caller.user.get_username())
    return _describe(made)


@endpoints.get("/endpoints/{endpoint}", scopes=[Scope.READ], role=MEMBER)
def get_endpoint(request: ApiRequest, endpoint: str) -> EndpointOut:
    """One marketplace."""
    return _describe(_found(endpoint))


@endpoints.post("/endpoints/{endpoint}/check", scopes=[Scope.ADMIN], role=STAFF, atomic=False)
def check_endpoint(request: ApiRequest, endpoint: str) -> Balance:
    """Ask it for the balance, which proves that address and keys work; for staff."""
    row = _found(endpoint)
    try:
        balance = registry.adapter(row).check()
    except (MarketplaceDownError, MarketplaceRefusedError, ValueError) as error:
        raise CrowdError(f"{row.label}: {error}") from error
    return Balance(available_cents=balance.available.minor, currency=row.currency)


@endpoints.post("/endpoints/{endpoint}/hooks", scopes=[Scope.ADMIN], role=STAFF, atomic=False)
def subscribe_to_hooks(request: ApiRequest, endpoint: str) -> Hooks:
    """Have a panel send hooks from now on; for staff."""
    row = _found(endpoint)
    if row.protocol not in Endpoint.PANELS:
        raise CrowdError(f"{row.label} is no panel, and sends no hooks.")
    address = subscribe_hooks(row)
    security.log("endpoint.hooks", name=row.name, by=request.caller.user.get_username())
    return Hooks(address=address)


def _found(name: str) -> Endpoint:
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
