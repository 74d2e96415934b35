"""Study links of a requester by the API: addresses by which people without an account join."""

from ninja import Query
from pydantic import Field

from core.api.models import Scope
from core.origin import Owner
from marketplace.api.access import RequesterPermission, requester_of
from marketplace.services.members import Action, may
from people import links as services
from people.api import links as kit
from people.api.links import LinkChanges, LinkIn, LinkOut, LinkTargets
from web.api.access import ApiRequest
from web.api.pages import Page, PageRequest
from web.api.resources import Resource

links = Resource("Study links of requesters", permission=RequesterPermission)
_LIST, _ONE = "/requesters/{requester}/study-links", "/requesters/{requester}/study-links/{int:link}"


class RequesterLinkIn(LinkIn):
    """A new link of a requester; `granted` is the id of a qualification type."""

    granted_value: int | None = Field(
        None, ge=-(2**31), lt=2**31, description="Of what is granted; 1 if none."
    )
    id_source: str = Field(
        "", max_length=40, pattern=r"^[A-Za-z0-9_.-]*$", description="Panel or workspace whose ids they are."
    )


def _owner(request: ApiRequest) -> Owner:
    return Owner(Owner.Kind.REQUESTER, requester_of(request).pk)


def _manages(request: ApiRequest) -> bool:
    return may(request.caller.user, requester_of(request), Action.MANAGE)


@links.get(f"{_LIST}/targets", scopes=[Scope.READ], role=Action.VIEW)
def list_requester_link_targets(request: ApiRequest, requester: str) -> LinkTargets:
    """What links of the requester can lead to: its batches, or all its open HITs."""
    return kit.list_targets(_owner(request))


@links.get(_LIST, scopes=[Scope.READ], role=Action.VIEW)
def list_requester_study_links(
    request: ApiRequest, requester: str, paging: Query[PageRequest]
) -> Page[LinkOut]:
    """The study links of a requester."""
    return kit.list_page(_owner(request), paging, manages=_manages(request))


@links.post(_LIST, scopes=[Scope.COLLECT], role=Action.MANAGE, status=201)
def create_requester_study_link(request: ApiRequest, requester: str, body: RequesterLinkIn) -> LinkOut:
    """Make a link. The requester gets its first consent text where it has none."""
    return kit.create(_owner(request), kit.plan_of(body), request.caller.user)


@links.get(_ONE, scopes=[Scope.READ], role=Action.VIEW)
def get_requester_study_link(request: ApiRequest, requester: str, link: int) -> LinkOut:
    """One link, with how many people came."""
    return kit.describe(kit.find_link(_owner(request), link), manages=_manages(request))


@links.patch(_ONE, scopes=[Scope.COLLECT], role=Action.MANAGE)
def change_requester_study_link(request: ApiRequest, requester: str, link: int, body: LinkChanges) -> LinkOut:
    """Change what may change while people come. Those who have joined stay."""
    return kit.change(kit.find_link(_owner(request), link), body, request.caller.user)


@links.post(f"{_ONE}/close", scopes=[Scope.COLLECT], role=Action.MANAGE)
def close_requester_study_link(request: ApiRequest, requester: str, link: int) -> LinkOut:
    """Close a link: no one else joins. People who have begun can finish."""
    row = kit.find_link(_owner(request), link)
    services.close_link(link=row, actor=request.caller.user)
    return kit.describe(row, manages=True)


@links.post(f"{_ONE}/reopen", scopes=[Scope.COLLECT], role=Action.MANAGE)
def reopen_requester_study_link(request: ApiRequest, requester: str, link: int) -> LinkOut:
    """People may join again, under the same address."""
    row = kit.find_link(_owner(request), link)
    services.reopen_link(link=row, actor=request.caller.user)
    return kit.describe(row, manages=True)
