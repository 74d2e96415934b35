"""Study links by the API: the addresses by which people from outside join."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any

from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.origin import Owner
from people import links as services
from people import selectors
from people.links import LinkPlan
from people.models import Outcome, StudyLink
from people.owners import columns_of, project_owner
from people.targets import all_choices
from people.visits import why_closed
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import MOST_ID, Body, Moment, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

links = Resource("Study links")
_LIST, _ONE = "/projects/{project}/study-links", "/projects/{project}/study-links/{link}"
Name = Annotated[str, Field(min_length=1, max_length=60)]
Names = Annotated[list[Name], Field(max_length=20)]
Compensation = Annotated[str, OneOf(StudyLink.Compensation)]
Quota = Annotated[int, Field(ge=1, le=1_000_000, description="People who may join.")]


MostTasks = Annotated[int, Field(ge=0, le=100_000, description="Per person; 0: as many as there are.")]
MostPerAddress = Annotated[
    int, Field(ge=0, le=1_000_000, description="People per network address; 0: no limit.")
]


class LinkTarget(BaseModel):
    """Something that a link can lead to."""

    target: str
    label: str


class LinkTargets(BaseModel):
    """All that links of a project can lead to."""

    items: list[LinkTarget]


class ReturnWay(Body):
    """How people leave: a completion code, and where their browser goes."""

    code: str = Field("", max_length=100)
    address: str = Field("", max_length=1000)


class LinkIn(Body):
    """A new link."""

    title: str = Field(min_length=1, max_length=200)
    target: str = Field(max_length=60, description="One of `list_link_targets`.")
    quota: Quota = 100
    expires_at: Moment | None = None
    languages: Names = Field(default_factory=list)
    code_word: str = Field("", max_length=100, description="Asked on the first page; empty: none.")
    granted: str = Field("", max_length=100)
    id_parameters: Names = Field(default_factory=list)
    id_required: bool = False
    kept_parameters: Names = Field(default_factory=list)
    secret: str = Field(
        "", max_length=200, pattern=r"^(.{16,})?$", description="Of signed addresses, from 16 characters on."
    )
    returns: dict[Annotated[str, OneOf(Outcome)], ReturnWay] = Field(default_factory=dict)
    returns_at_once: bool = False
    compensation: Compensation = StudyLink.Compensation.NOTHING.value
    most_tasks: MostTasks = 0
    most_per_address: MostPerAddress = 0


class LinkOut(BaseModel):
    """An address by which people join."""

    id: int
    title: str
    target: str
    leads_to: str
    address: str | None = Field(description="What people are given; null for viewers.")
    quota: int
    compensation: Compensation
    expires_at: Time | None
    languages: list[str] = Field(description="Of the consent text; empty: the owner's.")
    granted: str = Field(description="What joining grants; empty: nothing.")
    id_parameters: list[str] = Field(description="Parameters of the address that name the person.")
    returns: dict[str, Any] = Field(description="Code and address by outcome; empty for viewers.")
    returns_at_once: bool
    most_tasks: int = Field(description="Per person; 0: as many as there are.")
    most_per_address: int = Field(description="People per network address; 0: no limit.")
    made_at: Time
    closed_at: Time | None
    closed: str = Field(description="Why people cannot join now; empty: they can.")
    opened: int
    agreed: int
    done: int


class LinkChanges(Body):
    """Fields to change; what is left out stays. Where a link leads and what people get cannot change."""

    title: str | None = Field(None, min_length=1, max_length=200)
    quota: Quota | None = None
    expires_at: Moment | None = Field(None, description="null: people can join until it is closed.")
    returns: dict[Annotated[str, OneOf(Outcome)], ReturnWay] | None = Field(
        None, description="All ways back, by outcome, instead of those that were."
    )
    returns_at_once: bool | None = None
    most_tasks: MostTasks | None = None
    most_per_address: MostPerAddress | None = None


# What projects and requesters share; each has operations of its own.


def list_targets(owner: Owner) -> LinkTargets:
    """All that links of the owner can lead to."""
    return LinkTargets(items=[LinkTarget(target=key, label=label) for key, label in all_choices(owner)])


def list_page(owner: Owner, paging: PageRequest, *, manages: bool) -> Page[LinkOut]:
    """A page of the owner's links."""
    page = page_of(selectors.links_of(owner), paging, key=("pk",), within=owner.pk)
    labels = dict(all_choices(owner))
    return Page(items=[_describe(row, labels, manages=manages) for row in page.items], next=page.next)


def create(owner: Owner, plan: LinkPlan, user: User) -> LinkOut:
    """Make a link, and describe it."""
    return describe(services.make_link(owner=owner, plan=plan, actor=user), manages=True)


def plan_of(body: LinkIn) -> LinkPlan:
    """What a body asks for."""
    given = body.model_dump(mode="python")
    given["returns"] = {outcome: way.model_dump() for outcome, way in body.returns.items()}
    return LinkPlan(**given)


@transaction.atomic
def change(row: StudyLink, body: LinkChanges, user: User) -> LinkOut:
    """Change a link, and describe it."""
    # Locked, so that of two changes at once neither puts back what the other changed.
    row = StudyLink.objects.select_for_update(of=("self",)).select_related("project").get(pk=row.pk)
    given = body.model_dump(exclude_unset=True)
    given = {name: value for name, value in given.items() if value is not None or name == "expires_at"}
    now = {each.name: getattr(row, each.name) for each in fields(services.LinkChanges)}
    services.change_link(link=row, changes=services.LinkChanges(**now | given), actor=user)
    return describe(row, manages=True)


def find_link(owner: Owner, pk: int) -> StudyLink:
    """A link of the owner; Http404 where there is none."""
    rows = StudyLink.objects.select_related("project").filter(**columns_of(owner))
    row = rows.filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such link here.")
    return row


def describe(link: StudyLink, *, manages: bool) -> LinkOut:
    """A link as it is now, with how many people came."""
    row = selectors.links_of(link.owner).get(pk=link.pk)
    return _describe(row, dict(all_choices(link.owner)), manages=manages)


def _describe(row: Any, labels: Mapping[str, str], *, manages: bool) -> LinkOut:
    target = f"{row.target_kind}:{row.target_id}"
    return LinkOut(
        id=row.pk,
        title=row.title,
        target=target,
        leads_to=labels.get(target, ""),
        address=services.address_of(row) if manages else None,
        quota=row.quota,
        compensation=row.compensation,
        expires_at=row.expires_at,
        languages=row.languages,
        granted=row.granted,
        id_parameters=row.id_parameters,
        returns=row.returns if manages else {},
        returns_at_once=row.returns_at_once,
        most_tasks=row.most_tasks,
        most_per_address=row.most_per_address,
        made_at=row.made_at,
        closed_at=row.closed_at,
        closed=str(why_closed(row, people=row.people) or ""),
        opened=row.opened,
        agreed=row.agreed,
        done=row.done,
    )


# Operations of projects.


def _owner(request: ApiRequest) -> Owner:
    return project_owner(project_access(request).project)


def _manages(request: ApiRequest) -> bool:
    return project_access(request).manages


@links.get(f"{_LIST}/targets", scopes=[Scope.READ], role=Role.VIEWER)
def list_link_targets(request: ApiRequest, project: str) -> LinkTargets:
    """What links of the project can lead to: stages on study links, or the whole project."""
    return list_targets(_owner(request))


@links.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def list_study_links(request: ApiRequest, project: str, paging: Query[PageRequest]) -> Page[LinkOut]:
    """The study links of a project."""
    return list_page(_owner(request), paging, manages=_manages(request))


@links.post(_LIST, scopes=[Scope.COLLECT], role=Role.MANAGER, status=201)
def create_study_link(request: ApiRequest, project: str, body: LinkIn) -> LinkOut:
    """Make a link. The project gets its first consent text where it has none."""
    return create(_owner(request), plan_of(body), request.caller.user)


@links.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_study_link(request: ApiRequest, project: str, link: int) -> LinkOut:
    """One link, with how many people came."""
    return describe(find_link(_owner(request), link), manages=_manages(request))


@links.patch(_ONE, scopes=[Scope.COLLECT], role=Role.MANAGER)
def change_study_link(request: ApiRequest, project: str, link: int, body: LinkChanges) -> LinkOut:
    """Change what may change while people come. Those who have joined stay."""
    return change(find_link(_owner(request), link), body, request.caller.user)


@links.post(f"{_ONE}/close", scopes=[Scope.COLLECT], role=Role.MANAGER)
def close_study_link(request: ApiRequest, project: str, link: int) -> LinkOut:
    """Close a link: no one else joins. People who have begun can finish."""
    row = find_link(_owner(request), link)
    services.close_link(link=row, actor=request.caller.user)
    return describe(row, manages=_manages(request))


@links.post(f"{_ONE}/reopen", scopes=[Scope.COLLECT], role=Role.MANAGER)
def reopen_study_link(request: ApiRequest, project: str, link: int) -> LinkOut:
    """People may join again, under the same address."""
    row = find_link(_owner(request), link)
    services.reopen_link(link=row, actor=request.caller.user)
    return describe(row, manages=_manages(request))
