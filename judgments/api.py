"""Operations of the API about systems and their answers, judgments, filters, agreement and scores."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Annotated, Any, Literal
from uuid import uuid4

from django.http import Http404, StreamingHttpResponse
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from annotation.api.queries import Reason
from annotation.api.uploads import Columns, HeaderRow, Sha256, import_payload, report_for, staged_file
from annotation.selectors.agreement import (
    SourceAgreement,
    agreement_by_source,
    curation_agreement,
    screening_agreement,
)
from core.api.models import Scope
from core.jobs.services import enqueue
from core.projects.selectors import Pseudonyms
from crowd.api.access import StagePermission, stage_access
from crowd.models import Stage
from crowd.selectors.pseudonyms import PERSON, PersonPseudonyms
from judgments.models import Candidate, CandidateSource, FilterRun, Judgment, System
from judgments.questionnaire.config import questionnaire_config
from judgments.questionnaire.rows import response_rows
from judgments.selectors import candidates as selectors
from judgments.selectors import scores as score_rows
from judgments.selectors.candidates import AnswerScore, Filters
from judgments.selectors.live import in_force, live
from judgments.selectors.ratings import good, scale_of, stamp_of
from judgments.selectors.scores import random_scores_caution
from judgments.services import candidates as services
from judgments.services import filter_runs, reports
from judgments.services.filter_decisions import (
    FilteringError,
    FiltersChangedError,
    NothingMissingError,
    recipe_named,
)
from judgments.services.imports import Options
from judgments.services.reports import standing
from judgments.tasks import IMPORT
from web.access import ProjectAccess
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import ROWS_AT_ONCE, JobRef, lines_of, rows_by_key, stream_lines, wants_lines
from web.api.fields import MOST_ID, Body, Cents, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError, ProblemKind
from web.api.resources import Resource

# Judgments, how far judges agree, and the human scores of candidates.

judging = Resource("Judgments, agreement and scores", permission=StagePermission)
_JUDGMENT_COLUMNS = (
    "id", "candidate_id", "candidate__system__name", "candidate__query__key", "worker__external_id",
    "worker_id", "worker__simulated", "score", "aspects", "comment", "at",
)  # fmt: skip


class FigureOut(BaseModel):
    """A number, or null with the reason."""

    value: float | None
    reason: str


class JudgmentLine(BaseModel):
    """One judge's score of one candidate."""

    id: int
    candidate_id: int
    system: str
    query_key: str
    worker: str = Field(description="The judge's pseudonym in this project.")
    person: str = Field("", description=PERSON)
    simulated: bool = Field(description="A program judged in place of a person.")
    score: float
    aspects: dict[str, Any]
    comment: str
    at: Time


class JudgmentFilters(BaseModel):
    """Which judgments."""

    counted: bool = Field(True, description="Only of work that counts; false: all.")
    kept: bool = Field(False, description="Only those that the filters in force kept.")


class ScoreLine(BaseModel):
    """The human score of a candidate."""

    candidate_id: int
    query_key: str
    query: str
    system: str
    answer: str
    n_raw: int
    n_kept: int
    mean: float | None
    sd: float | None
    median: float | None
    trimmed_mean: float | None
    score_adjusted: float | None = Field(description="Without workers' biases; null without filters.")
    simulated: bool


class ScoreFilters(BaseModel):
    """Which scores, in which order."""

    system: str = Field("", max_length=100, description="The name of a system; empty: all.")
    order: Literal["query", "mean", "sd", "n"] = Field("query", description="By which column.")
    descending: bool = Field(False, description="The greatest first.")


class SourceAgreementOut(BaseModel):
    """How far the people of one source of a stage agree."""

    source: str = Field(description="The endpoint that they came from.")
    people: int
    answers: int = Field(description="Votes of screening, or choices of passages.")
    shared: int = Field(description="Queries with two answers from this source, on which alpha rests.")
    alpha: FigureOut = Field(description="Of screening on the class of queries, of curation on the passages.")


class AgreementOut(BaseModel):
    """How far people agree in a stage now; of judging with the report, whose figures its `report` holds."""

    kind: str
    figures: dict[str, FigureOut]
    counts: dict[str, int]
    sources: list[SourceAgreementOut] = Field(
        default=[],
        description="Of screening and curation, where people came from several; of judging in the report.",
    )
    report: dict[str, Any] | None = Field(description="The newest report; null: none yet, or another kind.")
    report_is_fresh: bool
    report_job: int | None = Field(description="The job that makes another one.")
    caution: str = Field(description="Why the figures mean nothing, where they do.")


@judging.get(
    "/projects/{project}/stages/{stage}/judgments.jsonl",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    content=lines_of(JudgmentLine),
)
def export_judgments(
    request: ApiRequest, project: str, stage: str, filters: InQuery[JudgmentFilters]
) -> StreamingHttpResponse:
    """All judgments of a judging stage, one per line."""
    at = judging_stage(request)
    rows = Judgment.objects.filter(stage=at)
    if filters.counted or filters.kept:
        rows = good(rows, at)
    if filters.kept and (run := in_force(at)) is not None:
        rows = rows.filter(pk__lte=run.last_judgment).exclude(verdicts__run=run, verdicts__removes=True)
    return stream_lines(_judgment_lines(at, rows_by_key(rows.values(*_JUDGMENT_COLUMNS))))


def _judgment_lines(stage: Stage, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    unit, names = scale_of(stage).unit, Pseudonyms(stage.project)
    people = PersonPseudonyms(stage.project)
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        people.load(row["worker_id"] for row in batch)
        for row in batch:
            yield {
                "id": row["id"],
                "candidate_id": row["candidate_id"],
                "system": row["candidate__system__name"],
                "query_key": row["candidate__query__key"],
                "worker": names[row["worker__external_id"]],
                "person": people[row["worker_id"]],
                "simulated": row["worker__simulated"],
                "score": float(row["score"] * unit),
                "aspects": row["aspects"],
                "comment": row["comment"],
                "at": row["at"],
            }


@judging.get(
    "/projects/{project}/stages/{stage}/scores.jsonl",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    content=lines_of(ScoreLine),
)
def export_scores(
    request: ApiRequest, project: str, stage: str, filters: InQuery[ScoreFilters]
) -> StreamingHttpResponse:
    """Human scores of candidates: by the filters in force, or else of all judgments that count."""
    at = judging_stage(request)
    run, order = in_force(at), {"down": filters.descending}
    rows: Any
    if run is not None:
        rows = score_rows.kept_scores(run, filters.order, filters.system, **order)
    else:
        rows = score_rows.raw_scores(at, stamp_of(at), filters.order, filters.system, **order)
    return stream_lines(_score_lines(at, rows))


def _score_lines(stage: Stage, rows: Any) -> Iterator[dict[str, Any]]:
    names = tuple(ScoreLine.model_fields)
    for block in score_rows.written_scores(rows):
        simulated = score_rows.find_simulated(stage, (row[0] for row in block))
        for row in block:
            yield dict(zip(names, (*row, row[0] in simulated), strict=True))


@judging.get("/projects/{project}/stages/{stage}/agreement", scopes=[Scope.READ], role=Role.VIEWER)
def get_agreement(request: ApiRequest, project: str, stage: str) -> AgreementOut:
    """How far people agree in a stage of screening, curation or judging."""
    at = stage_access(request).stage
    if at.kind == "judging":
        return _judging_agreement(at)
    if at.kind not in ("screening", "curation"):
        raise Http404("Stages of this kind have no figures of agreement.")
    rest: dict[str, Any] = {"report": None, "report_is_fresh": False, "report_job": None, "caution": ""}
    rest["sources"] = [_describe_source(row) for row in agreement_by_source(at)]
    if at.kind == "screening":
        rows = screening_agreement(at)
        figures = {f"{row.name}.alpha": _figure(row.alpha) for row in rows}
        figures |= {f"{row.name}.percent": _figure(row.percent) for row in rows}
        counts = {"queries": rows[0].queries, "answers": rows[0].answers} if rows else {}
    else:
        agreement = curation_agreement(at)
        figures = {"alpha": _figure(agreement.alpha), "jaccard": _figure(agreement.jaccard)}
        counts = {"queries": agreement.queries, "selections": agreement.selections}
    return AgreementOut(kind=at.kind, figures=figures, counts=counts, **rest)


def _describe_source(row: SourceAgreement) -> SourceAgreementOut:
    return SourceAgreementOut(
        source=row.source,
        people=row.people,
        answers=row.answers,
        shared=row.shared,
        alpha=_figure(row.alpha),
    )


def _judging_agreement(stage: Stage) -> AgreementOut:
    now = live(stage)
    status = standing(stage, now.stamp)
    figures = {f"alpha.{level}": _figure(alpha) for level, alpha in now.alpha.items()}
    figures |= {
        "percent": _figure(now.percent),
        "icc1": _figure(now.icc),
        "icc1_k": _figure(now.icc_mean),
    }
    return AgreementOut(
        kind=stage.kind,
        figures=figures,
        counts={"judgments": now.judgments, "items": now.items, "workers": now.workers},
        sources=[],
        report=status.report or None,
        report_is_fresh=status.fresh,
        report_job=status.job.pk if status.job is not None and status.under_way else None,
        caution=random_scores_caution(stage),
    )


def _figure(source_figure: Any) -> FigureOut:
    return FigureOut(value=source_figure.value, reason=source_figure.reason)


@judging.post(
    "/projects/{project}/stages/{stage}/agreement", scopes=[Scope.DECIDE], role=Role.MANAGER, status=202
)
def make_agreement_report(request: ApiRequest, project: str, stage: str) -> JobRef:
    """Make the report on agreement from the present judgments, by a job."""
    return JobRef(job=reports.ask(stage=judging_stage(request)).pk)


def judging_stage(request: ApiRequest) -> Stage:
    """The stage that the address names, which must be one of judging."""
    stage = stage_access(request).stage
    if stage.kind != "judging":
        raise ProblemError(404, "not_found", "Only judging stages have judgments.")
    return stage


# Figures and responses of questionnaires.

questionnaires = Resource("Results of questionnaires", permission=StagePermission)


class ResultsOut(BaseModel):
    """The figures of a questionnaire, as its page and `results.json` have them."""

    report: dict[str, Any] | None = Field(
        description="Each field with counts, agreement and systems; preferences, support, nuggets and rubric "
        "where fields are of these. What is undefined is null with its reason. Null: no figures yet."
    )
    report_is_fresh: bool = Field(description="They are of the responses that count now.")
    report_job: int | None = Field(description="The job that makes others.")


class ResponseLine(BaseModel):
    """What one person answered in one field about one unit, or a part of it."""

    person: str = Field(description="The person's pseudonym in this project.")
    unit: str
    question_id: str
    system: str = Field("", description="Whose answer it is; not of pairs.")
    left: str = Field("", description="Of a pair, the system that the person saw at the left.")
    right: str = Field("", description="Of a pair, the system at the right.")
    field: str
    part: str = Field(description="Number of the sentence, nugget or turn; of a citation sentence.passage.")
    value: Any = Field(description="Of a pair the name of the system that was chosen.")
    simulated: bool
    prefilled: bool
    at: Time


@questionnaires.get("/projects/{project}/stages/{stage}/results", scopes=[Scope.READ], role=Role.VIEWER)
def get_results(request: ApiRequest, project: str, stage: str) -> ResultsOut:
    """The newest figures of a questionnaire."""
    at = _questionnaire(request)
    status = standing(at, stamp_of(at))
    return ResultsOut(
        report=status.report or None,
        report_is_fresh=status.fresh,
        report_job=status.job.pk if status.job is not None and status.under_way else None,
    )


@questionnaires.post(
    "/projects/{project}/stages/{stage}/results", scopes=[Scope.DECIDE], role=Role.MANAGER, status=202
)
def make_results(request: ApiRequest, project: str, stage: str) -> JobRef:
    """Work out the figures of the responses that count now, by a job."""
    return JobRef(job=reports.ask(stage=_questionnaire(request)).pk)


@questionnaires.get(
    "/projects/{project}/stages/{stage}/responses.jsonl",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    content=lines_of(ResponseLine),
)
def export_responses(request: ApiRequest, project: str, stage: str) -> StreamingHttpResponse:
    """All responses of a questionnaire that count, a line for each field."""
    at = _questionnaire(request)
    return stream_lines(response_rows(at, questionnaire_config(at)))


def _questionnaire(request: ApiRequest) -> Stage:
    """The stage that the address names, which must be a questionnaire."""
    stage = stage_access(request).stage
    if stage.kind != "questionnaire":
        raise ProblemError(404, "not_found", "Only questionnaires have responses.")
    return stage


# Filters of judges and judgments: previewed, applied, undone, and what they removed asked for again.

filters = Resource("Filters", permission=StagePermission)


class RecipeIn(Body):
    """A recipe, such as default, kpqa-2021, adem-2017 or none, with parameters of its rules."""

    recipe: str = Field("default", min_length=1, max_length=40)
    parameters: dict[Annotated[str, Field(max_length=60)], Any] = Field(
        default_factory=dict,
        max_length=60,
        description="Those that are left out are the recipe's (docs/quality.md).",
    )


class ApplyIn(RecipeIn):
    """A recipe to put in force."""

    seed: int = Field(0, ge=-(2**63), le=2**63 - 1, description="The random seed of the report.")
    seen: int | None = Field(
        None,
        ge=0,
        le=MOST_ID,
        description="`seen` of the preview; where other filters are in force by now: 409.",
    )


class FilterPreviewOut(BaseModel):
    """What a recipe would do now."""

    title: str
    sentence: str
    parameters: dict[str, Any] = Field(description="All of them.")
    workers: int
    ratings: int
    items: int
    removed_workers: int
    removed_ratings: int
    undetermined: int
    capped: int
    reasons: list[dict[str, Any]] = Field(description="By rule: workers and ratings that it removes.")
    missing_judgments: int
    missing_answers: int
    top_up_cents: int = Field(description="What asking again for what is missing costs, with fees.")
    currency: str
    seen: int = Field(description="The run in force now; 0: none.")


class FilterRunOut(BaseModel):
    """A run of a recipe."""

    id: int
    recipe: str
    title: str
    parameters: dict[str, Any]
    seed: int
    state: str
    counts: dict[str, Any]
    created_by: str | None
    created_at: Time
    ended_at: Time | None
    reason: str = Field(description="Why it was undone.")


class UndoIn(Body):
    """Why filters are undone."""

    reason: str = Field(min_length=1, max_length=300)


class TopUpIn(Body):
    """What the person confirmed."""

    most_cents: Cents


@filters.post(
    "/projects/{project}/stages/{stage}/filters/preview",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    atomic=False,
)
def preview_filters(request: ApiRequest, project: str, stage: str, body: RecipeIn) -> FilterPreviewOut:
    """What a recipe would remove, and what asking again would cost; nothing is changed."""
    preview = filter_runs.preview(judging_stage(request), body.recipe, body.parameters)
    same = {name: getattr(preview, name) for name in FilterPreviewOut.model_fields if hasattr(preview, name)}
    return FilterPreviewOut(
        **same
        | {
            "reasons": [asdict(each) for each in preview.reasons],
            "missing_judgments": preview.missing.judgments,
            "missing_answers": preview.missing.answers,
            "top_up_cents": preview.missing.offer.total_cents,
        }
    )


@filters.post(
    "/projects/{project}/stages/{stage}/filters", scopes=[Scope.DECIDE], role=Role.MANAGER, status=202
)
def apply_filters(request: ApiRequest, project: str, stage: str, body: ApplyIn) -> JobRef:
    """Put a recipe in force, by a job; the run before gives way. No judgment is changed or deleted."""
    at, once = judging_stage(request), uuid4().hex
    recipe_named(body.recipe, body.parameters)
    if body.seen is not None:
        filter_runs.check_seen(at, body.seen, once)
    job = filter_runs.ask_apply(
        stage=at,
        recipe=body.recipe,
        parameters=body.parameters,
        actor=request.caller.user,
        seed=body.seed,
        seen=body.seen,
        once=once,
    )
    return JobRef(job=job.pk)


@filters.get("/projects/{project}/stages/{stage}/filters", scopes=[Scope.READ], role=Role.VIEWER)
def list_filter_runs(
    request: ApiRequest, project: str, stage: str, paging: InQuery[PageRequest]
) -> Page[FilterRunOut]:
    """All runs of filters; the one `in force` decides what counts."""
    at = judging_stage(request)
    page = page_of(FilterRun.objects.filter(stage=at).select_related("created_by"), paging, within=at.pk)
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@filters.post(
    "/projects/{project}/stages/{stage}/filters/{int:number}/undo", scopes=[Scope.DECIDE], role=Role.MANAGER
)
def undo_filters(request: ApiRequest, project: str, stage: str, number: int, body: UndoIn) -> FilterRunOut:
    """Take a run out of force: all judgments that count are kept again."""
    rows = FilterRun.objects.select_related("stage__project", "created_by")
    row = rows.filter(stage=judging_stage(request), pk=number).first() if 0 < number <= MOST_ID else None
    if row is None:
        raise Http404("There is no such run.")
    return _describe(filter_runs.undo(row, body.reason, request.caller.user))


@filters.post(
    "/projects/{project}/stages/{stage}/filters/top-up",
    scopes=[Scope.PAY],
    role=Role.MANAGER,
    status=202,
    spends=True,
)
def ask_again(request: ApiRequest, project: str, stage: str, body: TopUpIn) -> JobRef:
    """Ask again for what filters removed, for at most the amount that is sent."""
    job = filter_runs.ask_top_up(
        stage=judging_stage(request),
        most_cents=body.most_cents,
        actor=request.caller.user,
        once=uuid4().hex,
    )
    return JobRef(job=job.pk)


def _describe(row: FilterRun) -> FilterRunOut:
    return FilterRunOut(
        id=row.pk,
        recipe=row.recipe,
        title=row.summary.get("title", row.recipe),
        parameters=row.parameters,
        seed=row.seed,
        state=row.state,
        counts=row.summary.get("counts", {}),
        created_by=row.created_by.get_username() if row.created_by else None,
        created_at=row.created_at,
        ended_at=row.ended_at,
        reason=row.reason,
    )


# Systems, their answers, and imports of these.

candidates = Resource("Systems and candidates")
_CANDIDATE_COLUMNS = {
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
    state: Literal["", "judge", "exact", "empty", "withdrawn"] = Field(
        "", description="judge: people judge it; else why it is set aside. Empty: all."
    )


class CandidateChanges(Body):
    """Whether people judge an answer."""

    aside: Literal["", "withdrawn"] = Field(description="Empty: it is judged, also where it was set aside.")
    reason: Reason


class CandidateImportIn(Body):
    """How a file of answers is read; the query is found by its id or its text."""

    upload: Sha256
    format: str = Field("auto", max_length=20)
    encoding: str = Field("", max_length=40)
    sheet: str = Field("", max_length=200)
    columns: Columns = Field(default_factory=dict, description="Field -> column; empty: found out.")
    header: bool | None = None
    header_row: HeaderRow = 0
    system: str = Field("", max_length=100, description="For lines that name no system.")
    systems_from: list[Annotated[str, Field(max_length=300)]] = Field(
        default_factory=list, max_length=1000, description="Columns with the answers of a system each."
    )
    strict: bool = Field(False, description="One bad line refuses the whole file.")
    keep_exact: bool = Field(False, description="Judge answers that are the same as a reference, too.")


class CandidateImportOut(BaseModel):
    """An import of answers with the report about its lines."""

    id: int
    name: str
    format: str
    sha256: str
    created_at: Time
    report: dict[str, Any]


@candidates.get("/projects/{project}/systems", scopes=[Scope.READ], role=Role.VIEWER)
def list_systems(request: ApiRequest, project: str) -> Page[SystemOut]:
    """All systems of the project; of a large one the counts may be some seconds old."""
    rows = selectors.systems(project_access(request).project)
    return Page(items=[_describe_system(row) for row in rows], next=None)


@candidates.get("/projects/{project}/candidates", scopes=[Scope.READ], role=Role.VIEWER, lines=CandidateOut)
def list_candidates(
    request: ApiRequest, project: str, filters: InQuery[CandidateFilters], paging: InQuery[PageRequest]
) -> Page[CandidateOut] | StreamingHttpResponse:
    """Answers of systems."""
    at = project_access(request)
    if wants_lines(request):
        return stream_lines(_lines(rows_by_key(_filtered(at, filters).values(*_CANDIDATE_COLUMNS))))
    rows = _filtered(at, filters).select_related("query", "system")
    page = page_of(rows, paging, key=("pk",), within=(at.project.pk, filters.model_dump_json()))
    lines = [{name: _value(row, column) for column, name in _CANDIDATE_COLUMNS.items()} for row in page.items]
    return Page(items=[CandidateOut(**each) for each in _completed(lines)], next=page.next)


@candidates.get("/projects/{project}/candidates/{int:number}", scopes=[Scope.READ], role=Role.VIEWER)
def get_candidate(request: ApiRequest, project: str, number: int) -> CandidateOut:
    """One answer by its id."""
    return _describe_candidate(_find(request, number))


@candidates.patch("/projects/{project}/candidates/{int:number}", scopes=[Scope.DECIDE], role=Role.MANAGER)
def change_candidate(request: ApiRequest, project: str, number: int, body: CandidateChanges) -> CandidateOut:
    """Take an answer out: people no longer judge it, and judgments already given stay; or put it back."""
    change = services.withdraw if body.aside else services.put_back
    change(candidate=_find(request, number), reason=body.reason, actor=request.caller.user)
    return _describe_candidate(_find(request, number))


@candidates.post(
    "/projects/{project}/candidate-imports", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202
)
def import_candidates(request: ApiRequest, project: str, body: CandidateImportIn) -> JobRef:
    """Import an upload as candidates, by a job: all of it or nothing. Existing answers stay as they are."""
    file = staged_file(project_access(request).project, body.upload)
    options = Options(**body.model_dump(exclude={"upload"}))
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


@candidates.post("/projects/{project}/candidates/human", scopes=[Scope.COLLECT], role=Role.MANAGER)
def update_human_candidates(request: ApiRequest, project: str) -> SystemOut | None:
    """Make held-out answers candidates of the system `human`."""
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


def _describe_candidate(row: Candidate) -> CandidateOut:
    columns = {name: _value(row, column) for column, name in _CANDIDATE_COLUMNS.items()}
    return CandidateOut(**next(_completed([columns])))


def _lines(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        yield from _completed(
            [{_CANDIDATE_COLUMNS[column]: value for column, value in row.items()} for row in batch]
        )


def _completed(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows with what people said about each."""
    scores = selectors.load_answer_scores(row["id"] for row in rows)
    for row in rows:
        score = scores.get(row["id"], AnswerScore())
        yield row | {"judgments": score.judgments, "mean": score.mean, "simulated": score.simulated}


def _describe_system(row: selectors.SystemCounts) -> SystemOut:
    names = [name for name in SystemOut.model_fields if name not in ("id", "name", "kind")]
    counts = {name: getattr(row, name) for name in names}
    return SystemOut(id=row.system.pk, name=row.system.name, kind=row.system.kind, **counts)


RESOURCES = (candidates, judging, questionnaires, filters)
PROBLEMS = {
    FilteringError: ProblemKind(422, "filters_refused"),
    FiltersChangedError: ProblemKind(409, "filters_changed"),
    NothingMissingError: ProblemKind(409, "nothing_missing"),
}
