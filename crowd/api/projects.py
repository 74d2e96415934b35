"""Projects: the list, a new one, one of them and its settings."""

from typing import Any

from django.conf import settings
from django.db.models import Max, Min, OuterRef, QuerySet, Subquery
from ninja import Query
from pydantic import Field

from core.api.models import Scope
from core.composed_queries import ComposedQuery
from core.projects import services
from core.projects.models import Membership, Project
from core.projects.selectors import projects_of
from crowd.models import Endpoint
from crowd.services import projects as closing
from web.api.access import ACCOUNT, MEMBER, ApiRequest, Role, project_access
from web.api.fields import Body, Cents, RateCents, Slug, Time, Why
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource
from web.api.revisions import RevisedModel, seen_columns

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


# Asked with every look at one project; composing the sums of `described` took half of its time.
_ENDPOINTS = ComposedQuery(
    Endpoint, ["stages__project"], lambda project: Endpoint.objects.filter(stages__project=project)
)


def _describe_one(project: Any, role: str) -> ProjectOut:
    """A project that was just read."""
    used = {endpoint.currency for endpoint in _ENDPOINTS.all(project.pk)}
    project.least_currency, project.greatest_currency = min(used, default=None), max(used, default=None)
    return describe(project, role)


def _now(project: Project, role: str) -> ProjectOut:
    return _describe_one(Project.objects.get(pk=project.pk), role)


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


@projects.post("/projects/{project}/close", scopes=[Scope.ADMIN], role=Role.OWNER)
def close_project(request: ApiRequest, project: str, body: ProjectReason = _NO_REASON) -> ProjectOut:
    """Close a project whose stages are drafts or closed. No stage can be made or opened until it is reopened.

    Reading, decisions, filters, releases and evaluations go on.
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
