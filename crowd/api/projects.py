"""Projects: the list and settings, their members, invitations to them, and where their money is."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Max, Min, OuterRef, QuerySet, Subquery
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.accounts import guards, memberships
from core.accounts.memberships import LONGEST_DAYS, MOST_USES, InvitationPlan
from core.accounts.models import MemberInvitation
from core.api.models import Scope
from core.origin import Owner
from core.projects import services
from core.projects.models import Membership, Project
from core.projects.selectors import may_make_projects, projects_of
from crowd.api.access import StagePermission, stage_access
from crowd.models import Endpoint, LedgerEntry
from crowd.selectors.stage_status import allotted_cents
from crowd.services import copies
from crowd.services import stages as closing
from web.api.access import ACCOUNT, MEMBER, ApiRequest, Caller, Role, project_access
from web.api.fields import MOST_ID, Body, Cents, Email, OneOf, RateCents, Slug, Time, Why
from web.api.owners import OwnerDoor, OwnerPlace
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource, RevisedModel, seen_columns

projects = Resource("Projects")
#: What If-Match protects.
_COLUMNS = ("title", "language", "licence", "wage_floor_cents", "budget_cents")
_TAG = r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"


class ProjectOut(RevisedModel):
    """One campaign."""

    slug: str
    title: str
    language: str = Field(description="BCP 47 tag.")
    licence: str = Field(description="Of what will be published; empty: none was named.")
    currency: str | None = Field(description="Of its money; null: its stages pay in several.")
    wage_floor_cents: int
    budget_cents: int
    reserved_cents: int
    spent_cents: int
    read_only: bool = Field(description="Its data come from elsewhere; nothing is collected or changed.")
    role: str = Field(description="What the token's person is in it.")
    created_at: Time
    closed_at: Time | None = Field(description="Since then nothing new is asked of people; null: not closed.")


class ProjectIn(Body):
    """A new project; the token's person owns it."""

    slug: Slug
    title: str = Field(min_length=1, max_length=200)
    language: str = Field("en", max_length=35, pattern=_TAG)
    licence: str = Field("", max_length=80)
    wage_floor_cents: RateCents = 1000
    budget_cents: Cents = 0


class ProjectReason(Body):
    """Why, for the log of events."""

    why: Why = ""


_NO_REASON = ProjectReason()


class ProjectChanges(Body):
    """Fields to change; what is left out stays."""

    title: str | None = Field(None, min_length=1, max_length=200)
    language: str | None = Field(None, max_length=35, pattern=_TAG)
    licence: str | None = Field(None, max_length=80)
    wage_floor_cents: RateCents | None = None
    budget_cents: Cents | None = None


def currency_of(project: Project) -> str | None:
    """What the stages of a project pay in; None where that is several, and ours where there is no stage."""
    used = set(Endpoint.objects.filter(stages__project=project).values_list("currency", flat=True))
    return None if len(used) > 1 else next(iter(used), settings.MARKETPLACE_CURRENCY)


def describe(project: Any, role: str) -> ProjectOut:
    """A project of `described`, as JSON."""
    several = project.least_currency != project.greatest_currency
    return ProjectOut(
        slug=project.slug,
        title=project.title,
        language=project.language,
        licence=project.licence,
        currency=None if several else project.least_currency or settings.MARKETPLACE_CURRENCY,
        wage_floor_cents=project.wage_floor_cents,
        budget_cents=project.budget_cents,
        reserved_cents=project.reserved_cents,
        spent_cents=project.spent_cents,
        read_only=project.read_only,
        role=role,
        created_at=project.created_at,
        closed_at=project.closed_at,
    ).marked(project, _COLUMNS)


def described(rows: QuerySet[Project]) -> QuerySet[Project]:
    """With what `describe` needs."""
    return rows.annotate(
        least_currency=Min("stages__endpoint__currency"), greatest_currency=Max("stages__endpoint__currency")
    )


def _describe_one(project: Any, role: str) -> ProjectOut:
    """A project that was just read."""
    used = {endpoint.currency for endpoint in Endpoint.objects.filter(stages__project=project)}
    project.least_currency, project.greatest_currency = min(used, default=None), max(used, default=None)
    return describe(project, role)


def _now(project: Project, role: str) -> ProjectOut:
    return _describe_one(Project.objects.get(pk=project.pk), role)


me = Resource("The caller")


class CallerOut(BaseModel):
    """Whose token it is, and what it may do."""

    username: str
    staff: bool = Field(description="May administrate the installation.")
    makes_projects: bool
    token: str = Field(description="What the token is for.")
    scopes: list[Annotated[str, OneOf(Scope)]]
    project: str | None = Field(description="The only project that it opens; null: all of its person's.")
    expires_at: Time | None


@me.get("/me", scopes=[Scope.READ], role=ACCOUNT)
def get_caller(request: ApiRequest) -> CallerOut:
    """Whose token it is, what it may do, and until when."""
    user, token = request.caller.user, request.caller.token
    return CallerOut(
        username=user.get_username(),
        staff=user.is_staff,
        makes_projects=may_make_projects(user),
        token=token.name,
        scopes=token.scopes,
        project=token.project.slug if token.project else None,
        expires_at=token.expires_at,
    )


@projects.get("/projects", scopes=[Scope.READ], role=ACCOUNT)
def list_projects(request: ApiRequest, paging: Query[PageRequest]) -> Page[ProjectOut]:
    """The projects of the token's person; of a token bound to a project, that one."""
    caller = request.caller
    rows = projects_of(caller.user)
    if caller.token.project_id is not None:
        rows = rows.filter(pk=caller.token.project_id)
    own = Membership.objects.filter(project=OuterRef("pk"), user=caller.user).values("role")
    page = page_of(described(rows).annotate(own_role=Subquery(own)), paging, within=caller.user.pk)
    items = [describe(row, _role(row, request)) for row in page.items]
    return Page(items=items, next=page.next)


def _role(row: Any, request: ApiRequest) -> str:
    return str(Role.OWNER) if request.caller.user.is_superuser else str(row.own_role)


@projects.post("/projects", scopes=[Scope.ADMIN], role=MEMBER, status=201)
def create_project(request: ApiRequest, body: ProjectIn) -> ProjectOut:
    """Make a project. Nothing is published before one of its stages is opened."""
    user = request.caller.user
    project = services.create_project(**body.model_dump(), owner=user, actor=user)
    return _now(project, Role.OWNER)


class CopyIn(Body):
    """The names of a copy."""

    slug: Slug
    title: str = Field(min_length=1, max_length=200)


@projects.post("/projects/{project}/copies", scopes=[Scope.ADMIN], role=Role.MANAGER, status=201)
def copy_project(request: ApiRequest, project: str, body: CopyIn) -> ProjectOut:
    """Copy a project with drafts of all stages; queries, answers and members are not copied."""
    if request.caller.token.project_id is not None:
        raise ProblemError(403, "token_bound", "This token opens one project only; a copy is another.")
    access = project_access(request)
    project_copy = copies.copy_project(project=access.project, owner=access.user, **body.model_dump())
    return _now(project_copy, Role.OWNER)


@projects.get("/projects/{project}", scopes=[Scope.READ], role=Role.VIEWER)
def get_project(request: ApiRequest, project: str) -> ProjectOut:
    """One project, with its budget; the ETag is for changing it."""
    access = project_access(request)
    return _describe_one(access.project, access.role)


@projects.patch("/projects/{project}", scopes=[Scope.ADMIN], role=Role.OWNER, revised=True)
def change_project(request: ApiRequest, project: str, body: ProjectChanges) -> ProjectOut:
    """Change settings and budget of a project, all of them or none."""
    access = project_access(request)
    row = access.project
    changes = {
        name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None
    }
    services.edit_project(
        project=row,
        budget_cents=changes.pop("budget_cents", row.budget_cents),
        changes=changes,
        seen=seen_columns(request, _COLUMNS),
        actor=access.user,
    )
    return _now(row, access.role)


@projects.post("/projects/{project}/close", scopes=[Scope.ADMIN], role=Role.OWNER)
def close_project(request: ApiRequest, project: str, body: ProjectReason = _NO_REASON) -> ProjectOut:
    """Close a project whose stages are drafts or closed. No stage can be made or opened until it is reopened.

    Reading, decisions, filters, releases and evaluations remain possible.
    """
    access = project_access(request)
    row = closing.close_project(project=access.project, actor=access.user, why=body.why)
    return _now(row, access.role)


@projects.post("/projects/{project}/reopen", scopes=[Scope.ADMIN], role=Role.OWNER)
def reopen_project(request: ApiRequest, project: str, body: ProjectReason = _NO_REASON) -> ProjectOut:
    """Let stages be made and opened again. No stage is opened by this."""
    access = project_access(request)
    row = closing.reopen_project(project=access.project, actor=access.user, why=body.why)
    return _now(row, access.role)


class ProjectDoor(OwnerDoor):
    """Projects as owners of webhooks, study links and the like."""

    part = "project"
    roles: ClassVar[Mapping[str, str]] = {role: role for role in Role.values}
    member_roles = tuple(Role.values)

    def place(self, caller: Caller) -> OwnerPlace:
        """The project of the caller."""
        assert caller.access is not None, "the address names no project"
        owner = Owner(Owner.Kind.PROJECT, caller.access.project.pk)
        return OwnerPlace(owner, caller.access.manages, self)

    def members(self, owner: Owner) -> QuerySet[Membership]:
        """People with a role."""
        return Membership.objects.filter(project=owner.pk)

    def set_role(self, owner: Owner, *, user: User, role: str, by: User) -> Membership:
        """Add a person, or change their role."""
        return services.set_role(project=Project.objects.get(pk=owner.pk), user=user, role=role, actor=by)

    def remove_member(self, owner: Owner, *, user: User, by: User) -> None:
        """Take a person's role away."""
        services.remove_member(project=Project.objects.get(pk=owner.pk), user=user, actor=by)


# Money

money = Resource("Budget", permission=StagePermission)


class BudgetOut(BaseModel):
    """The money of a project. It is never passed."""

    currency: str | None = Field(description="Null: its stages pay in several.")
    budget_cents: int
    reserved_cents: int
    spent_cents: int
    left_cents: int
    allotted_cents: int = Field(description="The budgets of its stages together.")
    wage_floor_cents: int


class MovementOut(BaseModel):
    """One movement of a stage's budget; it is never changed."""

    id: int
    kind: Annotated[str, OneOf(LedgerEntry.Kind)]
    cents: int = Field(description="Rewards or bonuses.")
    fee_cents: int
    currency: str
    reason: str
    hit: int | None
    assignment: int | None
    at: Time


@money.get("/projects/{project}/budget", scopes=[Scope.READ], role=Role.VIEWER)
def get_budget(request: ApiRequest, project: str) -> BudgetOut:
    """What a project may spend, has reserved and has spent."""
    row = project_access(request).project
    return BudgetOut(
        currency=currency_of(row),
        budget_cents=row.budget_cents,
        reserved_cents=row.reserved_cents,
        spent_cents=row.spent_cents,
        left_cents=row.budget_cents - row.reserved_cents - row.spent_cents,
        allotted_cents=allotted_cents(row),
        wage_floor_cents=row.wage_floor_cents,
    )


@money.get("/projects/{project}/stages/{stage}/ledger", scopes=[Scope.READ], role=Role.VIEWER)
def list_movements(
    request: ApiRequest, project: str, stage: str, paging: Query[PageRequest]
) -> Page[MovementOut]:
    """Every cent of a stage: reserved, given back, or spent."""
    row = stage_access(request).stage
    rows = LedgerEntry.objects.filter(stage=row).select_related("hit")
    page = page_of(rows, paging, key=("pk",), within=row.pk)
    items = [
        MovementOut(
            id=each.pk,
            kind=each.kind,
            cents=each.cents,
            fee_cents=each.fee_cents,
            currency=row.endpoint.currency,
            reason=each.reason,
            hit=each.hit.ordinal if each.hit else None,
            assignment=each.assignment_id,
            at=each.at,
        )
        for each in page.items
    ]
    return Page(items=items, next=page.next)


# Invitations

invitations = Resource("Invitations")
_INVITATIONS = "/projects/{project}/invitations"
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


@invitations.get(_INVITATIONS, scopes=[Scope.READ], role=Role.OWNER)
def list_invitations(request: ApiRequest, project: str, paging: Query[PageRequest]) -> Page[InvitationOut]:
    """Invitations of the last half year, with who accepted them."""
    slug = project_access(request).project.slug
    page = page_of(memberships.invitations_to(_KIND, slug), paging, key=("pk",), within=slug)
    still_open = _open(slug)
    return Page(items=[_describe_invitation(row, still_open) for row in page.items], next=page.next)


@invitations.post(_INVITATIONS, scopes=[Scope.ADMIN], role=Role.OWNER, status=201, secret=True)
def create_invitation(request: ApiRequest, project: str, body: InvitationIn) -> NewInvitation:
    """Invite people to the project. The link works as long as the token's person owns it."""
    access = project_access(request)
    if body.email and (wait := guards.wait_for_letter(request, body.email)):
        sentence = f"Too many letters went out from here or to this address. Wait {wait} s."
        raise ProblemError(429, "too_many_requests", sentence, headers={"Retry-After": str(wait)})
    fields = body.model_dump() | {"email": body.email or ""}
    link, sent = memberships.invite(
        kind=_KIND,
        target=access.project.slug,
        plan=InvitationPlan(**fields),
        by=access.user,
        base=request.build_absolute_uri("/").rstrip("/"),
    )
    return NewInvitation(link=link or None, sent=sent)


@invitations.delete(f"{_INVITATIONS}/{{int:invitation}}", scopes=[Scope.ADMIN], role=Role.OWNER)
def revoke_invitation(request: ApiRequest, project: str, invitation: int) -> None:
    """Revoke an invitation. People who accepted it keep their role."""
    access = project_access(request)
    rows = memberships.invitations_to(_KIND, access.project.slug)
    if not 0 < invitation <= MOST_ID or not rows.filter(pk=invitation).exists():
        raise Http404("There is no such invitation to this project.")
    memberships.revoke(kind=_KIND, target=access.project.slug, pk=invitation, by=access.user)


def _open(slug: str) -> set[int]:
    rows: QuerySet[MemberInvitation] = memberships.open_invitations(_KIND, slug)
    return set(rows.values_list("pk", flat=True))


def _describe_invitation(row: MemberInvitation, still_open: set[int]) -> InvitationOut:
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
