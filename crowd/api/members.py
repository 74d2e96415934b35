"""Members of a project."""

from typing import Annotated

from django.contrib.auth.models import User
from django.http import Http404
from ninja import Query
from pydantic import BaseModel

from core.api.models import Scope
from core.projects import services
from core.projects.models import Membership
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import Body, OneOf
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

members = Resource("Members")


class MemberOut(BaseModel):
    """A member of the project."""

    username: str
    role: Annotated[str, OneOf(Role)]


class MemberIn(Body):
    """A role: viewers look, managers work, owners also spend and invite."""

    role: Annotated[str, OneOf(Role)]


@members.get("/projects/{project}/members", scopes=[Scope.READ], role=Role.VIEWER)
def list_members(request: ApiRequest, project: str, paging: Query[PageRequest]) -> Page[MemberOut]:
    """All members of the project with their roles."""
    at = project_access(request).project
    rows = Membership.objects.filter(project=at).select_related("user")
    page = page_of(rows, paging, key=("pk",), within=at.pk)
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@members.put("/projects/{project}/members/{username}", scopes=[Scope.ADMIN], role=Role.OWNER)
def set_member(request: ApiRequest, project: str, username: str, body: MemberIn) -> MemberOut:
    """Add a person who has an account, or change a member's role. The last owner stays owner."""
    access = project_access(request)
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise ProblemError(422, "no_such_user", f"There is no user {username!r} here.")
    return _describe(services.set_role(project=access.project, user=user, role=body.role, actor=access.user))


@members.delete("/projects/{project}/members/{username}", scopes=[Scope.ADMIN], role=Role.OWNER)
def remove_member(request: ApiRequest, project: str, username: str) -> None:
    """Remove a member. The last owner stays."""
    access = project_access(request)
    rows = Membership.objects.select_related("user")
    row = rows.filter(project=access.project, user__username=username).first()
    if row is None:
        raise Http404("There is no such member.")
    services.remove_member(project=access.project, user=row.user, actor=access.user)


def _describe(row: Membership) -> MemberOut:
    return MemberOut(username=row.user.get_username(), role=row.role)
