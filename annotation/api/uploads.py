"""Files on their way in: staged by their digest, looked at, and imported as queries by a job."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import uuid4

from django.http import Http404
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from annotation.importing.selection import LONGEST, MOST, SHORTEST, Design
from annotation.models import QuerySource
from annotation.services import staged_files
from annotation.services.importing import Options
from annotation.services.staged_files import StagedFile
from annotation.tasks import IMPORT
from core.api.models import Scope
from core.jobs.services import enqueue
from core.projects.models import Project
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import FILE, JobRef, body_pieces
from web.api.fields import MOST_ID, Body, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

uploads = Resource("Uploads and imports")
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="The digest of the file's bytes.")]
Seed = Annotated[int, Field(ge=-(2**63), le=2**63 - 1, description="One seed gives one sample.")]
#: Which column of the file holds a field, by the field.
Columns = Annotated[
    dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=300)]], Field(max_length=40)
]


HeaderRow = Annotated[
    int, Field(ge=0, le=1_000_000, description="The row that names the columns; 0: the first with content.")
]


class UploadName(BaseModel):
    """What its sender calls the file; its ending says what is in it."""

    name: str = Field("upload", min_length=1, max_length=300, description="Such as log.csv.")


class UploadOut(BaseModel):
    """A file that was received, and is kept for a week."""

    sha256: str
    name: str
    bytes: int


class DesignIn(Body):
    """Which of the distinct queries are taken; without it all."""

    by: Literal["all", "uniform", "count", "strata"] = "all"
    size: int = Field(0, ge=0, le=MOST)
    seed: Seed = 1
    strata: Literal["count", "type"] = "count"
    quotas: dict[Annotated[str, Field(max_length=60)], Annotated[int, Field(ge=0, le=MOST)]] = Field(
        default_factory=dict, max_length=40
    )


class QueryImportIn(Body):
    """How a file becomes queries."""

    upload: Sha256
    format: str = Field("auto", max_length=20)
    encoding: str = Field("", max_length=40, description="Empty: found out.")
    sheet: str = Field("", max_length=200)
    columns: Columns = Field(default_factory=dict, description="Field -> column; empty: found out.")
    header: bool | None = None
    header_row: HeaderRow = 0
    without: list[Annotated[str, Field(max_length=40)]] = Field(
        default_factory=list, max_length=40, description="Rules of screening to switch off."
    )
    shortest: int = Field(SHORTEST, ge=0, le=10_000)
    longest: int = Field(LONGEST, ge=1, le=100_000)
    design: DesignIn = DesignIn(size=0)
    strict: bool = Field(False, description="One bad line refuses the whole file.")
    start_at: Literal["screening", "curation", "distillation"] = "screening"

    def options(self) -> Options:
        """As the service wants them; ImportRefusedError for what makes no sense."""
        fields = self.model_dump(exclude={"upload", "design", "without"})
        options = Options(**fields, without=tuple(self.without), design=Design(**self.design.model_dump()))
        options.check()
        return options


class QueryImportOut(BaseModel):
    """A finished import with the report about its lines."""

    id: int
    name: str
    format: str
    sha256: str
    state: str
    created_at: Time
    report: dict[str, Any]


def staged_file(project: Project, sha256: str) -> StagedFile:
    """An upload of the project; Http404 where it is gone."""
    file = staged_files.staged(project=project, sha256=sha256)
    if file is None:
        raise Http404("There is no such upload. It may have been imported already; upload it again.")
    return file


def import_payload(request: ApiRequest, file: StagedFile, options: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of an import's job."""
    access = project_access(request)
    return {
        "project": access.project.pk,
        "sha256": file.sha256,
        "name": file.name,
        "user": access.user.pk,
        "options": dict(options),
    }


@uploads.put("/projects/{project}/uploads", scopes=[Scope.COLLECT], role=Role.MANAGER, body=FILE)
def upload_file(request: ApiRequest, project: str, named: InQuery[UploadName]) -> UploadOut:
    """Send a file as the body: a log, a table of answers, passages. The same bytes are one upload."""
    at = project_access(request).project
    file = staged_files.stage(project=at, name=named.name, pieces=body_pieces(request))
    return UploadOut(sha256=file.sha256, name=file.name, bytes=file.size)


@uploads.post("/projects/{project}/query-imports", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202)
def import_queries(request: ApiRequest, project: str, body: QueryImportIn) -> JobRef:
    """Import an upload as queries, by a job: all of it or nothing."""
    file = staged_file(project_access(request).project, body.upload)
    payload = import_payload(request, file, asdict(body.options()))
    effect = f"import:{payload['project']}:{uuid4().hex}"
    return JobRef(job=enqueue(kind=IMPORT, payload=payload, effect=effect).pk)


@uploads.get("/projects/{project}/query-imports", scopes=[Scope.READ], role=Role.VIEWER)
def list_query_imports(
    request: ApiRequest, project: str, paging: InQuery[PageRequest]
) -> Page[QueryImportOut]:
    """Imports of queries with their reports."""
    at = project_access(request).project
    page = page_of(QuerySource.objects.filter(project=at), paging, within=at.pk)
    with_texts = project_access(request).manages
    return Page(items=[_describe(row, with_texts=with_texts) for row in page.items], next=page.next)


@uploads.get("/projects/{project}/query-imports/{int:number}", scopes=[Scope.READ], role=Role.VIEWER)
def get_query_import(request: ApiRequest, project: str, number: int) -> QueryImportOut:
    """One import with its report."""
    rows = QuerySource.objects.filter(project=project_access(request).project)
    row = rows.filter(pk=number).first() if 0 < number <= MOST_ID else None
    if row is None:
        raise Http404("There is no such import.")
    return _describe(row, with_texts=project_access(request).manages)


def report_for(report: dict[str, Any], *, with_texts: bool) -> dict[str, Any]:
    """A report of an import; texts of the file are for managers only."""
    if with_texts:
        return report
    rules = report.get("rules") or {}
    shown_rules = {
        name: {key: value for key, value in rule.items() if key != "examples"} for name, rule in rules.items()
    }
    return {name: value for name, value in report.items() if name != "refusals"} | {"rules": shown_rules}


def _describe(row: QuerySource, *, with_texts: bool) -> QueryImportOut:
    return QueryImportOut(
        id=row.pk,
        name=row.name,
        format=row.format,
        sha256=row.sha256,
        state=row.state,
        created_at=row.created_at,
        report=report_for(row.report, with_texts=with_texts),
    )
