"""Background work of a project, with its progress, and the job of simulated workers.

Simulated workers do a stage's HITs for play money; what they do is marked for ever.
"""

from typing import Annotated, Any
from uuid import uuid4

from django.db.models import Q, QuerySet
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.errors import ActionError
from core.jobs.models import Job, JobState
from core.jobs.selectors import jobs_listed
from core.jobs.services import cancel, enqueue
from core.projects.models import Project
from crowd.api.access import StagePermission, stage_access
from crowd.errors import StageStateError
from crowd.models import Stage
from crowd.services.deals import SIMULATE
from crowd.simulation.answers import MIXES, PROFILES
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import JobRef
from web.api.fields import MOST_ID, Body, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

jobs = Resource("Jobs")


class JobFilter(BaseModel):
    """Which jobs."""

    state: Annotated[str, OneOf(JobState)] | None = Field(None, description="Left out: all.")
    kind: str = Field("", max_length=100, description="Such as releases.build.")


class JobDetails(BaseModel):
    """One piece of background work."""

    id: int
    kind: str
    state: Annotated[str, OneOf(JobState)]
    attempts: int
    progress_done: int
    progress_total: int
    progress_note: str
    result: Any
    error: str
    created_at: Time
    started_at: Time | None
    finished_at: Time | None


class JobError(ActionError):
    """A job that cannot be cancelled."""


@jobs.get("/projects/{project}/jobs", scopes=[Scope.READ], role=Role.VIEWER)
def list_jobs(
    request: ApiRequest, project: str, paging: Query[PageRequest], which: Query[JobFilter]
) -> Page[JobDetails]:
    """Jobs of a project and its stages."""
    at = project_access(request).project
    rows = jobs_of(at, state=which.state)
    if which.kind:
        rows = rows.filter(kind=which.kind)
    page = page_of(rows, paging, key=("pk",), within=(at.pk, str(which.state), which.kind))
    return Page(items=[describe_job(row) for row in page.items], next=page.next)


@jobs.get("/projects/{project}/jobs/{job}", scopes=[Scope.READ], role=Role.VIEWER)
def get_job(request: ApiRequest, project: str, job: int) -> JobDetails:
    """One job: ask again until its state is done, failed or cancelled."""
    return describe_job(_job(project_access(request).project, job))


@jobs.post("/projects/{project}/jobs/{job}/cancel", scopes=[Scope.COLLECT], role=Role.MANAGER)
def cancel_job(request: ApiRequest, project: str, job: int) -> JobDetails:
    """Cancel a job that waits or runs; nothing of an import is stored."""
    at = project_access(request).project
    row = _job(at, job)
    if not cancel(job_id=row.pk):
        raise JobError(f"The job is {row.state} already.")
    return describe_job(_job(at, job))


def jobs_of(project: Project, *, state: str | None = None) -> QuerySet[Job]:
    """Jobs of a project and its stages, by what they were given."""
    stages = list(Stage.objects.filter(project=project).values_list("pk", flat=True))
    return jobs_listed(state=state).filter(Q(payload__project=project.pk) | Q(payload__stage__in=stages))


def _job(project: Project, pk: int) -> Job:
    row = jobs_of(project).filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such job in this project.")
    return row


_SAME = tuple(JobDetails.model_fields)


def describe_job(row: Job) -> JobDetails:
    """A job, as JSON."""
    return JobDetails(**{name: getattr(row, name) for name in _SAME})


# Simulated workers

simulations = Resource("Simulated workers", permission=StagePermission)
MOST_WORKERS = 500


class SimulationIn(Body):
    """Who works."""

    workers: int = Field(20, ge=1, le=MOST_WORKERS, description="How many people.")
    mix: str = Field("clean", max_length=40, description=f"{', '.join(MIXES)}, or a profile.")
    seed: int = Field(1, ge=0, le=2**53, description="The same people, the same answers.")


@simulations.post(
    "/projects/{project}/stages/{stage}/simulations", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202
)
def simulate_workers(request: ApiRequest, project: str, stage: str, body: SimulationIn) -> JobRef:
    """Let simulated workers do what the stage offers, by a job that ends when nothing is left for them."""
    at = stage_access(request).stage
    if at.endpoint.real_money:
        sentence = "The stage pays real money; simulated workers work for play money only."
        raise ProblemError(409, "real_money", sentence)
    if body.mix not in (*MIXES, *PROFILES):
        sentence = f"There is no mix or profile {body.mix!r}; there are {', '.join((*MIXES, *PROFILES))}."
        raise ProblemError(422, "invalid", f"mix: {sentence}", errors={"mix": [sentence]})
    if at.status == Stage.Status.DRAFT:
        raise StageStateError("The stage is a draft and offers nothing yet. Open it first.")
    payload = {"stage": at.pk, "project": at.project_id, **body.model_dump()}
    return JobRef(job=enqueue(kind=SIMULATE, payload=payload, effect=f"simulate:{at.pk}:{uuid4().hex}").pk)
