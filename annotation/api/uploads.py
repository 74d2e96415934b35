"""Files on their way in: staged by their digest, looked at, and imported as queries by a job."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import uuid4

from django.http import Http404
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from annotation.importing.records import record_of
from annotation.importing.selection import LONGEST, MOST, SHORTEST, Design
from annotation.models import QuerySource
from annotation.services import staged_files
from annotation.services.importing import Options, preview
from annotation.services.staged_files import StagedFile
from annotation.tasks import IMPORT
from core.api.models import Scope
from core.jobs.services import enqueue
from core.projects.models import Project
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import FILE, BodyLine, JobRef, body_pieces
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

    name: str = Field("upload", min_length=1, max_length=300)


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


class LineName(BaseModel):
    """What the lines are called in lists of imports."""

    name: str = Field("", max_length=300, description="Name of the import; empty: made of what is in it.")


class QueryLineOptions(LineName):
    """How lines become queries."""

    shortest: int = Field(SHORTEST, ge=0, le=10_000, description="Characters; shorter queries are left out.")
    longest: int = Field(LONGEST, ge=1, le=100_000, description="Characters; longer queries are left out.")
    start_at: Literal["screening", "curation", "distillation"] = Field(
        "screening", description="Where the way of the queries begins."
    )


class QueryLine(BodyLine):
    """One query. Fields with other names are kept beside it."""

    text: str = Field(description="The query.")
    id: str | int | None = Field(None, description="Id in the log; made from the text where there is none.")
    count: int | None = Field(None, description="How often the log has it.")
    type: str | None = Field(None, description="One of the classes of MS MARCO.")
    yes_no: bool | None = None
    conversation: str | int | None = None
    turn: int | None = Field(None, description="Number within the conversation, from 1.")
    context_turns: list[Any] | None = Field(None, description="Earlier turns, oldest first.")
    passages: list[Any] | None = Field(None, description="Texts, or objects with text, id, title, url.")
    references: list[str] | None = Field(None, description="Answers that are known.")

    def check(self) -> None:
        """The rules of every import of queries."""
        values = self.model_dump(exclude_unset=True)
        context = values.pop("context_turns", None)
        record_of(values | {"context": context}, line=0, ordinal=0, extra={})


class Refusal(BaseModel):
    """A line that would be refused."""

    line: int
    reason: str


class QueryImportLook(BaseModel):
    """The beginning of a file as it would be read."""

    format: str
    description: str = Field(description="What the file is, in words.")
    encoding: str
    columns: list[str]
    mapping: dict[str, str] = Field(description="Field -> column.")
    sheets: list[str] = Field(description="Of a workbook.")
    records: list[dict[str, Any]] = Field(description="The first records, with the fields that they have.")
    read: int = Field(description="Lines that were looked at.")
    faults: int = Field(description="Of these, lines that would be refused.")
    refusals: list[Refusal] = Field(description="The first of them.")
    hints: list[str]
    whole: bool = Field(description="The lines that were looked at are all of the file.")


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


def stage_lines(request: ApiRequest, name: str, otherwise: str) -> StagedFile:
    """The lines of the body as an upload."""
    called = name if name.lower().endswith((".jsonl", ".ndjson")) else f"{name}.jsonl" if name else otherwise
    at = project_access(request).project
    return staged_files.stage(project=at, name=called, pieces=request.lines.pieces())


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


@uploads.post("/projects/{project}/query-imports/preview", scopes=[Scope.COLLECT], role=Role.MANAGER)
def preview_query_import(request: ApiRequest, project: str, body: QueryImportIn) -> QueryImportLook:
    """Look at the beginning of an upload with these options; nothing is stored."""
    file = staged_file(project_access(request).project, body.upload)
    file_preview = preview(file.path, name=file.name, options=body.options())
    return QueryImportLook(
        format=file_preview.format,
        description=file_preview.description,
        encoding=file_preview.encoding,
        columns=file_preview.columns,
        mapping=file_preview.mapping,
        sheets=file_preview.sheets,
        records=[
            {name: value for name, value in asdict(each).items() if value} for each in file_preview.records
        ],
        read=file_preview.read,
        faults=file_preview.faults,
        refusals=[Refusal(line=line, reason=reason) for line, reason in file_preview.refusals],
        hints=[str(each) for each in file_preview.hints],
        whole=file_preview.is_whole_file,
    )


@uploads.post(
    "/projects/{project}/query-imports/lines",
    scopes=[Scope.COLLECT],
    role=Role.MANAGER,
    status=202,
    lines=QueryLine,
)
def import_query_lines(request: ApiRequest, project: str, given: InQuery[QueryLineOptions]) -> JobRef:
    """Send queries as the body, one JSON object per line; a job imports them, all or nothing.

    Every line is checked before anything is kept: a fault names its line and field.
    """
    file = stage_lines(request, given.name, "queries.jsonl")
    given_options = given.model_dump(exclude={"name"})
    options = Options(format="jsonl", encoding="utf-8", strict=True, **given_options)
    options.check()
    payload = import_payload(request, file, asdict(options))
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
