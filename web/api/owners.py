"""What projects and requesters of the marketplace have alike, at `/projects/{…}/…` and `/requesters/{…}/…`.

An operation of both is written once, with `OWNER` before its address:

    @links.get(f"{OWNER}/study-links", scopes=[Scope.READ], role=Role.VIEWER)
    def list_study_links(request: ApiRequest, of: AtOwner, …) -> Page[LinkOut]:
        rows = links_of(owner_place(request).owner)

`role` is that of projects; an `OwnerDoor` says what it means elsewhere. Doors are `OWNERS` of an app's API
module, by the first part of the address.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404
from ninja import Path, Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.origin import Owner
from web.api.access import ApiRequest, Caller, Permission, Role
from web.api.fields import Body, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

OWNER = "/{owner_kind}/{owner}"


class OwnerAddress(BaseModel):
    """Whose something is."""

    owner_kind: Literal["projects", "requesters"] = Field(description="Which kind of owner.")
    owner: str = Field(description="Short name of the project, or customer id of the requester.")


AtOwner = Path[OwnerAddress]


class OwnerDoor(ABC):
    """How the API finds one kind of owner, and who belongs to it."""

    #: Knows who may do what; `part` is what it calls the owner in an address.
    permission: type[Permission] = Permission
    part: str
    #: Roles of a project, in the permission's own words.
    roles: ClassVar[Mapping[str, str]]
    #: Roles that members can have.
    member_roles: tuple[str, ...]

    @abstractmethod
    def place(self, caller: Caller) -> "OwnerPlace":
        """Where the caller is, whom the permission let in."""

    @abstractmethod
    def members(self, owner: Owner) -> QuerySet[Any]:
        """Rows with `user` and `role`."""

    @abstractmethod
    def set_role(self, owner: Owner, *, user: User, role: str, by: User) -> Any:
        """Add a member, or change their role; the row."""

    @abstractmethod
    def remove_member(self, owner: Owner, *, user: User, by: User) -> None:
        """Remove a member."""


@dataclass(frozen=True, slots=True)
class OwnerPlace:
    """An owner that the caller may see, and whether they may change what is there."""

    owner: Owner
    manages: bool
    door: OwnerDoor


#: How owners are found, by the first part of an address.
DOORS: dict[str, OwnerDoor] = {}


class OwnerPermission(Permission):
    """Finds the owner that the address names."""

    def check_place(self, request: Any, caller: Caller, parts: dict[str, Any]) -> None:
        """The owner, if the caller sees it, and what they may do there."""
        door = DOORS.get(parts["owner_kind"])
        if door is None:
            raise Http404("There is no such address; /api/v1/openapi.json has all.")
        own = door.permission(scopes=(), role=door.roles[self.role], writes=self.writes)
        own.check_place(request, caller, {door.part: parts["owner"]})
        caller.place = door.place(caller)


def owner_place(request: ApiRequest) -> OwnerPlace:
    """The owner that the address names."""
    place = request.caller.place
    assert isinstance(place, OwnerPlace), "the address names no owner"
    return place


# Members

members = Resource("Members", permission=OwnerPermission)
_MEMBER = f"{OWNER}/members/{{username}}"


class MemberOut(BaseModel):
    """A member; the owner of a requester is none, and may do everything."""

    username: str
    role: str
    since: Time | None = Field(None, description="null: of a project, where its events say it.")


class MemberIn(Body):
    """What the person may do."""

    role: Literal["owner", "manager", "reviewer", "payer", "viewer"] = Field(
        description="viewers look, managers work, owners also spend and name members; at a requester "
        "reviewers decide about work, and payers deposit and pay out."
    )


@members.get(f"{OWNER}/members", scopes=[Scope.READ], role=Role.VIEWER)
def list_members(request: ApiRequest, of: AtOwner, paging: Query[PageRequest]) -> Page[MemberOut]:
    """Members of a project or requester with their roles."""
    place = owner_place(request)
    rows = place.door.members(place.owner).select_related("user")
    page = page_of(rows, paging, key=("pk",), within=place.owner.pk)
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@members.put(_MEMBER, scopes=[Scope.ADMIN], role=Role.OWNER)
def set_member(request: ApiRequest, of: AtOwner, username: str, body: MemberIn) -> MemberOut:
    """Add a person who has an account, or change a member's role. The last owner stays owner."""
    place = owner_place(request)
    if body.role not in place.door.member_roles:
        sentence = f"There is no role {body.role!r} here; there are {', '.join(place.door.member_roles)}."
        raise ProblemError(422, "invalid", f"role: {sentence}", errors={"role": [sentence]})
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise ProblemError(422, "no_such_user", f"There is no user {username[:150]!r} here.")
    return _describe(place.door.set_role(place.owner, user=user, role=body.role, by=request.caller.user))


@members.delete(_MEMBER, scopes=[Scope.ADMIN], role=Role.OWNER)
def remove_member(request: ApiRequest, of: AtOwner, username: str) -> None:
    """Remove a member. The last owner stays."""
    place = owner_place(request)
    row = place.door.members(place.owner).select_related("user").filter(user__username=username).first()
    if row is None:
        raise Http404("There is no such member.")
    place.door.remove_member(place.owner, user=row.user, by=request.caller.user)


def _describe(row: Any) -> MemberOut:
    return MemberOut(username=row.user.get_username(), role=row.role, since=getattr(row, "since", None))
