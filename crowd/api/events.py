"""What happened in a project."""

from collections.abc import Iterator
from typing import Any

from django.db.models import F, QuerySet
from django.http import StreamingHttpResponse
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.projects.models import Event, Project
from core.projects.services import event_actions
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import lines_of, rows_by_key, stream_lines
from web.api.fields import Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

events = Resource("Events")


class EventFilter(BaseModel):
    """Which events, such as `stage.opened`."""

    action: str = Field("", max_length=60)


class EventOut(BaseModel):
    """One thing that happened; it is never changed."""

    id: int
    at: Time
    actor: str | None = Field(description="User name; null: the system.")
    action: str
    words: str = Field(description="The action, for people.")
    subject: str
    details: dict[str, Any]
    address: str
    via: str = Field(description="page, api, job…; empty: not noted.")
    credential: str = Field(description="Beginning of the token, or the access key.")
    request_id: str


@events.get("/projects/{project}/events", scopes=[Scope.READ], role=Role.VIEWER)
def list_events(
    request: ApiRequest, project: str, paging: Query[PageRequest], which: Query[EventFilter]
) -> Page[EventOut]:
    """The log of a project."""
    at = project_access(request).project
    rows = _rows(at, which.action).select_related("actor")
    page = page_of(rows, paging, key=("pk",), within=(at.pk, which.action))
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@events.get(
    "/projects/{project}/events.jsonl", scopes=[Scope.READ], role=Role.VIEWER, content=lines_of(EventOut)
)
def export_events(request: ApiRequest, project: str, which: Query[EventFilter]) -> StreamingHttpResponse:
    """The whole log of a project, oldest first, one event per line."""
    columns = [name for name in EventOut.model_fields if name not in ("actor", "words")]
    rows = _rows(project_access(request).project, which.action)
    return stream_lines(_worded(rows_by_key(rows.values(*columns, who=F("actor__username")))))


def _rows(project: Project, action: str) -> QuerySet[Event]:
    rows = Event.objects.filter(project=project)
    return rows.filter(action=action) if action else rows


def _worded(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    actions = event_actions()
    for row in rows:
        row["actor"], row["words"] = row.pop("who"), actions.get(row["action"], row["action"])
        yield row


_SAME = tuple(name for name in EventOut.model_fields if name not in ("actor", "words"))


def _describe(row: Event) -> EventOut:
    return EventOut(
        **{name: getattr(row, name) for name in _SAME},
        actor=row.actor.get_username() if row.actor else None,
        words=event_actions().get(row.action, row.action),
    )
