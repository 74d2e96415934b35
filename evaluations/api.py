"""Operations of the API about evaluations of releases and about scores from elsewhere, which join them."""

from typing import Annotated, Any

from django.db.models import QuerySet
from django.http import Http404
from django.http.response import HttpResponseBase
from ninja import Query as InQuery
from pydantic import BaseModel, ConfigDict, Field

from annotation.api.uploads import Sha256, staged_file
from core.api.models import Scope
from evaluations import external_scores, selectors, services, storage
from evaluations.errors import EvaluationError
from evaluations.models import Evaluation, ExternalScores
from evaluations.plans import EvaluationPlan
from metrics.errors import MetricError
from releases import download_files
from releases.api import find_release
from web.access import ProjectAccess
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import MOST_ID, MOST_NUMBER, Body, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError, ProblemKind
from web.api.resources import Resource

evaluations = Resource("Evaluations")
_FILE: dict[str, Any] = {"*/*": {"schema": {}}}


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


class EvaluationChanges(Body):
    """What others see of an evaluation."""

    leaderboard: bool = Field(description="The public leaderboard of its release shows it.")


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
    """Compute metrics over a release and compare them with its human scores, by a job."""
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
    entry = next((each for each in row.files if each["name"] == name), None)
    if entry is None:
        raise Http404("The evaluation has no such file.")
    etag = f'"{entry["sha256"]}"'
    if download_files.has_current_copy(request, etag):
        return download_files.not_modified(etag)
    part = download_files.Part(0, entry["bytes"], entry["bytes"], True)
    return download_files.send(
        request, opened=lambda: storage.open_at(row, name), part=part, name=name, etag=etag
    )


@evaluations.post(
    "/projects/{project}/releases/{version}/evaluations/{int:number}/cancel",
    scopes=[Scope.PUBLISH],
    role=Role.MANAGER,
)
def cancel_evaluation(request: ApiRequest, project: str, version: str, number: int) -> EvaluationOut:
    """Cancel an evaluation; no results are kept."""
    access = project_access(request)
    services.cancel(evaluation=_find(access, version, number), actor=access.user)
    return EvaluationOut(**_columns(_find(access, version, number)))


@evaluations.patch(
    "/projects/{project}/releases/{version}/evaluations/{int:number}",
    scopes=[Scope.PUBLISH],
    role=Role.OWNER,
)
def change_evaluation(
    request: ApiRequest, project: str, version: str, number: int, body: EvaluationChanges
) -> EvaluationOut:
    """Make an evaluation the public leaderboard of its release, or remove that."""
    access = project_access(request)
    change = services.show_evaluation if body.leaderboard else services.hide
    change(evaluation=_find(access, version, number), actor=access.user)
    return EvaluationOut(**_columns(_find(access, version, number)))


def _find(access: ProjectAccess, version: str, number: int) -> Evaluation:
    rows = Evaluation.objects.select_related("release", "created_by").defer("release__manifest")
    rows = rows.filter(release__project=access.project, release__version=version)
    row = rows.filter(number=number).first() if 0 < number <= MOST_NUMBER else None
    if row is None:
        raise Http404("There is no such evaluation.")
    row.release.project = access.project
    return row


def _columns(row: Evaluation) -> dict[str, Any]:
    names = [name for name in EvaluationOut.model_fields if name not in ("release", "created_by")]
    columns = {name: getattr(row, name) for name in names}
    return columns | {
        "release": row.release.version,
        "created_by": row.created_by.get_username() if row.created_by else None,
    }


external = Resource("Scores from elsewhere")
_LIST = "/projects/{project}/external-scores"
_ONE = f"{_LIST}/{{int:scores}}"
Direction = Annotated[str, OneOf(ExternalScores.Direction)]


class ExternalScoresIn(Body):
    """A file with a column of scores, which was uploaded before (`upload_file`)."""

    upload: Sha256
    release: str = Field(min_length=1, max_length=20, description="A version.", examples=["1.0.0"])
    name: str = Field(
        min_length=1,
        max_length=60,
        pattern=r"^[a-z0-9][a-z0-9._+-]*$",
        description="Its name in reports: small letters, digits, and . _ + - after the first.",
        examples=["comet-22"],
    )
    direction: Direction = Field(
        ExternalScores.Direction.HIGHER.value, description="Which values are the better ones."
    )
    says: str = Field("", max_length=300, description="What it is, for readers of reports.")
    column: str = Field(
        "", max_length=200, description="The one with the scores; empty: `score`, or the only possible one."
    )


class ExternalScoresOut(BaseModel):
    """Values for some candidates of a release."""

    id: int
    release: str
    name: str
    direction: Direction
    says: str
    count: int = Field(description="Candidates with a value.")
    missing: int = Field(description="Candidates of the release without one.")
    low: float
    high: float
    file_name: str
    digest: str = Field(description="SHA-256 of the file.")
    created_at: Time
    created_by: str | None


@external.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def list_external_scores(
    request: ApiRequest, project: str, paging: InQuery[PageRequest]
) -> Page[ExternalScoresOut]:
    """Scores from elsewhere that are kept for the releases of a project."""
    page = page_of(
        _rows(request).filter(kept=True), paging, key=("pk",), within=project_access(request).project.pk
    )
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@external.post(_LIST, scopes=[Scope.COLLECT], role=Role.MANAGER, status=201)
def add_external_scores(request: ApiRequest, project: str, body: ExternalScoresIn) -> ExternalScoresOut:
    """Read a column of scores of an uploaded file, all of it or nothing: CSV, TSV or JSONL, plain or gzip.

    Its header names candidate_id and score, or query_id, system and score.
    """
    access = project_access(request)
    file = staged_file(access.project, body.upload)
    release = selectors.releases_to_evaluate(access.project).filter(version=body.release).first()
    if release is None:
        message = f"There is no release {body.release!r} here that can be evaluated."
        raise ProblemError(422, "no_such_release", message, errors={"release": [message]})
    scores = external_scores.look(
        release=release,
        path=file.path,
        file_name=file.name,
        name=body.name,
        direction=body.direction,
        says=body.says,
        column=body.column,
        actor=access.user,
    )
    external_scores.keep(scores=_scores(request, scores.pk), actor=access.user)
    return _describe(_scores(request, scores.pk))


@external.delete(_ONE, scopes=[Scope.COLLECT], role=Role.MANAGER)
def remove_external_scores(request: ApiRequest, project: str, scores: int) -> None:
    """Remove scores. Evaluations that are finished keep their values."""
    external_scores.remove(scores=_scores(request, scores), actor=request.caller.user)


def _rows(request: ApiRequest) -> QuerySet[ExternalScores]:
    rows = ExternalScores.objects.filter(release__project=project_access(request).project)
    rows = rows.select_related("release__project", "created_by")
    return rows.defer("body", "release__manifest", "release__options")


def _scores(request: ApiRequest, pk: int) -> ExternalScores:
    row = _rows(request).filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There are no such scores in this project.")
    return row


_OTHERS = ("release", "created_by")


def _describe(row: Any) -> ExternalScoresOut:
    same = {name: getattr(row, name) for name in ExternalScoresOut.model_fields if name not in _OTHERS}
    person = row.created_by.get_username() if row.created_by else None
    return ExternalScoresOut(**same, release=row.release.version, created_by=person)


RESOURCES = (evaluations, external)
PROBLEMS = {
    EvaluationError: ProblemKind(422, "evaluation_refused"),
    MetricError: ProblemKind(422, "evaluation_refused"),
}
