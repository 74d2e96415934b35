"""What needs a person: notices, and decisions that wait."""

from typing import Annotated, Any, Literal

from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.notices import selectors
from core.notices.models import Notice
from core.projects.selectors import project_for
from crowd.selectors.queues import waiting
from web.api.access import MEMBER, ApiRequest, Role, project_access
from web.api.fields import OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

notices = Resource("Notices")
_KEY = ("raised_at", "pk")


class NoticeFilter(BaseModel):
    """Which notices."""

    state: Literal["open", "unread", "over", "all"] = Field(
        "open", description="unread: those that the token's person has not read; over: no longer so."
    )
    project: str = Field("", max_length=80, description="Short name of a project; empty: all.")


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


@notices.get("/notices", scopes=[Scope.READ], role=MEMBER)
def list_notices(
    request: ApiRequest, paging: Query[PageRequest], which: Query[NoticeFilter]
) -> Page[NoticeOut]:
    """Notices of all projects of the token's person; of a token bound to a project, of that one."""
    caller = request.caller
    bound = caller.token.project_id
    rows = selectors.notices_of(caller.user)
    if bound is not None:
        rows = rows.filter(project=bound)
    if which.project:
        rows = rows.filter(project=project_for(caller.user, which.project)[0])
    matching = selectors.in_state(rows, caller.user, which.state)
    page = page_of(matching, paging, key=_KEY, within=(caller.user.pk, bound, which.model_dump_json()))
    return Page(items=[_describe(row) for row in page.items], next=page.next)


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
