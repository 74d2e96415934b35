"""The list of a link, such as a class: its people, their personal links by mail, and every visit."""

from typing import Literal

from django.http import StreamingHttpResponse
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.notices.letters import one_line
from core.origin import Owner
from people import rosters as services
from people.api.links import find_link
from people.models import RosterRow, StudyLink
from people.owners import project_owner
from people.selectors import roster_lines, visit_facts
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import Body, Email, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource
from web.api.streams import lines_of, stream_lines

rosters = Resource("Lists of study links")
_ONE = "/projects/{project}/study-links/{int:link}"
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
            address=services.personal_address(link, line.row),
        )
        for line in roster_lines(link, page.items)
    ]
    return Page(items=items, next=page.next)


def add(link: StudyLink, body: RosterIn, request: ApiRequest) -> RosterAdded:
    """Put people on the list."""
    people = {person.email: one_line(person.name) for person in body.people}
    chosen = [(name, email) for email, name in people.items()]
    added = services.add_people(link=link, people=chosen, actor=request.caller.user)
    return RosterAdded(added=added, known=len(chosen) - added)


def mail(link: StudyLink, body: RosterMail, request: ApiRequest) -> RosterMailPlan:
    """Plan letters."""
    is_reminder = body.what == "reminders"
    words = services.plan_mail(link=link, reminder=is_reminder, actor=request.caller.user)
    return RosterMailPlan(words=words)


def export(link: StudyLink) -> StreamingHttpResponse:
    """Every visit, one per line."""
    return stream_lines(iter(visit_facts(link)))


# Operations of projects.


def _link(request: ApiRequest, pk: int) -> StudyLink:
    owner: Owner = project_owner(project_access(request).project)
    return find_link(owner, pk)


@rosters.get(f"{_ONE}/people", scopes=[Scope.READ], role=Role.MANAGER)
def list_roster(
    request: ApiRequest, project: str, link: int, paging: Query[PageRequest]
) -> Page[RosterPersonOut]:
    """People of the list of a link, such as a class, with their personal links and what they finished."""
    return list_people(_link(request, link), paging)


@rosters.post(f"{_ONE}/people", scopes=[Scope.COLLECT], role=Role.MANAGER)
def add_to_roster(request: ApiRequest, project: str, link: int, body: RosterIn) -> RosterAdded:
    """Put people on the list of a link. Nothing is sent by this."""
    return add(_link(request, link), body, request)


@rosters.post(f"{_ONE}/people/mail", scopes=[Scope.COLLECT], role=Role.MANAGER)
def mail_roster(request: ApiRequest, project: str, link: int, body: RosterMail) -> RosterMailPlan:
    """Send personal links to all without one, or remind those who finished nothing, at most once a day."""
    return mail(_link(request, link), body, request)


@rosters.get(f"{_ONE}/visits.jsonl", scopes=[Scope.READ], role=Role.MANAGER, content=lines_of(VisitLine))
def export_visits(request: ApiRequest, project: str, link: int) -> StreamingHttpResponse:
    """Every visit of a link: to which text its person agreed, how far they came, and their code."""
    return export(_link(request, link))
