"""Systems, their answers, and imports of these."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any, Literal
from uuid import uuid4

from django.http import Http404, StreamingHttpResponse
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from annotation.api.queries import ReasonIn
from annotation.api.uploads import (
    Columns,
    LineName,
    Sha256,
    import_payload,
    report_for,
    stage_lines,
    staged_file,
)
from core.api.models import Scope
from core.files.refusals import BadFieldError
from core.jobs.services import enqueue
from judgments.importing.rows import LONGEST_SYSTEM, RowRefusedError, row_of
from judgments.models import Candidate, CandidateSource, System
from judgments.selectors import candidates as selectors
from judgments.selectors.candidates import AnswerScore, Filters
from judgments.services import candidates as services
from judgments.services.importing import Options
from judgments.tasks import IMPORT
from web.access import ProjectAccess
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import JobRef
from web.api.fields import MOST_ID, Body, Time
from web.api.linebodies import BodyLine
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource
from web.api.streams import PIECE, lines_of, rows_by_key, stream_lines

candidates = Resource("Systems and candidates")
_COLUMNS = {
    "id": "id", "query_id": "query_id", "query__key": "query_key", "query__text": "query",
    "system__name": "system", "text": "text", "opinion": "opinion", "entities": "entities", "aside": "aside",
    "aside_reason": "aside_reason", "line": "line", "created_at": "created_at",
}  # fmt: skip


class SystemOut(BaseModel):
    """Something that answers queries, with what became of its answers."""

    id: int
    name: str
    kind: str = Field(description="program, or human: answers of people that were held out.")
    answers: int
    to_judge: int
    exact: int = Field(description="Set aside: the same as a reference.")
    empty: int = Field(description="Set aside: the system gave no answer.")
    withdrawn: int
    query_out: int = Field(description="Their query is out.")
    judged: int
    judgments: int
    mean: float | None = Field(description="Mean human score by the filters in force, or of imported ones.")


class CandidateOut(BaseModel):
    """One answer of one system."""

    id: int
    query_id: int
    query_key: str
    query: str
    system: str
    text: str
    opinion: str
    entities: list[Any]
    aside: str = Field(description="Why it is not judged; empty: it is.")
    aside_reason: str
    line: int | None
    judgments: int
    mean: float | None
    simulated: bool = Field(description="A program gave a judgment or the score in place of a person.")
    created_at: Time


class CandidateFilters(BaseModel):
    """Which candidates; filters that are left out take all."""

    system: str = Field("", max_length=100, description="The name of a system.")
    query: int = Field(0, ge=0, le=MOST_ID, description="The id of a query.")
    state: Literal["", "judge", "exact", "empty", "withdrawn"] = ""


class CandidateImportIn(Body):
    """How a file of answers is read; the query is found by its id or its text."""

    upload: Sha256
    format: str = Field("auto", max_length=20)
    encoding: str = Field("", max_length=40)
    columns: Columns = Field(default_factory=dict, description="Field -> column; empty: found out.")
    header: bool | None = None
    system: str = Field("", max_length=100, description="For lines that name no system.")
    strict: bool = Field(False, description="One bad line refuses the whole file.")
    keep_exact: bool = Field(False, description="Judge answers that are the same as a reference, too.")


class CandidateLineOptions(LineName):
    """How lines become candidates."""

    keep_exact: bool = Field(False, description="Judge answers that are the same as a reference, too.")


class CandidateLine(BodyLine):
    """One answer of one system. The query is named by its id in the log or by its text."""

    query_id: str | int | None = None
    query: str | None = None
    system: str = Field(min_length=1, max_length=LONGEST_SYSTEM)
    text: str = Field(description="The answer; empty: the system gave none.")
    opinion: str | None = Field(None, description="Of a yes-no answer.")
    entities: list[Any] | None = Field(None, description="Parts of the answer.")
    context_turns: list[Any] | None = Field(None, description="Earlier turns, oldest first.")

    def check(self) -> None:
        """The rules of every import of answers."""
        values = self.model_dump(exclude_unset=True)
        context = values.pop("context_turns", None)
        try:
            row_of(values | {"context": context}, line=0)
        except RowRefusedError as error:
            raise BadFieldError(str(error), error.field) from error


class CandidateImportOut(BaseModel):
    """An import of answers with the report about its lines."""

    id: int
    name: str
    format: str
    sha256: str
    created_at: Time
    report: dict[str, Any]


class CandidateCount(BaseModel):
    """How many answers were changed."""

    candidates: int


@candidates.get("/projects/{project}/systems", scopes=[Scope.READ], role=Role.VIEWER)
def list_systems(request: ApiRequest, project: str) -> Page[SystemOut]:
    """All systems of the project; of a large one the counts may be some seconds old."""
    rows = selectors.systems(project_access(request).project)
    return Page(items=[_describe_system(row) for row in rows], next=None)


@candidates.get("/projects/{project}/candidates", scopes=[Scope.READ], role=Role.VIEWER)
def list_candidates(
    request: ApiRequest, project: str, filters: InQuery[CandidateFilters], paging: InQuery[PageRequest]
) -> Page[CandidateOut]:
    """Answers of systems."""
    at = project_access(request)
    rows = _filtered(at, filters).select_related("query", "system")
    page = page_of(rows, paging, key=("pk",), within=(at.project.pk, filters.model_dump_json()))
    found = [{name: _value(row, column) for column, name in _COLUMNS.items()} for row in page.items]
    return Page(items=[CandidateOut(**each) for each in _completed(found)], next=page.next)


@candidates.get(
    "/projects/{project}/candidates.jsonl",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    content=lines_of(CandidateOut),
)
def export_candidates(
    request: ApiRequest, project: str, filters: InQuery[CandidateFilters]
) -> StreamingHttpResponse:
    """All answers of the filters, one per line."""
    rows = _filtered(project_access(request), filters).values(*_COLUMNS)
    return stream_lines(_lines(rows_by_key(rows)))


@candidates.get("/projects/{project}/candidates/{int:number}", scopes=[Scope.READ], role=Role.VIEWER)
def get_candidate(request: ApiRequest, project: str, number: int) -> CandidateOut:
    """One answer by its id."""
    return _describe(_find(request, number))


@candidates.post(
    "/projects/{project}/candidates/{int:number}/withdraw", scopes=[Scope.DECIDE], role=Role.MANAGER
)
def withdraw_candidate(request: ApiRequest, project: str, number: int, body: ReasonIn) -> CandidateOut:
    """Take an answer out: no more judgments are asked for it; those already given stay."""
    services.withdraw(candidate=_find(request, number), reason=body.reason, actor=request.caller.user)
    return _describe(_find(request, number))


@candidates.post(
    "/projects/{project}/candidates/{int:number}/put-back", scopes=[Scope.DECIDE], role=Role.MANAGER
)
def put_candidate_back(request: ApiRequest, project: str, number: int, body: ReasonIn) -> CandidateOut:
    """Have an answer judged that was set aside or taken out."""
    services.put_back(candidate=_find(request, number), reason=body.reason, actor=request.caller.user)
    return _describe(_find(request, number))


@candidates.post(
    "/projects/{project}/candidate-imports", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202
)
def import_candidates(request: ApiRequest, project: str, body: CandidateImportIn) -> JobRef:
    """Have an upload become candidates, by a job; all of it or nothing. What is there stays as it is."""
    file = staged_file(project_access(request).project, body.upload)
    options = Options(**body.model_dump(exclude={"upload"}))
    payload = import_payload(request, file, asdict(options))
    effect = f"candidates:{payload['project']}:{uuid4().hex}"
    return JobRef(job=enqueue(kind=IMPORT, payload=payload, effect=effect).pk)


@candidates.post(
    "/projects/{project}/candidate-imports/lines",
    scopes=[Scope.COLLECT],
    role=Role.MANAGER,
    status=202,
    lines=CandidateLine,
)
def import_candidate_lines(request: ApiRequest, project: str, given: InQuery[CandidateLineOptions]) -> JobRef:
    """Send answers of systems as the body, one JSON object per line; a job imports them, all or nothing.

    Every line is checked before anything is kept: a fault names its line and field. What is there stays as
    it is.
    """
    file = stage_lines(request, given.name, "answers.jsonl")
    options = Options(format="jsonl", encoding="utf-8", strict=True, keep_exact=given.keep_exact)
    payload = import_payload(request, file, asdict(options))
    effect = f"candidates:{payload['project']}:{uuid4().hex}"
    return JobRef(job=enqueue(kind=IMPORT, payload=payload, effect=effect).pk)


@candidates.get("/projects/{project}/candidate-imports", scopes=[Scope.READ], role=Role.VIEWER)
def list_candidate_imports(
    request: ApiRequest, project: str, paging: InQuery[PageRequest]
) -> Page[CandidateImportOut]:
    """Imports of answers with their reports."""
    access = project_access(request)
    page = page_of(CandidateSource.objects.filter(project=access.project), paging, within=access.project.pk)
    items = [
        CandidateImportOut(
            id=row.pk,
            name=row.name,
            format=row.format,
            sha256=row.sha256,
            created_at=row.created_at,
            report=report_for(row.report, with_texts=access.manages),
        )
        for row in page.items
    ]
    return Page(items=items, next=page.next)


@candidates.post("/projects/{project}/candidates/copies", scopes=[Scope.DECIDE], role=Role.MANAGER)
def set_copies_aside(request: ApiRequest, project: str) -> CandidateCount:
    """Set aside answers that are now the same as a reference. Judged and kept ones stay as they are."""
    access = project_access(request)
    return CandidateCount(candidates=services.refresh_exact(access.project, actor=access.user))


@candidates.post(
    "/projects/{project}/systems/{int:system}/keep-copies", scopes=[Scope.DECIDE], role=Role.MANAGER
)
def keep_copies(request: ApiRequest, project: str, system: int, body: ReasonIn) -> CandidateCount:
    """Have all of a system's answers judged that were set aside as copies of a reference."""
    access = project_access(request)
    rows = System.objects.select_related("project").filter(project=access.project, pk=system)
    row = rows.first() if 0 < system <= MOST_ID else None
    if row is None:
        raise Http404("There is no such system in this project.")
    count = services.put_back_copies(system=row, reason=body.reason, actor=access.user)
    return CandidateCount(candidates=count)


@candidates.post("/projects/{project}/candidates/human", scopes=[Scope.COLLECT], role=Role.MANAGER)
def update_human_candidates(request: ApiRequest, project: str) -> SystemOut | None:
    """Have held-out answers be the candidates of the system `human`."""
    access = project_access(request)
    services.human_candidates(access.project, actor=access.user)
    system = System.objects.filter(project=access.project, kind=System.Kind.HUMAN).first()
    if system is None:
        return None
    (row,) = selectors.systems(access.project, system)
    return _describe_system(row)


def _find(request: ApiRequest, number: int) -> Candidate:
    access = project_access(request)
    rows = Candidate.objects.select_related("query", "system").filter(system__project=access.project)
    row = rows.filter(pk=number).first() if 0 < number <= MOST_ID else None
    if row is None:
        raise Http404("There is no such candidate.")
    row.system.project = access.project
    return row


def _filtered(access: ProjectAccess, filters: CandidateFilters) -> Any:
    rows = Candidate.objects.filter(system__project=access.project)
    if filters.system:
        system = System.objects.filter(project=access.project, name=filters.system).first()
        if system is None:
            raise Http404("There is no such system.")
        system.project = access.project
        rows = selectors.rows(system, Filters(state=filters.state)).order_by()
    elif filters.state == "judge":
        rows = rows.filter(pk__in=selectors.to_judge(access.project).values("pk"))
    elif filters.state:
        rows = rows.filter(aside=filters.state)
    return rows.filter(query=filters.query) if filters.query else rows


def _value(row: Any, column: str) -> Any:
    for part in column.split("__"):
        row = getattr(row, part)
    return row


def _describe(row: Candidate) -> CandidateOut:
    columns = {name: _value(row, column) for column, name in _COLUMNS.items()}
    return CandidateOut(**next(_completed([columns])))


def _lines(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    while some := list(islice(rows, PIECE)):
        yield from _completed([{_COLUMNS[column]: value for column, value in row.items()} for row in some])


def _completed(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows with what people said about each."""
    said = selectors.load_answer_scores(row["id"] for row in rows)
    for row in rows:
        score = said.get(row["id"], AnswerScore())
        yield row | {"judgments": score.judgments, "mean": score.mean, "simulated": score.simulated}


def _describe_system(row: selectors.SystemCounts) -> SystemOut:
    names = [name for name in SystemOut.model_fields if name not in ("id", "name", "kind")]
    counts = {name: getattr(row, name) for name in names}
    return SystemOut(id=row.system.pk, name=row.system.name, kind=row.system.kind, **counts)
