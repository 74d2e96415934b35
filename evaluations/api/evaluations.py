"""Evaluations: which automatic metric agrees with the people of a release."""

from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase
from ninja import Query as InQuery
from pydantic import BaseModel, ConfigDict, Field

from core.api.models import Scope
from evaluations import selectors, services, storage
from evaluations.models import Evaluation
from evaluations.plans import EvaluationPlan
from releases import download_files
from releases.api import find_release
from web.access import ProjectAccess
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

evaluations = Resource("Evaluations")
_FILE: dict[str, Any] = {"*/*": {"schema": {}}}
_MOST_NUMBER = 2**31 - 1


class EvaluationOut(BaseModel):
    """An evaluation of a release."""

    release: str = Field(description="Its version.")
    number: int
    title: str
    state: str = Field(description="planned, running, ready, failed, cancelled.")
    why: str = Field(description="Why it failed.")
    best: str = Field(description="The metric with the highest correlation.")
    best_value: float | None
    leaderboard: bool = Field(description="The public leaderboard of its release shows it.")
    job: int | None
    plan: dict[str, Any] = Field(description="All that the report depends on beside the release.")
    created_by: str | None
    created_at: Time
    finished_at: Time | None


class EvaluationFile(BaseModel):
    """One file of a report."""

    name: str
    bytes: int
    sha256: str


class EvaluationDetails(EvaluationOut):
    """An evaluation with its report."""

    files: list[EvaluationFile]
    report: dict[str, Any] | None = Field(description="As docs/report.schema.json says; null: not ready.")


class EvaluationIn(EvaluationPlan):
    """What is computed; what is left out has its default. Without metrics, those of the profile."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field("", max_length=120)


class EvaluationFilters(BaseModel):
    """Which evaluations."""

    release: str = Field("", max_length=20, description="A version.")


@evaluations.get("/projects/{project}/evaluations", scopes=[Scope.READ], role=Role.VIEWER)
def list_evaluations(
    request: ApiRequest, project: str, filters: InQuery[EvaluationFilters], paging: InQuery[PageRequest]
) -> Page[EvaluationOut]:
    """The evaluations of the project's releases."""
    at = project_access(request).project
    rows = selectors.evaluations_of(at).order_by()
    if filters.release:
        rows = rows.filter(release__version=filters.release)
    page = page_of(rows, paging, within=(at.pk, filters.model_dump_json()))
    return Page(items=[EvaluationOut(**_columns(row)) for row in page.items], next=page.next)


@evaluations.post(
    "/projects/{project}/releases/{version}/evaluations",
    scopes=[Scope.PUBLISH],
    role=Role.MANAGER,
    status=202,
)
def start_evaluation(request: ApiRequest, project: str, version: str, body: EvaluationIn) -> EvaluationOut:
    """Have metrics computed over a release and compared with its human scores, by a job."""
    access = project_access(request)
    plan = EvaluationPlan(**body.model_dump(exclude={"title"}))
    release = find_release(access, version)
    row = services.begin(release=release, plan=plan, title=body.title, actor=access.user)
    return EvaluationOut(**_columns(row))


@evaluations.get(
    "/projects/{project}/releases/{version}/evaluations/{int:number}", scopes=[Scope.READ], role=Role.VIEWER
)
def get_evaluation(request: ApiRequest, project: str, version: str, number: int) -> EvaluationDetails:
    """One evaluation with its report."""
    row = _find(project_access(request), version, number)
    ready = row.state == Evaluation.State.READY
    files = [
        EvaluationFile(name=str(each["name"]), bytes=each["bytes"], sha256=str(each["sha256"]))
        for each in row.files
    ]
    return EvaluationDetails(**_columns(row), files=files, report=row.report if ready else None)


@evaluations.get(
    "/projects/{project}/releases/{version}/evaluations/{int:number}/files/{name}",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    content=_FILE,
)
def download_evaluation_file(
    request: ApiRequest, project: str, version: str, number: int, name: str
) -> HttpResponseBase:
    """One file of a report, such as report.html, report.json, scores.csv or table.tex."""
    row = _find(project_access(request), version, number)
    listed = next((each for each in row.files if each["name"] == name), None)
    if listed is None:
        raise Http404("The evaluation has no such file.")
    etag = f'"{listed["sha256"]}"'
    if download_files.has_current_copy(request, etag):
        return download_files.not_modified(etag)
    part = download_files.Part(0, listed["bytes"], listed["bytes"], True)
    return download_files.send(
        request, opened=lambda: storage.open_at(row, name), part=part, name=name, etag=etag
    )


@evaluations.post(
    "/projects/{project}/releases/{version}/evaluations/{int:number}/cancel",
    scopes=[Scope.PUBLISH],
    role=Role.MANAGER,
)
def cancel_evaluation(request: ApiRequest, project: str, version: str, number: int) -> EvaluationOut:
    """End an evaluation; nothing of it is kept."""
    access = project_access(request)
    services.cancel(evaluation=_find(access, version, number), actor=access.user)
    return EvaluationOut(**_columns(_find(access, version, number)))


@evaluations.post(
    "/projects/{project}/releases/{version}/evaluations/{int:number}/retry",
    scopes=[Scope.PUBLISH],
    role=Role.MANAGER,
    status=202,
)
def retry_evaluation(request: ApiRequest, project: str, version: str, number: int) -> EvaluationOut:
    """Compute one that failed or was cancelled once more, with the plan that it had."""
    access = project_access(request)
    row = _find(access, version, number)
    if services.stuck(row, selectors.job_of(row)):
        services.fail(evaluation=row, why="Its worker stopped.")
    services.begin_again(evaluation=row, actor=access.user)
    return EvaluationOut(**_columns(_find(access, version, number)))


@evaluations.post(
    "/projects/{project}/releases/{version}/evaluations/{int:number}/show",
    scopes=[Scope.PUBLISH],
    role=Role.OWNER,
)
def show_leaderboard(request: ApiRequest, project: str, version: str, number: int) -> EvaluationOut:
    """Make an evaluation the public leaderboard of its release."""
    access = project_access(request)
    services.show_evaluation(evaluation=_find(access, version, number), actor=access.user)
    return EvaluationOut(**_columns(_find(access, version, number)))


@evaluations.post(
    "/projects/{project}/releases/{version}/evaluations/{int:number}/hide",
    scopes=[Scope.PUBLISH],
    role=Role.OWNER,
)
def hide_leaderboard(request: ApiRequest, project: str, version: str, number: int) -> EvaluationOut:
    """Take the public leaderboard away."""
    access = project_access(request)
    services.hide(evaluation=_find(access, version, number), actor=access.user)
    return EvaluationOut(**_columns(_find(access, version, number)))


def _find(access: ProjectAccess, version: str, number: int) -> Evaluation:
    rows = Evaluation.objects.select_related("release", "created_by").defer("release__manifest")
    rows = rows.filter(release__project=access.project, release__version=version)
    row = rows.filter(number=number).first() if 0 < number <= _MOST_NUMBER else None
    if row is None:
        raise Http404("There is no such evaluation.")
    row.release.project = access.project
    return row


def _columns(row: Evaluation) -> dict[str, Any]:
    names = [name for name in EvaluationOut.model_fields if name not in ("release", "created_by")]
    found = {name: getattr(row, name) for name in names}
    return found | {
        "release": row.release.version,
        "created_by": row.created_by.get_username() if row.created_by else None,
    }
