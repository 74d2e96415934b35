"""Scores from elsewhere: a column of values for a release's candidates, which join its evaluations."""

from typing import Annotated, Any

from django.db.models import QuerySet
from django.http import Http404
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from annotation.api.uploads import Sha256, staged_file
from core.api.models import Scope
from evaluations import external_scores as services
from evaluations import selectors
from evaluations.models import ExternalScores
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import MOST_ID, Body, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

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
    keep: bool = Field(True, description="false: only read the file; `keep` keeps the scores later.")


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
    kept: bool = Field(description="Whether they can join evaluations; others are deleted after a day.")
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
        words = f"There is no release {body.release!r} here that can be evaluated."
        raise ProblemError(422, "no_such_release", words, errors={"release": [words]})
    made = services.look(
        release=release,
        path=file.path,
        file_name=file.name,
        name=body.name,
        direction=body.direction,
        says=body.says,
        column=body.column,
        actor=access.user,
    )
    if body.keep:
        services.keep(scores=_scores(request, made.pk), actor=access.user)
    return _describe(_scores(request, made.pk))


@external.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_external_scores(request: ApiRequest, project: str, scores: int) -> ExternalScoresOut:
    """One column of scores, also before it is kept."""
    return _describe(_scores(request, scores))


@external.post(f"{_ONE}/keep", scopes=[Scope.COLLECT], role=Role.MANAGER)
def keep_external_scores(request: ApiRequest, project: str, scores: int) -> ExternalScoresOut:
    """Let scores that were looked at join evaluations of their release."""
    services.keep(scores=_scores(request, scores), actor=request.caller.user)
    return _describe(_scores(request, scores))


@external.delete(_ONE, scopes=[Scope.COLLECT], role=Role.MANAGER)
def remove_external_scores(request: ApiRequest, project: str, scores: int) -> None:
    """Remove scores. Evaluations that are finished keep their values."""
    services.remove(scores=_scores(request, scores), actor=request.caller.user)


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
