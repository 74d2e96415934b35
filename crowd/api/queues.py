"""Decisions of a project that wait for a person, by kind."""

from pydantic import BaseModel, Field

from core.api.models import Scope
from crowd.desk.queues import waiting
from web.api.access import ApiRequest, Role, project_access
from web.api.pages import Page
from web.api.resources import Resource

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
