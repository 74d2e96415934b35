"""Judgments, how far judges agree, and the human scores of candidates."""

from collections.abc import Iterator
from typing import Any, Literal

from django.http import Http404, StreamingHttpResponse
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from annotation.selectors.agreement import curation_agreement, screening_agreement
from core.api.models import Scope
from core.projects.selectors import Pseudonyms
from crowd.api.access import StagePermission, stage_access
from crowd.models import Stage
from judgments.models import Judgment
from judgments.selectors import scores as score_rows
from judgments.selectors.live import in_force, live
from judgments.selectors.ratings import good, scale_of
from judgments.selectors.reports import standing
from judgments.selectors.scores import random_scores_caution
from judgments.selectors.stamps import stamp_for_pages
from judgments.services import reports
from web.api.access import ApiRequest, Role
from web.api.bodies import JobRef
from web.api.fields import Time
from web.api.problems import ProblemError
from web.api.resources import Resource
from web.api.streams import lines_of, rows_by_key, stream_lines

judging = Resource("Judgments, agreement and scores", permission=StagePermission)
_COLUMNS = (
    "id", "candidate_id", "candidate__system__name", "candidate__query__key", "worker__external_id",
    "worker__simulated", "score", "aspects", "comment", "at",
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

    system: str = Field("", max_length=100)
    order: Literal["query", "mean", "sd", "n"] = "query"
    descending: bool = False


class AgreementOut(BaseModel):
    """How far people agree in a stage now; of judging with the report, whose figures its `report` holds."""

    kind: str
    figures: dict[str, FigureOut]
    counts: dict[str, int]
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
    return stream_lines(_judgment_lines(at, rows_by_key(rows.values(*_COLUMNS))))


def _judgment_lines(stage: Stage, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    unit, names = scale_of(stage).unit, Pseudonyms(stage.project)
    for row in rows:
        yield {
            "id": row["id"],
            "candidate_id": row["candidate_id"],
            "system": row["candidate__system__name"],
            "query_key": row["candidate__query__key"],
            "worker": names[row["worker__external_id"]],
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
        rows = score_rows.raw_scores(at, stamp_for_pages(at), filters.order, filters.system, **order)
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
    nothing: dict[str, Any] = {"report": None, "report_is_fresh": False, "report_job": None, "caution": ""}
    if at.kind == "screening":
        rows = screening_agreement(at)
        figures = {f"{row.name}.alpha": _figure(row.alpha) for row in rows}
        figures |= {f"{row.name}.percent": _figure(row.percent) for row in rows}
        counts = {"queries": rows[0].queries, "answers": rows[0].answers} if rows else {}
        return AgreementOut(kind=at.kind, figures=figures, counts=counts, **nothing)
    if at.kind == "curation":
        found = curation_agreement(at)
        figures = {"alpha": _figure(found.alpha), "jaccard": _figure(found.jaccard)}
        counts = {"queries": found.queries, "selections": found.selections}
        return AgreementOut(kind=at.kind, figures=figures, counts=counts, **nothing)
    raise Http404("Stages of this kind have no figures of agreement.")


def _judging_agreement(stage: Stage) -> AgreementOut:
    now = live(stage)
    made = standing(stage, now.stamp)
    figures = {f"alpha.{level}": _figure(found) for level, found in now.alpha.items()}
    figures |= {
        "percent": _figure(now.percent),
        "icc1": _figure(now.icc),
        "icc1_k": _figure(now.icc_mean),
    }
    return AgreementOut(
        kind=stage.kind,
        figures=figures,
        counts={"judgments": now.judgments, "items": now.items, "workers": now.workers},
        report=made.report or None,
        report_is_fresh=made.fresh,
        report_job=made.job.pk if made.job is not None and made.under_way else None,
        caution=random_scores_caution(stage),
    )


def _figure(found: Any) -> FigureOut:
    return FigureOut(value=found.value, reason=found.reason)


@judging.post(
    "/projects/{project}/stages/{stage}/agreement", scopes=[Scope.DECIDE], role=Role.MANAGER, status=202
)
def make_agreement_report(request: ApiRequest, project: str, stage: str) -> JobRef:
    """Have the report on agreement made of the judgments as they are now."""
    return JobRef(job=reports.ask(stage=judging_stage(request)).pk)


def judging_stage(request: ApiRequest) -> Stage:
    """The stage that the address names, which must be one of judging."""
    stage = stage_access(request).stage
    if stage.kind != "judging":
        raise ProblemError(404, "not_found", "Only judging stages have judgments.")
    return stage
