"""Projects: the list and settings, their members, and where their money went."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Max, Min, OuterRef, QuerySet, Subquery
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.origin import Owner
from core.projects import services
from core.projects.models import Membership, Project
from core.projects.selectors import may_make_projects, projects_of
from crowd.api.access import StagePermission, stage_access
from crowd.models import Endpoint, LedgerEntry
from crowd.services import stages as closing
from web.api.access import ACCOUNT, MEMBER, ApiRequest, Caller, Role, project_access
from web.api.fields import Body, Cents, OneOf, RateCents, Slug, Time, Why
from web.api.owners import OwnerDoor, OwnerPlace
from web.api.pages import Page, PageRequest, page_of
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


class ProjectChanges(Body):
    """Fields to change; what is left out stays."""

    title: str | None = Field(None, min_length=1, max_length=200)
    language: str | None = Field(None, max_length=35, pattern=_TAG)
    licence: str | None = Field(None, max_length=80)
    wage_floor_cents: RateCents | None = None
    budget_cents: Cents | None = None


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


class ProjectState(Body):
    """Whether people can be asked for something new."""

    state: Literal["open", "closed"]
    why: Why = ""


@projects.put("/projects/{project}/state", scopes=[Scope.ADMIN], role=Role.OWNER)
def set_project_state(request: ApiRequest, project: str, body: ProjectState) -> ProjectOut:
    """Close a project whose stages are drafts or closed, or open it again; that opens no stage.

    In a closed one no stage can be made or opened. Reading, decisions, filters, releases and evaluations
    remain possible.
    """
    access = project_access(request)
    if (body.state == "closed") == (access.project.closed_at is not None):
        return _now(access.project, access.role)
    move = closing.close_project if body.state == "closed" else closing.reopen_project
    return _now(move(project=access.project, actor=access.user, why=body.why), access.role)


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

money = Resource("Money of stages", permission=StagePermission)


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
