"""Operations of the API about people from outside: study links, their lists, texts that they agree to."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404, StreamingHttpResponse
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.notices.letters import one_line
from core.origin import Owner
from people import links as services
from people import rosters as roster_services
from people import selectors
from people.consents import first_values, newest_text, save_text
from people.links import LinkPlan
from people.models import ConsentText, Outcome, RosterRow, StudyLink
from people.owners import all_choices, choice_labels, columns_of, kind_of
from people.selectors import roster_lines, visit_facts
from people.visits import why_closed
from web.api.access import ApiRequest, Role
from web.api.bodies import lines_of, stream_lines
from web.api.fields import MOST_ID, Body, Email, Moment, OneOf, Time
from web.api.owners import OWNER, AtOwner, OwnerPermission, owner_place
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

links = Resource("Study links", permission=OwnerPermission)
_LIST, _ONE = f"{OWNER}/study-links", f"{OWNER}/study-links/{{int:link}}"
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
    granted: str = Field(
        "", max_length=100, description="A group; of a requester the id of a qualification type."
    )
    granted_value: int | None = Field(
        None, ge=-(2**31), lt=2**31, description="At a requester: of what is granted; 1 if none."
    )
    id_parameters: Names = Field(default_factory=list)
    id_source: str = Field(
        "",
        max_length=40,
        pattern=r"^[A-Za-z0-9_.-]*$",
        description="At a requester: panel or workspace whose ids they are.",
    )
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
    closed: bool | None = Field(
        None,
        description="true: no one else joins, and people who have begun can finish; false: they join again.",
    )


@links.get(f"{_LIST}/targets", scopes=[Scope.READ], role=Role.VIEWER)
def list_link_targets(request: ApiRequest, of: AtOwner) -> LinkTargets:
    """What links can lead to: stages on study links or the whole project, batches or all open HITs."""
    labels = choice_labels(owner_place(request).owner)
    return LinkTargets(items=[LinkTarget(target=key, label=label) for key, label in labels])


@links.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def list_study_links(request: ApiRequest, of: AtOwner, paging: Query[PageRequest]) -> Page[LinkOut]:
    """The study links of a project or requester."""
    place = owner_place(request)
    page = page_of(
        selectors.links_of(place.owner), paging, key=("pk",), within=(place.owner.kind, place.owner.pk)
    )
    targets = _targets(place.owner)
    items = [_describe(row, targets, manages=place.manages) for row in page.items]
    return Page(items=items, next=page.next)


@links.post(_LIST, scopes=[Scope.COLLECT], role=Role.MANAGER, status=201)
def create_study_link(request: ApiRequest, of: AtOwner, body: LinkIn) -> LinkOut:
    """Make a link. Its owner gets its first consent text where it has none."""
    at = owner_place(request).owner
    if at.kind == Owner.Kind.PROJECT and (body.granted_value is not None or body.id_source):
        field = "id_source" if body.id_source else "granted_value"
        raise ProblemError(
            422, "invalid", f"{field}: only links of requesters have it.", errors={field: ["Leave it out."]}
        )
    plan_fields = body.model_dump(mode="python")
    plan_fields["returns"] = {outcome: way.model_dump() for outcome, way in body.returns.items()}
    link = services.make_link(owner=at, plan=LinkPlan(**plan_fields), actor=request.caller.user)
    return _link_now(request, link.pk)


@links.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_study_link(request: ApiRequest, of: AtOwner, link: int) -> LinkOut:
    """One link, with how many people came."""
    return _link_now(request, link)


@links.patch(_ONE, scopes=[Scope.COLLECT], role=Role.MANAGER)
@transaction.atomic
def change_study_link(request: ApiRequest, of: AtOwner, link: int, body: LinkChanges) -> LinkOut:
    """Change what may change while people come, close a link, or open it again under the same address.

    Those who have joined stay.
    """
    user = request.caller.user
    # Locked, so that of two changes at once neither puts back what the other changed.
    rows = StudyLink.objects.select_for_update(of=("self",)).select_related("project")
    row = rows.get(pk=_link(request, link).pk)
    changed_fields = {
        name: value
        for name, value in body.model_dump(exclude_unset=True, exclude={"closed"}).items()
        if value is not None or name == "expires_at"
    }
    if changed_fields:
        now = {each.name: getattr(row, each.name) for each in fields(services.LinkChanges)}
        services.change_link(link=row, changes=services.LinkChanges(**now | changed_fields), actor=user)
    if body.closed is not None:
        (services.close_link if body.closed else services.reopen_link)(link=row, actor=user)
    return _link_now(request, link)


def _link(request: ApiRequest, pk: int) -> StudyLink:
    """A link of the owner; Http404 where there is none."""
    rows = StudyLink.objects.select_related("project").filter(**columns_of(owner_place(request).owner))
    row = rows.filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such link here.")
    return row


def _link_now(request: ApiRequest, pk: int) -> LinkOut:
    """A link as it is now, with how many people came."""
    place, link = owner_place(request), _link(request, pk)
    row = selectors.links_of(place.owner).get(pk=link.pk)
    return _describe(row, _targets(place.owner), manages=place.manages)


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


# Texts

texts = Resource("Consent texts", permission=OwnerPermission)
_TEXTS = f"{OWNER}/consent-texts"
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


@texts.get(_TEXTS, scopes=[Scope.READ], role=Role.VIEWER)
def list_consent_texts(
    request: ApiRequest,
    of: AtOwner,
    paging: Query[PageRequest],
    which: Query[TextFilter],
) -> Page[ConsentTextOut]:
    """Versions of the texts that people agree to before they join by a link or panel."""
    at = owner_place(request).owner
    rows = _texts(at)
    if which.language:
        rows = rows.filter(language__iexact=which.language)
    if which.in_force is not None:
        rows = rows.filter(newer=not which.in_force)
    page = page_of(rows, paging, key=("pk",), within=(at.kind, at.pk, which.model_dump_json()))
    return Page(items=[_describe_text(row) for row in page.items], next=page.next)


@texts.post(_TEXTS, scopes=[Scope.COLLECT], role=Role.MANAGER, status=201)
def publish_consent_text(request: ApiRequest, of: AtOwner, body: ConsentTextIn) -> ConsentTextOut:
    """Publish a version for people who join from now on. What others agreed to stays.

    Where nothing differs from the newest version, no new one is made, and that one is the answer.
    """
    at = owner_place(request).owner
    # Locked, so that of two versions at once the second keeps what the first changed.
    kind_of(at).lock(at.pk)
    language_tag = body.language or kind_of(at).language(at.pk)
    before = _texts(at).filter(language__iexact=language_tag).order_by("-version").first()
    language, before = (before.language, before) if before else (language_tag, newest_text(at))
    values = first_values(language) | {"protocol_number": "", "contact": ""}
    if before is not None:
        values = {name: getattr(before, name) for name in values}
    changed_values = body.model_dump(exclude={"language"}, exclude_none=True)
    saved = save_text(owner=at, values=values | changed_values, actor=request.caller.user, language=language)
    return _describe_text(_texts(at).get(pk=saved.pk))


def _texts(owner: Owner) -> QuerySet[Any]:
    """An owner's texts; `newer` says whether there is a later version, and `agreed` how many agreed."""
    mine = {**columns_of(owner), "kind": ConsentText.Kind.CONSENT}
    later = ConsentText.objects.filter(**mine, language=OuterRef("language"), version__gt=OuterRef("version"))
    agreed = Count("visits", filter=Q(visits__consented_at__isnull=False))
    rows = ConsentText.objects.filter(**mine).select_related("made_by")
    return rows.annotate(newer=Exists(later), agreed=agreed)


def _describe_text(row: Any) -> ConsentTextOut:
    same = {name: getattr(row, name) for name in ConsentTextOut.model_fields if name not in _OTHERS}
    made_by = row.made_by.get_username() if row.made_by else None
    return ConsentTextOut(**same, in_force=not row.newer, made_by=made_by)


_OTHERS = ("in_force", "made_by")


# Lists of links, such as a class

rosters = Resource("Lists of study links", permission=OwnerPermission)
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


@rosters.get(f"{_ONE}/people", scopes=[Scope.READ], role=Role.MANAGER)
def list_roster(
    request: ApiRequest, of: AtOwner, link: int, paging: Query[PageRequest]
) -> Page[RosterPersonOut]:
    """People of the list of a link, such as a class, with their personal links and what they finished."""
    study_link = _link(request, link)
    rows = RosterRow.objects.filter(link=study_link).select_related("guest")
    page = page_of(rows, paging, key=("pk",), within=study_link.pk)
    items = [
        RosterPersonOut(
            id=line.row.pk,
            name=line.row.name,
            email=line.email,
            done=line.done,
            invited_at=line.row.invited_at,
            reminded_at=line.row.reminded_at,
            address=roster_services.personal_address(study_link, line.row),
        )
        for line in roster_lines(study_link, page.items)
    ]
    return Page(items=items, next=page.next)


@rosters.post(f"{_ONE}/people", scopes=[Scope.COLLECT], role=Role.MANAGER)
def add_to_roster(request: ApiRequest, of: AtOwner, link: int, body: RosterIn) -> RosterAdded:
    """Put people on the list of a link. This sends nothing."""
    people: dict[str, tuple[str, str]] = {}
    for person in body.people:
        people.setdefault(person.email.casefold(), (one_line(person.name), person.email))
    added = roster_services.add_people(
        link=_link(request, link), people=list(people.values()), actor=request.caller.user
    )
    return RosterAdded(added=added, known=len(people) - added, repeated=len(body.people) - len(people))


@rosters.post(f"{_ONE}/people/mail", scopes=[Scope.COLLECT], role=Role.MANAGER)
def mail_roster(request: ApiRequest, of: AtOwner, link: int, body: RosterMail) -> RosterMailPlan:
    """Send personal links to all without one, or remind those who finished nothing, at most once a day."""
    sentence = roster_services.plan_mail(
        link=_link(request, link), reminder=body.what == "reminders", actor=request.caller.user
    )
    return RosterMailPlan(words=sentence)


@rosters.get(f"{_ONE}/visits.jsonl", scopes=[Scope.READ], role=Role.MANAGER, content=lines_of(VisitLine))
def export_visits(request: ApiRequest, of: AtOwner, link: int) -> StreamingHttpResponse:
    """Every visit of a link: to which text its person agreed, how far they came, and their code."""
    return stream_lines(iter(visit_facts(_link(request, link))))


RESOURCES = (links, rosters, texts)
