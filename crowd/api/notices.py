"""What needs a person: notices, which are read, which come by e-mail, and decisions that wait."""

from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.notices import selectors, services
from core.notices.models import Notice, Wish
from crowd.selectors.queues import waiting
from web.api.access import MEMBER, ApiRequest, Role, project_access
from web.api.fields import MOST_ID, Body, Id, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource, RevisedModel, seen_columns

notices = Resource("Notices")
_LIST = "/projects/{project}/notices"
_KEY = ("raised_at", "pk")
#: What If-Match protects.
_COLUMNS = ("post",)
Post = Annotated[str, OneOf(Wish.Post)]


class NoticeFilter(BaseModel):
    """Which notices: open ones, those that the token's person has not read, those that are over, or all."""

    state: Literal["open", "unread", "over", "all"] = "open"


class NoticeOut(BaseModel):
    """Something that needs a person. It is over when it is no longer so; nothing has to be dismissed."""

    id: int
    project: str | None = Field(description="Short name; null: it is about the whole installation.")
    kind: str = Field(description="Such as expiring, budget_low, stuck or finished.")
    level: Annotated[str, OneOf(Notice.Level)]
    sentence: str
    address: str = Field(description="Path of the page where it is mended; empty: none.")
    raised_at: Time
    over_at: Time | None = Field(description="When it was no longer so; null: it is open.")
    read: bool = Field(description="The token's person has read it.")


class NoticesToRead(Body):
    """Which notices were read; left out: all that are open."""

    notices: list[Id] | None = Field(None, min_length=1, max_length=200, examples=[[17, 18]])


_ALL = NoticesToRead(notices=None)


class NoticesRead(BaseModel):
    """How many were unread until now, and how many are left."""

    marked: int
    unread: int = Field(description="Open notices that are still unread.")


class NoticeMail(RevisedModel):
    """Which notices of a project the token's person gets by e-mail."""

    post: Post = Field(description="all: everything; pressing: warnings and alarms; none: nothing.")


class NoticeMailChanges(Body):
    """What comes by e-mail from now on."""

    post: Post = Field(description="all: everything; pressing: warnings and alarms; none: nothing.")


@notices.get("/notices", scopes=[Scope.READ], role=MEMBER)
def list_notices(
    request: ApiRequest, paging: Query[PageRequest], which: Query[NoticeFilter]
) -> Page[NoticeOut]:
    """Notices of all projects of the token's person; of a token bound to a project, of that one."""
    caller = request.caller
    rows = selectors.notices_of(caller.user)
    if caller.token.project_id is not None:
        rows = rows.filter(project=caller.token.project_id)
    return _page(request, rows, paging, which, ("everywhere", caller.user.pk, caller.token.project_id))


@notices.post("/notices/read", scopes=[Scope.DECIDE], role=MEMBER)
def read_notices(request: ApiRequest, body: NoticesToRead = _ALL) -> NoticesRead:
    """Mark notices of their projects as read by the token's person. Others still see them as unread."""
    return _read(request, selectors.notices_of(request.caller.user), body)


@notices.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def list_project_notices(
    request: ApiRequest, project: str, paging: Query[PageRequest], which: Query[NoticeFilter]
) -> Page[NoticeOut]:
    """Notices of one project."""
    return _page(request, _rows(request), paging, which, project_access(request).project.pk)


@notices.get(f"{_LIST}/e-mail", scopes=[Scope.READ], role=Role.VIEWER)
def get_notice_mail(request: ApiRequest, project: str) -> NoticeMail:
    """Which notices of the project the token's person gets by e-mail; the ETag is for changing it."""
    return _mail(request)


@notices.patch(f"{_LIST}/e-mail", scopes=[Scope.DECIDE], role=Role.VIEWER, revised=True)
def change_notice_mail(request: ApiRequest, project: str, body: NoticeMailChanges) -> NoticeMail:
    """Choose which notices of the project come by e-mail. This is for the token's person alone."""
    access = project_access(request)
    seen = seen_columns(request, _COLUMNS)
    services.wish(user=access.user, project=access.project, post=body.post, seen=seen)
    return _mail(request)


@notices.post(f"{_LIST}/read", scopes=[Scope.DECIDE], role=Role.VIEWER)
def read_project_notices(request: ApiRequest, project: str, body: NoticesToRead = _ALL) -> NoticesRead:
    """Mark notices of the project as read by the token's person. Others still see them as unread."""
    return _read(request, _rows(request), body)


@notices.get(f"{_LIST}/{{int:notice}}", scopes=[Scope.READ], role=Role.VIEWER)
def get_notice(request: ApiRequest, project: str, notice: int) -> NoticeOut:
    """One notice."""
    return _describe(_notice(request, notice))


@notices.post(f"{_LIST}/{{int:notice}}/read", scopes=[Scope.DECIDE], role=Role.VIEWER)
def read_notice(request: ApiRequest, project: str, notice: int) -> NoticeOut:
    """Mark a notice as read by the token's person."""
    row = _notice(request, notice)
    services.see(user=request.caller.user, notices=[row])
    return _describe(_notice(request, notice))


def _rows(request: ApiRequest) -> QuerySet[Notice]:
    access = project_access(request)
    return selectors.notices_of(access.user, access.project)


def _notice(request: ApiRequest, pk: int) -> Notice:
    row = _rows(request).filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such notice in this project.")
    return row


def _page(
    request: ApiRequest, rows: QuerySet[Notice], paging: PageRequest, which: NoticeFilter, within: object
) -> Page[NoticeOut]:
    matching = selectors.in_state(rows, request.caller.user, which.state)
    page = page_of(matching, paging, key=_KEY, within=(within, which.state))
    return Page(items=[_describe(row) for row in page.items], next=page.next)


def _read(request: ApiRequest, rows: QuerySet[Notice], body: NoticesToRead) -> NoticesRead:
    """Read the named ones, also those that are over; Http404 where one is not there, and nothing is noted."""
    user = request.caller.user
    if body.notices is None:
        to_read = list(selectors.waiting(rows, user))
    else:
        to_read = list(rows.filter(pk__in=body.notices))
        if missing := sorted(set(body.notices) - {row.pk for row in to_read}):
            raise Http404(f"There is no notice {missing[0]} here.")
    unread = [row for row in to_read if not row.read]  # type: ignore[attr-defined]  # of the selector
    services.see(user=user, notices=unread)
    return NoticesRead(marked=len(unread), unread=selectors.waiting(rows, user).count())


def _mail(request: ApiRequest) -> NoticeMail:
    access = project_access(request)
    row = Wish.objects.filter(user=access.user, project=access.project).first() or Wish()
    return NoticeMail(post=row.post).marked(row, _COLUMNS)


def _describe(row: Any) -> NoticeOut:
    same = {name: getattr(row, name) for name in NoticeOut.model_fields if name != "project"}
    return NoticeOut(**same, project=row.project.slug if row.project else None)


# Decisions

queues = Resource("Decisions that wait")


class QueueOut(BaseModel):
    """One kind of decision that waits for a person."""

    name: str = Field(description="Such as tied, disputed, doubt, flagged, held, operations.")
    label: str
    what: str = Field(description="Why it waits, and what the decision does.")
    count: int = Field(description="How many wait; of a large project as it was some seconds ago.")
    pressing: bool = Field(description="Time decides if no person does, or later work is affected.")


@queues.get("/projects/{project}/queues", scopes=[Scope.READ], role=Role.VIEWER)
def list_queues(request: ApiRequest, project: str) -> Page[QueueOut]:
    """What waits for a person in the project: queries, answers, work and calls, with how many of each."""
    items = [
        QueueOut(
            name=each.queue.name,
            label=each.queue.label,
            what=each.queue.what,
            count=each.count,
            pressing=each.queue.pressing,
        )
        for each in waiting(project_access(request).project)
    ]
    return Page(items=items, next=None)
