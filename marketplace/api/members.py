"""Members of a requester by the API: who acts for it, and as what."""

from typing import Annotated

from django.contrib.auth.models import User
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from marketplace.api.access import RequesterPermission, requester_of
from marketplace.models import RequesterMember
from marketplace.services import members as services
from marketplace.services.members import Action
from web.api.access import ApiRequest
from web.api.fields import Body, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

members = Resource("Members of requesters", permission=RequesterPermission)
_LIST, _ONE = "/requesters/{requester}/members", "/requesters/{requester}/members/{username}"
Role = Annotated[str, OneOf(RequesterMember.Role)]


class RequesterMemberOut(BaseModel):
    """A person who acts for the requester beside its owner."""

    username: str
    role: Role
    since: Time


class RequesterMemberIn(Body):
    """What the person may do."""

    role: Role = Field(
        description="owner: everything; manager: publishes, reviews, holds keys; reviewer: decides about "
        "work; payer: deposits and pays out; viewer: looks."
    )


@members.get(_LIST, scopes=[Scope.READ], role=Action.VIEW)
def list_requester_members(
    request: ApiRequest, requester: str, paging: Query[PageRequest]
) -> Page[RequesterMemberOut]:
    """The people who act for the requester beside its owner."""
    lab = requester_of(request)
    rows = lab.members.select_related("user")
    page = page_of(rows, paging, key=("pk",), within=lab.pk)
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@members.put(_ONE, scopes=[Scope.ADMIN], role=Action.MEMBERS)
def set_requester_member(
    request: ApiRequest, requester: str, username: str, body: RequesterMemberIn
) -> RequesterMemberOut:
    """Add a person who has an account, or change a member's role."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise ProblemError(422, "no_such_user", f"There is no user {username[:150]!r} here.")
    by = request.caller.user
    return _describe(services.set_role(requester=requester_of(request), user=user, role=body.role, by=by))


@members.delete(_ONE, scopes=[Scope.ADMIN], role=Action.VIEW)
def remove_requester_member(request: ApiRequest, requester: str, username: str) -> None:
    """Remove a member, for owners; everyone may leave by themselves."""
    lab = requester_of(request)
    row = lab.members.select_related("user").filter(user__username=username).first()
    if row is None:
        raise Http404("There is no such member.")
    services.remove_member(requester=lab, user=row.user, by=request.caller.user)


def _describe(row: RequesterMember) -> RequesterMemberOut:
    return RequesterMemberOut(username=row.user.get_username(), role=row.role, since=row.since)
