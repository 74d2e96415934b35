"""Lists of a requester's study links by the API: their people, personal links by mail, visits."""

from django.http import StreamingHttpResponse
from ninja import Query

from core.api.models import Scope
from core.origin import Owner
from marketplace.api.access import RequesterPermission, requester_of
from marketplace.services.members import Action
from people.api import rosters as kit
from people.api.links import find_link
from people.api.rosters import (
    RosterAdded,
    RosterIn,
    RosterMail,
    RosterMailPlan,
    RosterPersonOut,
    VisitLine,
)
from people.models import StudyLink
from web.api.access import ApiRequest
from web.api.pages import Page, PageRequest
from web.api.resources import Resource
from web.api.streams import lines_of

rosters = Resource("Lists of study links of requesters", permission=RequesterPermission)
_ONE = "/requesters/{requester}/study-links/{int:link}"


def _link(request: ApiRequest, pk: int) -> StudyLink:
    return find_link(Owner(Owner.Kind.REQUESTER, requester_of(request).pk), pk)


@rosters.get(f"{_ONE}/people", scopes=[Scope.READ], role=Action.MANAGE)
def list_requester_roster(
    request: ApiRequest, requester: str, link: int, paging: Query[PageRequest]
) -> Page[RosterPersonOut]:
    """People of the list of a link, such as a class, with their personal links and what they finished."""
    return kit.list_people(_link(request, link), paging)


@rosters.post(f"{_ONE}/people", scopes=[Scope.COLLECT], role=Action.MANAGE)
def add_to_requester_roster(request: ApiRequest, requester: str, link: int, body: RosterIn) -> RosterAdded:
    """Put people on the list of a link. Nothing is sent by this."""
    return kit.add(_link(request, link), body, request)


@rosters.post(f"{_ONE}/people/mail", scopes=[Scope.COLLECT], role=Action.MANAGE)
def mail_requester_roster(request: ApiRequest, requester: str, link: int, body: RosterMail) -> RosterMailPlan:
    """Send personal links to all without one, or remind those who finished nothing, at most once a day."""
    return kit.mail(_link(request, link), body, request)


@rosters.get(f"{_ONE}/visits.jsonl", scopes=[Scope.READ], role=Action.MANAGE, content=lines_of(VisitLine))
def export_requester_visits(request: ApiRequest, requester: str, link: int) -> StreamingHttpResponse:
    """Every visit of a link: to which text its person agreed, how far they came, and their code."""
    return kit.export(_link(request, link))
