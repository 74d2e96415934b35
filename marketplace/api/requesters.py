"""Requesters of the marketplace in whose name a person may act."""

from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from marketplace.api.access import RequesterPermission, requester_of
from marketplace.models import Requester
from marketplace.services.members import Action, role_of
from marketplace.site.selectors import desk
from web.api.access import ACCOUNT, ApiRequest
from web.api.fields import Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

requesters = Resource("Requesters", permission=RequesterPermission)


class RequesterOut(BaseModel):
    """A requester of the marketplace."""

    requester: str = Field(description="Its customer id, which addresses name.")
    name: str
    role: str = Field(description="Role of the token's person.")
    available_cents: int = Field(description="Deposited and free.")
    held_cents: int = Field(description="Kept for HITs that are published.")
    created_at: Time


@requesters.get("/requesters", scopes=[Scope.READ], role=ACCOUNT)
def list_requesters(request: ApiRequest, paging: Query[PageRequest]) -> Page[RequesterOut]:
    """The requesters of which the token's person is owner or member; for staff all."""
    caller = request.caller
    if caller.token.project_id is not None:
        raise ProblemError(403, "token_bound", "This token opens one project only; this is outside of it.")
    rows = desk.requesters(caller.user).select_related("owner").order_by()
    page = page_of(rows, paging, within=caller.user.pk)
    return Page(items=[_describe(request, row) for row in page.items], next=page.next)


@requesters.get("/requesters/{requester}", scopes=[Scope.READ], role=Action.VIEW)
def get_requester(request: ApiRequest, requester: str) -> RequesterOut:
    """One requester, with its money."""
    return _describe(request, requester_of(request))


def _describe(request: ApiRequest, row: Requester) -> RequesterOut:
    return RequesterOut(
        requester=row.customer_id,
        name=row.name,
        role=role_of(request.caller.user, row),
        available_cents=row.available_cents,
        held_cents=row.held_cents,
        created_at=row.created_at,
    )
