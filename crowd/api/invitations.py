"""Invitations to a project: links by which people become members."""

from typing import Annotated

from django.db.models import QuerySet
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.accounts import guards, memberships
from core.accounts.memberships import LONGEST_DAYS, MOST_USES, InvitationPlan
from core.accounts.models import MemberInvitation
from core.api.models import Scope
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import MOST_ID, Body, Email, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

invitations = Resource("Invitations")
_LIST = "/projects/{project}/invitations"
_KIND = "project"


class InvitationIn(Body):
    """A link for one or several people, or for one address, to which it is sent by mail."""

    role: Annotated[str, OneOf(Role)]
    email: Email | None = Field(None, description="null: the answer has the link, and you hand it on.")
    max_uses: int = Field(1, ge=1, le=MOST_USES, description="People who may accept it.")
    days: int = Field(7, ge=1, le=LONGEST_DAYS)


class InvitationOut(BaseModel):
    """An invitation, and who accepted it."""

    id: int
    role: str
    email: str = Field(description="Empty: for those with the link.")
    uses: int
    max_uses: int
    open: bool = Field(description="It can still be accepted.")
    made_at: Time
    made_by: str | None
    expires_at: Time
    revoked_at: Time | None
    accepted_by: list[str] = Field(description="User names.")


class NewInvitation(BaseModel):
    """The link, which no later answer has; where it was sent by mail, only its recipient has it."""

    link: str | None
    sent: bool


@invitations.get(_LIST, scopes=[Scope.READ], role=Role.OWNER)
def list_invitations(request: ApiRequest, project: str, paging: Query[PageRequest]) -> Page[InvitationOut]:
    """Invitations of the last half year, with who accepted them."""
    slug = project_access(request).project.slug
    page = page_of(memberships.invitations_to(_KIND, slug), paging, key=("pk",), within=slug)
    still_open = _open(slug)
    return Page(items=[_describe(row, still_open) for row in page.items], next=page.next)


@invitations.post(_LIST, scopes=[Scope.ADMIN], role=Role.OWNER, status=201, secret=True)
def create_invitation(request: ApiRequest, project: str, body: InvitationIn) -> NewInvitation:
    """Invite people to the project. The link works as long as the token's person owns it."""
    access = project_access(request)
    if body.email and (wait := guards.wait_for_letter(request, body.email)):
        words = f"Too many letters went out from here or to this address. Wait {wait} s."
        raise ProblemError(429, "too_many_requests", words, headers={"Retry-After": str(wait)})
    given = body.model_dump() | {"email": body.email or ""}
    link, sent = memberships.invite(
        kind=_KIND,
        target=access.project.slug,
        plan=InvitationPlan(**given),
        by=access.user,
        base=request.build_absolute_uri("/").rstrip("/"),
    )
    return NewInvitation(link=link or None, sent=sent)


@invitations.delete(f"{_LIST}/{{int:invitation}}", scopes=[Scope.ADMIN], role=Role.OWNER)
def revoke_invitation(request: ApiRequest, project: str, invitation: int) -> None:
    """End an invitation. Who accepted it keeps the role."""
    access = project_access(request)
    rows = memberships.invitations_to(_KIND, access.project.slug)
    if not 0 < invitation <= MOST_ID or not rows.filter(pk=invitation).exists():
        raise Http404("There is no such invitation to this project.")
    memberships.revoke(kind=_KIND, target=access.project.slug, pk=invitation, by=access.user)


def _open(slug: str) -> set[int]:
    rows: QuerySet[MemberInvitation] = memberships.open_invitations(_KIND, slug)
    return set(rows.values_list("pk", flat=True))


def _describe(row: MemberInvitation, still_open: set[int]) -> InvitationOut:
    return InvitationOut(
        id=row.pk,
        role=row.role,
        email=row.email,
        uses=row.uses,
        max_uses=row.max_uses,
        open=row.pk in still_open,
        made_at=row.made_at,
        made_by=row.made_by.get_username() if row.made_by else None,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        accepted_by=[each.user.get_username() for each in row.accepted.all()],
    )
