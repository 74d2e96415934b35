"""What people wrote, what the checks noticed about it, and decisions of reviewers."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any, Literal

from django.db.models import Exists, OuterRef, QuerySet
from django.http import StreamingHttpResponse
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from annotation.models import Answer, AnswerFlag, HeldOutWorker
from annotation.services import review_decisions
from annotation.writing_config import WRITING_KINDS
from core.api.models import Scope
from core.projects.models import Project
from core.projects.selectors import Pseudonyms
from crowd.api.access import StagePermission, stage_access
from crowd.errors import CrowdError
from crowd.models import Stage
from crowd.selectors.pseudonyms import PERSON, PersonPseudonyms
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import ROWS_AT_ONCE, rows_by_key, stream_lines, wants_lines
from web.api.fields import MOST_ID, Body, Id, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

answers = Resource("Answers", permission=StagePermission)
#: Answers that one request decides about.
MOST_AT_ONCE = 200
_COLUMNS = (
    "id",
    "query_id",
    "text",
    "opinion",
    "entities",
    "state",
    "revises_id",
    "created_at",
    "checked_at",
)
_BESIDE = {
    "query__key": "query_key", "query__text": "query", "worker__external_id": "worker",
    "worker__simulated": "simulated", "worker_id": "person",
}  # fmt: skip


class FlagOut(BaseModel):
    """Something that a check noticed."""

    name: str
    value: float | None
    limit: float | None
    evidence: dict[str, Any]


class AnswerOut(BaseModel):
    """One answer of one person to one query."""

    id: int
    query_id: int
    query_key: str
    query: str
    worker: str = Field(description="The worker's pseudonym in this project.")
    person: str = Field("", description=PERSON)
    simulated: bool = Field(description="A program wrote it in place of a person.")
    text: str
    opinion: str
    entities: list[Any]
    state: str
    revises_id: int | None = Field(description="The answer that it was written in place of.")
    held_out: bool = Field(description="No reference, but a candidate of the system `human`.")
    created_at: Time
    checked_at: Time | None
    flags: list[FlagOut]


class AnswerFilters(BaseModel):
    """Which answers; filters that are left out take all."""

    state: Literal["", "undecided", "approved", "rewrite", "excluded", "replaced"] = Field(
        "", description="What reviewers decided; empty: all."
    )
    flagged: bool | None = Field(None, description="Only those with flags, or only those without.")
    query: int = Field(0, ge=0, le=MOST_ID, description="The id of a query.")


class AnswerDecisions(Body):
    """One decision about up to 200 answers of a stage."""

    ids: list[Id] = Field(min_length=1, max_length=MOST_AT_ONCE)
    action: Literal["approve", "rewrite", "exclude", "reopen"]
    reason: str = Field("", max_length=300, description="Needed to exclude, and to ask for a rewrite.")
    reject_work: bool = Field(False, description="With exclude: its work is rejected, too, and not paid.")


class RefusedAnswer(BaseModel):
    """An answer that stays as it was, and why."""

    id: int
    why: str


class AnswerOutcome(BaseModel):
    """Ids that were decided about, and the others with the reason; together they are those that were sent."""

    done: list[int]
    refused: list[RefusedAnswer]


class HoldOutIn(Body):
    """How many people of each query are set aside as the system `human`."""

    people: int = Field(ge=1, le=1000)
    seed: int = Field(ge=-(2**63), le=2**63 - 1)


class HoldOutOut(BaseModel):
    """How many queries got people held out, and how many have too few answers."""

    queries: int
    too_few: int


@answers.get(
    "/projects/{project}/stages/{stage}/answers",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    lines=AnswerOut,
)
def list_answers(
    request: ApiRequest,
    project: str,
    stage: str,
    filters: InQuery[AnswerFilters],
    paging: InQuery[PageRequest],
) -> Page[AnswerOut] | StreamingHttpResponse:
    """Answers of a stage in which people write, with their flags."""
    at = _writing(request)
    if wants_lines(request):
        lines = _filtered(at, filters).values(*_COLUMNS, *_BESIDE)
        return stream_lines(_lines(at.project, rows_by_key(lines)))
    rows = _filtered(at, filters).select_related("query", "worker")
    page = page_of(rows, paging, key=("pk",), within=(at.pk, filters.model_dump_json()))
    columns = [_columns(row) for row in page.items]
    return Page(items=[AnswerOut(**each) for each in _completed(at.project, columns)], next=page.next)


@answers.post(
    "/projects/{project}/stages/{stage}/answers/decisions",
    scopes=[Scope.DECIDE, Scope.PAY],
    role=Role.MANAGER,
    atomic=False,
)
def decide_answers(request: ApiRequest, project: str, stage: str, body: AnswerDecisions) -> AnswerOutcome:
    """Approve, exclude, ask for a rewrite, or take a decision back; each answer for itself.

    With the decision about the last answer of work that waits for a person, the work is approved and paid.
    """
    at, actor = _writing(request), stage_access(request).user
    if body.action in ("rewrite", "exclude") and not body.reason.strip():
        sentence = "Say why in a few words: the worker or your colleagues read it."
        raise ProblemError(422, "invalid", f"reason: {sentence}", errors={"reason": [sentence]})
    rows = Answer.objects.filter(stage=at, pk__in=body.ids)
    answers_by_id = {row.pk: row for row in rows.select_related("query", "worker", "assignment__stage")}
    outcome = AnswerOutcome(done=[], refused=[])
    for pk in dict.fromkeys(body.ids):
        row = answers_by_id.get(pk)
        if row is None:
            outcome.refused.append(RefusedAnswer(id=pk, why="There is no such answer in this stage."))
            continue
        row.stage = at
        try:
            _decide(row, body, actor)
        except CrowdError as error:
            outcome.refused.append(RefusedAnswer(id=pk, why=str(error)))
        else:
            outcome.done.append(pk)
    return outcome


def _decide(row: Answer, body: AnswerDecisions, actor: Any) -> None:
    arguments: dict[str, Any] = {"answer": row, "actor": actor, "seen": row.state}
    if body.action == "approve":
        review_decisions.approve(**arguments)
    elif body.action == "rewrite":
        review_decisions.ask_rewrite(**arguments, reason=body.reason)
    elif body.action == "exclude":
        review_decisions.exclude(**arguments, reason=body.reason, reject_work=body.reject_work)
    else:
        review_decisions.reopen(**arguments)


@answers.post("/projects/{project}/hold-out", scopes=[Scope.DECIDE], role=Role.MANAGER, atomic=False)
def hold_out(request: ApiRequest, project: str, body: HoldOutIn) -> HoldOutOut:
    """Draw people whose answers become candidates instead of references; a query is drawn for once."""
    access = project_access(request)
    counts = review_decisions.draw(
        project=access.project, people=body.people, seed=body.seed, actor=access.user
    )
    return HoldOutOut(queries=counts.queries, too_few=counts.too_few)


def _writing(request: ApiRequest) -> Stage:
    stage = stage_access(request).stage
    if stage.kind not in WRITING_KINDS:
        raise ProblemError(404, "not_found", "Only stages in which people write have answers.")
    return stage


def _filtered(stage: Stage, filters: AnswerFilters) -> QuerySet[Answer]:
    rows = Answer.objects.filter(stage=stage)
    if filters.state:
        rows = rows.filter(state=filters.state)
    if filters.query:
        rows = rows.filter(query=filters.query)
    if filters.flagged is not None:
        flags = Exists(AnswerFlag.objects.filter(answer=OuterRef("pk")))
        rows = rows.filter(flags if filters.flagged else ~flags)
    return rows


def _columns(row: Answer) -> dict[str, Any]:
    columns = {name: getattr(row, name) for name in _COLUMNS}
    return columns | {
        "query__key": row.query.key,
        "query__text": row.query.text,
        "worker__external_id": row.worker.external_id,
        "worker__simulated": row.worker.simulated,
        "worker_id": row.worker_id,
    }


def _lines(project: Project, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        yield from _completed(project, batch)


def _completed(project: Project, rows: Collection[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows with their flags, and whether each is held out."""
    flags: dict[int, list[dict[str, Any]]] = defaultdict(list)
    names = ("answer_id", "name", "value", "limit", "evidence")
    for each in (
        AnswerFlag.objects.filter(answer__in=[row["id"] for row in rows]).order_by("pk").values(*names)
    ):
        flags[each.pop("answer_id")].append(each)
    queries = {row["query_id"] for row in rows}
    held_out_rows = HeldOutWorker.objects.filter(query__in=queries)
    aside = list(held_out_rows.values_list("query", "worker"))
    pseudonyms, people = Pseudonyms(project), PersonPseudonyms(project)
    people.load([*(row["worker_id"] for row in rows), *(worker for _, worker in aside)])
    held_out = {(query, people[worker]) for query, worker in aside}
    for row in rows:
        person = people[row["worker_id"]]
        line = {_BESIDE.get(name, name): value for name, value in row.items()}
        line["worker"], line["person"] = pseudonyms[row["worker__external_id"]], person
        line["held_out"] = (row["query_id"], person) in held_out
        yield line | {"flags": flags.get(row["id"], [])}
