"""Operations of the API about people from outside: study links, their lists, texts that they agree to.

Texts have versions, of which one is in force; the installation has texts of its own, its terms and privacy.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404, StreamingHttpResponse
from ninja import Query
from pydantic import BaseModel, Field

from core.accounts import security
from core.api.models import Scope
from core.notices.letters import one_line
from core.origin import Owner
from people import links as services
from people import rosters as roster_services
from people import selectors
from people.consents import first_values, newest_text, save_text
from people.links import LinkPlan
from people.models import ConsentText, Outcome, RosterRow, StudyLink
from people.owners import all_choices, choice_labels, columns_of, kind_of, project_owner
from people.selectors import roster_lines, visit_facts
from people.visits import why_closed
from web.api.access import ACCOUNT, STAFF, ApiRequest, Role, project_access
from web.api.bodies import lines_of, stream_lines
from web.api.fields import MOST_ID, Body, Email, Moment, OneOf, Time
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
    return LinkTargets(items=[LinkTarget(target=key, label=label) for key, label in choice_labels(owner)])


def list_page(owner: Owner, paging: PageRequest, *, manages: bool) -> Page[LinkOut]:
    """A page of the owner's links."""
    page = page_of(selectors.links_of(owner), paging, key=("pk",), within=owner.pk)
    targets = _targets(owner)
    return Page(items=[_describe(row, targets, manages=manages) for row in page.items], next=page.next)


def create(owner: Owner, plan: LinkPlan, user: User) -> LinkOut:
    """Make a link, and describe it."""
    return describe(services.make_link(owner=owner, plan=plan, actor=user), manages=True)


def plan_of(body: LinkIn) -> LinkPlan:
    """What a body asks for."""
    plan_fields = body.model_dump(mode="python")
    plan_fields["returns"] = {outcome: way.model_dump() for outcome, way in body.returns.items()}
    return LinkPlan(**plan_fields)


@transaction.atomic
def change(row: StudyLink, body: LinkChanges, user: User) -> LinkOut:
    """Change a link, and describe it."""
    # Locked, so that of two changes at once neither puts back what the other changed.
    row = StudyLink.objects.select_for_update(of=("self",)).select_related("project").get(pk=row.pk)
    changed_fields = body.model_dump(exclude_unset=True)
    changed_fields = {
        name: value for name, value in changed_fields.items() if value is not None or name == "expires_at"
    }
    now = {each.name: getattr(row, each.name) for each in fields(services.LinkChanges)}
    services.change_link(link=row, changes=services.LinkChanges(**now | changed_fields), actor=user)
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
    return _describe(row, _targets(link.owner), manages=manages)


def _targets(owner: Owner) -> dict[tuple[str, int], tuple[str, str]]:
    """Names and words of what links can lead to, by kind and key of the row."""
    return {(kind, pk): (key, label) for key, (kind, pk, label) in all_choices(owner).items()}


def _describe(row: Any, targets: Mapping[tuple[str, int], tuple[str, str]], *, manages: bool) -> LinkOut:
    target, leads_to = targets.get((row.target_kind, row.target_id), (f"{row.target_kind}:", ""))
    return LinkOut(
        id=row.pk,
        title=row.title,
        target=target,
        leads_to=leads_to,
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


# Texts

texts = Resource("Consent texts")
_TEXTS = "/projects/{project}/consent-texts"
_OWN = "/installation/texts"
Language = Annotated[
    str,
    Field(max_length=35, pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", description="BCP 47 tag."),
]
Markdown = Annotated[
    str, Field(min_length=1, max_length=50_000, pattern=r"\S", description="Markdown, without HTML.")
]
Paragraph = Annotated[str, Field(max_length=5_000)]


class TextFilter(BaseModel):
    """Which versions."""

    language: str = Field("", max_length=35, description="BCP 47 tag; empty: all.")
    in_force: bool | None = Field(None, description="true: of each language the newest one alone.")


class ConsentTextIn(Body):
    """A new version. Except for `body`, what is left out stays as in the version before."""

    language: Language | None = Field(None, description="null: the language of the project, or English.")
    body: Markdown = Field(examples=["You are invited to take part in a research study. …"])
    what_is_kept: Paragraph | None = None
    right_to_withdraw: Paragraph | None = None
    protocol_number: str | None = Field(None, max_length=100, description="Of the ethics committee.")
    contact: str | None = Field(None, max_length=300)
    minimum_age: int | None = Field(None, ge=0, le=120)


class ConsentTextOut(BaseModel):
    """One version. It never changes: who agreed to it can be shown what they read."""

    id: int
    language: str
    version: int = Field(description="Within its language.")
    in_force: bool = Field(description="It is what people who come now read in this language.")
    body: str = Field(description="Markdown.")
    what_is_kept: str
    right_to_withdraw: str
    protocol_number: str
    contact: str
    minimum_age: int
    made_at: Time
    made_by: str | None = Field(description="User name; null: the system, with the first link.")
    agreed: int = Field(description="Visits whose person agreed to this version.")


class OwnTextFilter(BaseModel):
    """Which texts of the installation."""

    kind: Literal["terms", "privacy"] | None = None
    in_force: bool | None = Field(None, description="true: the newest of each kind alone.")


class OwnTextIn(Body):
    """A new version of the terms or of the text about privacy."""

    kind: Literal["terms", "privacy"]
    body: Markdown


class OwnTextOut(BaseModel):
    """A version of a text that everyone can read, such as below the consent of a study."""

    id: int
    kind: Literal["terms", "privacy"]
    version: int
    in_force: bool
    body: str = Field(description="Markdown.")
    made_at: Time
    made_by: str | None


# What projects and requesters share; each has operations of its own.


def list_text_page(owner: Owner, paging: PageRequest, which: TextFilter) -> Page[ConsentTextOut]:
    """Versions of an owner's consent texts."""
    rows = _texts(owner)
    if which.language:
        rows = rows.filter(language__iexact=which.language)
    rows = _in_force(rows, which.in_force)
    page = page_of(rows, paging, key=("pk",), within=(owner.kind, owner.pk, which.model_dump_json()))
    return Page(items=[_describe_text(row) for row in page.items], next=page.next)


def find_text(owner: Owner, pk: int) -> ConsentTextOut:
    """One version; Http404 where the owner has none of this id."""
    row = _texts(owner).filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such version of a consent text here.")
    return _describe_text(row)


def publish(owner: Owner, body: ConsentTextIn, user: User) -> ConsentTextOut:
    """Save a version, which is in force from now on."""
    # Locked, so that of two versions at once the second keeps what the first changed.
    kind_of(owner).lock(owner.pk)
    language_tag = body.language or kind_of(owner).language(owner.pk)
    before = _texts(owner).filter(language__iexact=language_tag).order_by("-version").first()
    language, before = (before.language, before) if before else (language_tag, newest_text(owner))
    values = first_values() | {"protocol_number": "", "contact": ""}
    if before is not None:
        values = {name: getattr(before, name) for name in values}
    changed_values = body.model_dump(exclude={"language"}, exclude_none=True)
    saved = save_text(owner=owner, values=values | changed_values, actor=user, language=language)
    return find_text(owner, saved.pk)


def _texts(owner: Owner) -> QuerySet[ConsentText]:
    return _with_newer(owner, ConsentText.Kind.CONSENT)


def _with_newer(owner: Owner | None, *kinds: str) -> QuerySet[ConsentText]:
    """An owner's texts; `newer` says whether there is a later version, and `agreed` how many agreed."""
    rows = ConsentText.objects.filter(**columns_of(owner), kind__in=kinds).select_related("made_by")
    same = {"kind": OuterRef("kind"), "language": OuterRef("language")}
    later = ConsentText.objects.filter(**columns_of(owner), **same, version__gt=OuterRef("version"))
    agreed = Count("visits", filter=Q(visits__consented_at__isnull=False))
    return rows.annotate(newer=Exists(later), agreed=agreed)


def _in_force(rows: QuerySet[Any], is_in_force: bool | None) -> QuerySet[Any]:
    return rows if is_in_force is None else rows.filter(newer=not is_in_force)


def _describe_text(row: Any) -> ConsentTextOut:
    same = {name: getattr(row, name) for name in ConsentTextOut.model_fields if name not in _OTHERS}
    return ConsentTextOut(**same, in_force=not row.newer, made_by=_name(row.made_by))


_OTHERS = ("in_force", "made_by")


def _name(user: User | None) -> str | None:
    return user.get_username() if user else None


# Operations of projects.


@texts.get(_TEXTS, scopes=[Scope.READ], role=Role.VIEWER)
def list_consent_texts(
    request: ApiRequest, project: str, paging: Query[PageRequest], which: Query[TextFilter]
) -> Page[ConsentTextOut]:
    """Versions of the texts that people agree to before they join by a link or panel."""
    return list_text_page(_owner(request), paging, which)


@texts.post(_TEXTS, scopes=[Scope.COLLECT], role=Role.MANAGER, status=201)
def publish_consent_text(request: ApiRequest, project: str, body: ConsentTextIn) -> ConsentTextOut:
    """Publish a version for people who join from now on. What others agreed to stays.

    Where nothing differs from the newest version, no new one is made, and that one is the answer.
    """
    return publish(_owner(request), body, request.caller.user)


@texts.get(f"{_TEXTS}/{{int:text}}", scopes=[Scope.READ], role=Role.VIEWER)
def get_consent_text(request: ApiRequest, project: str, text: int) -> ConsentTextOut:
    """One version of a consent text."""
    return find_text(_owner(request), text)


# Operations of the installation.

_KINDS = (ConsentText.Kind.TERMS, ConsentText.Kind.PRIVACY)


@texts.get(_OWN, scopes=[Scope.READ], role=ACCOUNT)
def list_installation_texts(
    request: ApiRequest, paging: Query[PageRequest], which: Query[OwnTextFilter]
) -> Page[OwnTextOut]:
    """Terms and privacy of the installation, in versions."""
    rows = _in_force(_with_newer(None, *([which.kind] if which.kind else _KINDS)), which.in_force)
    page = page_of(rows, paging, key=("pk",), within=which.model_dump_json())
    return Page(items=[_describe_own(row) for row in page.items], next=page.next)


@texts.post(_OWN, scopes=[Scope.ADMIN], role=STAFF, status=201)
def publish_installation_text(request: ApiRequest, body: OwnTextIn) -> OwnTextOut:
    """Publish a version of the terms or of the text about privacy; for staff."""
    saved = save_text(owner=None, values={"body": body.body}, actor=request.caller.user, kind=body.kind)
    security.log("text.changed", subject=str(saved))
    return _describe_own(_with_newer(None, *_KINDS).get(pk=saved.pk))


def _describe_own(row: Any) -> OwnTextOut:
    same = {name: getattr(row, name) for name in OwnTextOut.model_fields if name not in _OTHERS}
    return OwnTextOut(**same, in_force=not row.newer, made_by=_name(row.made_by))


# Lists of links, such as a class

rosters = Resource("Lists of study links")
_ROSTER = "/projects/{project}/study-links/{int:link}"
_MOST = 1_000


class RosterPerson(Body):
    """A person to put on the list."""

    name: str = Field("", max_length=200)
    email: Email


class RosterIn(Body):
    """People to put on the list; those on it already stay as they are."""

    people: list[RosterPerson] = Field(
        min_length=1, max_length=_MOST, examples=[[{"name": "Ada", "email": "ada@example.org"}]]
    )


class RosterAdded(BaseModel):
    """How many are new."""

    added: int
    known: int = Field(description="On the list already.")
    repeated: int = Field(description="Named before in the same request, by the same address.")


class RosterMail(Body):
    """Personal links for those who have none yet, or reminders for those who have finished nothing."""

    what: Literal["invitations", "reminders"]


class RosterMailPlan(BaseModel):
    """What is being sent, by a job."""

    words: str


class RosterPersonOut(BaseModel):
    """A person of the list, and how far they are."""

    id: int
    name: str
    email: str
    done: int = Field(description="Tasks that they finished.")
    invited_at: Time | None
    reminded_at: Time | None
    address: str = Field(description="Their personal link, to be sent without this installation's mail.")


class VisitLine(BaseModel):
    """One opening of a link, as its CSV has it; times are empty where the person did not get so far."""

    worker: str = Field(description="What the person is called here; empty before they agreed.")
    identity_kind: str
    identity: str
    session: str
    consent_text_version: int | str
    consent_text_language: str
    consented_at: str
    opened_at: str
    first_task_at: str
    ended_at: str
    outcome: str
    code: str
    tasks_finished: int
    signature_checked: str = Field(description="yes or no.")
    people_at_same_address: int
    withdrawn_at: str


# What projects and requesters share; each has operations of its own.


def list_people(link: StudyLink, paging: PageRequest) -> Page[RosterPersonOut]:
    """People of the list of a link."""
    rows = RosterRow.objects.filter(link=link).select_related("guest")
    page = page_of(rows, paging, key=("pk",), within=link.pk)
    items = [
        RosterPersonOut(
            id=line.row.pk,
            name=line.row.name,
            email=line.email,
            done=line.done,
            invited_at=line.row.invited_at,
            reminded_at=line.row.reminded_at,
            address=roster_services.personal_address(link, line.row),
        )
        for line in roster_lines(link, page.items)
    ]
    return Page(items=items, next=page.next)


def add_people(link: StudyLink, body: RosterIn, request: ApiRequest) -> RosterAdded:
    """Put people on the list."""
    people: dict[str, tuple[str, str]] = {}
    for person in body.people:
        people.setdefault(person.email.casefold(), (one_line(person.name), person.email))
    added = roster_services.add_people(link=link, people=list(people.values()), actor=request.caller.user)
    return RosterAdded(added=added, known=len(people) - added, repeated=len(body.people) - len(people))


def mail_people(link: StudyLink, body: RosterMail, request: ApiRequest) -> RosterMailPlan:
    """Plan letters."""
    is_reminder = body.what == "reminders"
    sentence = roster_services.plan_mail(link=link, reminder=is_reminder, actor=request.caller.user)
    return RosterMailPlan(words=sentence)


def export_lines(link: StudyLink) -> StreamingHttpResponse:
    """Every visit, one per line."""
    return stream_lines(iter(visit_facts(link)))


# Operations of projects.


def _link(request: ApiRequest, pk: int) -> StudyLink:
    owner: Owner = project_owner(project_access(request).project)
    return find_link(owner, pk)


@rosters.get(f"{_ROSTER}/people", scopes=[Scope.READ], role=Role.MANAGER)
def list_roster(
    request: ApiRequest, project: str, link: int, paging: Query[PageRequest]
) -> Page[RosterPersonOut]:
    """People of the list of a link, such as a class, with their personal links and what they finished."""
    return list_people(_link(request, link), paging)


@rosters.post(f"{_ROSTER}/people", scopes=[Scope.COLLECT], role=Role.MANAGER)
def add_to_roster(request: ApiRequest, project: str, link: int, body: RosterIn) -> RosterAdded:
    """Put people on the list of a link. This sends nothing."""
    return add_people(_link(request, link), body, request)


@rosters.post(f"{_ROSTER}/people/mail", scopes=[Scope.COLLECT], role=Role.MANAGER)
def mail_roster(request: ApiRequest, project: str, link: int, body: RosterMail) -> RosterMailPlan:
    """Send personal links to all without one, or remind those who finished nothing, at most once a day."""
    return mail_people(_link(request, link), body, request)


@rosters.get(f"{_ROSTER}/visits.jsonl", scopes=[Scope.READ], role=Role.MANAGER, content=lines_of(VisitLine))
def export_visits(request: ApiRequest, project: str, link: int) -> StreamingHttpResponse:
    """Every visit of a link: to which text its person agreed, how far they came, and their code."""
    return export_lines(_link(request, link))


RESOURCES = (links, rosters, texts)
