"""Screening votes, candidate passages, what editors chose of them, and the sets that came of it."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.db.models import Count
from django.http import StreamingHttpResponse
from pydantic import BaseModel, Field

from annotation.api.adjudication import SELECTION_COLUMNS, VOTE_COLUMNS, ScreeningVoteOut, SelectionOut
from annotation.api.queries import find_query
from annotation.candidates import SHOWN, Recipe
from annotation.models import CuratedPassage, CuratedSet, PassageSelection, Query, ScreeningVote
from annotation.selectors.curation import recall_of
from annotation.services.candidates import provide_candidates, without_candidates
from core.api.models import Scope
from core.projects.selectors import Pseudonyms
from crowd.api.access import StagePermission, stage_access
from crowd.counted_work import counting
from crowd.models import Assignment, Stage
from crowd.selectors.pseudonyms import PersonPseudonyms
from crowd.services.stages import refuse_read_only
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import ROWS_AT_ONCE, lines_of, rows_by_key, stream_lines
from web.api.fields import Body, Time
from web.api.problems import ProblemError
from web.api.resources import Resource

curation = Resource("Curation", permission=StagePermission)


class CurationOut(BaseModel):
    """How far the queries of a project are on their way to a curated set."""

    accepted: int = Field(description="Accepted, without a curated set.")
    without_candidates: int = Field(description="Of these, for which no passages were looked for yet.")
    disputed: int = Field(description="Editors chose different passages: they wait for a person.")
    unanswerable: int
    curated: int = Field(description="With a curated set; also those that have all their answers.")
    recall: "RecallOut"


class RecallOut(BaseModel):
    """Which share of the passages that editors would choose is above the cut, from those drawn below it."""

    queries: int = Field(description="Queries whose editors saw passages from below the cut, too.")
    above: int = Field(description="Passages above the cut that editors chose.")
    below: int = Field(description="Passages from below the cut that editors chose.")
    missed: float = Field(description="Good passages below the cut, estimated.")
    recall: float | None = Field(description="null: editors chose nothing.")
    low: float | None = Field(description="Of the 95 % interval.")
    high: float | None = Field(description="Of the 95 % interval.")
    sentence: str


class CandidatesIn(Body):
    """How candidate passages of a query are found, as `manage.py candidates` has it."""

    k: int = Field(SHOWN, ge=1, le=1000, description="Passages that editors are shown.")
    below: int = Field(
        0, ge=0, le=10, description="Passages drawn from below the cut, so that recall can be estimated."
    )


#: A request without a body.
_USUAL = CandidatesIn(k=SHOWN, below=0)


class CandidatesFound(BaseModel):
    """Candidates of a query."""

    query: int = Field(description="The id of the query; `get_query` has its passages.")
    shown: int = Field(description="Passages that editors are shown; those that repeat another are not.")


class ChosenPassage(BaseModel):
    """A passage of a curated set."""

    key: str
    rank: int
    title: str
    url: str
    text: str


class CuratedLine(BaseModel):
    """The curated set of a query."""

    query_id: int
    query_key: str
    query: str
    rule: str = Field(description="single, exact, majority, person or imported.")
    stage: str | None
    decided_by: str | None = Field(description="The person who decided; null: the rule did.")
    created_at: Time
    passages: list[ChosenPassage] = Field(description="In the order in which they are shown.")


class QueryWork(BaseModel):
    """Which query a row is about."""

    id: int
    query_id: int
    query_key: str


class VoteLine(ScreeningVoteOut, QueryWork):
    """One editor's form about one query."""


class SelectionLine(SelectionOut, QueryWork):
    """One editor's choice among the candidate passages of one query."""


@curation.get("/projects/{project}/curation", scopes=[Scope.READ], role=Role.VIEWER)
def get_curation(request: ApiRequest, project: str) -> CurationOut:
    """How many queries wait for passages or for a person, or have a curated set; recall of the passages."""
    at = project_access(request).project
    counts = dict(
        Query.objects.filter(project=at).order_by().values_list("status").annotate(count=Count("pk"))
    )
    status = Query.Status
    recall = recall_of(at)
    return CurationOut(
        recall=RecallOut(**recall.as_dict(), sentence=recall.in_words),
        accepted=counts.get(status.ACCEPTED, 0),
        without_candidates=without_candidates(at).count(),
        disputed=counts.get(status.DISPUTED, 0),
        unanswerable=counts.get(status.UNANSWERABLE, 0),
        curated=counts.get(status.CURATED, 0) + counts.get(status.ANSWERED, 0),
    )


@curation.get(
    "/projects/{project}/curated.jsonl", scopes=[Scope.READ], role=Role.VIEWER, content=lines_of(CuratedLine)
)
def export_curated(request: ApiRequest, project: str) -> StreamingHttpResponse:
    """All curated sets with their passages, one query per line."""
    rows = CuratedSet.objects.filter(query__project=project_access(request).project)
    return stream_lines(_curated_lines(rows_by_key(rows.values(*_SET))))


_SET = (
    "id", "query_id", "query__key", "query__text", "rule", "stage__slug", "decided_by__username",
    "created_at",
)  # fmt: skip
_MEMBER = ("candidate__key", "candidate__rank", "candidate__title", "candidate__url", "candidate__text")


def _curated_lines(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        members: dict[int, list[dict[str, Any]]] = defaultdict(list)
        members_of_sets = CuratedPassage.objects.filter(curated_set__in=[row["id"] for row in batch])
        for each in members_of_sets.order_by("curated_set", "position").values("curated_set", *_MEMBER):
            fields = {name.removeprefix("candidate__"): each[name] for name in _MEMBER}
            members[each["curated_set"]].append(fields)
        for row in batch:
            yield {
                "query_id": row["query_id"],
                "query_key": row["query__key"],
                "query": row["query__text"],
                "rule": row["rule"],
                "stage": row["stage__slug"],
                "decided_by": row["decided_by__username"],
                "created_at": row["created_at"],
                "passages": members.get(row["id"], []),
            }


@curation.post(
    "/projects/{project}/queries/{int:number}/candidates",
    scopes=[Scope.COLLECT],
    role=Role.MANAGER,
    atomic=False,
)
def find_candidates(
    request: ApiRequest, project: str, number: int, body: CandidatesIn = _USUAL
) -> CandidatesFound:
    """Find candidate passages for a query in the project's corpora; those that it has already stay."""
    access = project_access(request)
    refuse_read_only(access.project)
    row = find_query(access, number)
    return CandidatesFound(query=row.pk, shown=provide_candidates(row, Recipe(body.k, below=body.below)))


@curation.get(
    "/projects/{project}/stages/{stage}/votes.jsonl",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    content=lines_of(VoteLine),
)
def export_votes(request: ApiRequest, project: str, stage: str) -> StreamingHttpResponse:
    """All votes of a screening stage, one per line; those that do not count are marked."""
    at = _stage_of(request, "screening", "votes")
    rows = ScreeningVote.objects.filter(stage=at)
    return stream_lines(_work_lines(at, rows_by_key(rows.values(*_WORK, *VOTE_COLUMNS))))


@curation.get(
    "/projects/{project}/stages/{stage}/selections.jsonl",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    content=lines_of(SelectionLine),
)
def export_selections(request: ApiRequest, project: str, stage: str) -> StreamingHttpResponse:
    """All choices of passages of a curation stage, one per line; those that do not count are marked."""
    at = _stage_of(request, "curation", "choices of passages")
    rows = PassageSelection.objects.filter(stage=at)
    return stream_lines(_work_lines(at, rows_by_key(rows.values(*_WORK, *SELECTION_COLUMNS))))


def _stage_of(request: ApiRequest, kind: str, rows: str) -> Stage:
    stage = stage_access(request).stage
    if stage.kind != kind:
        raise ProblemError(404, "not_found", f"Only stages of {kind} have {rows}.")
    return stage


_WORK = ("id", "query_id", "query__key", "assignment_id", "assignment__worker",
         "assignment__worker__external_id", "assignment__worker__simulated")  # fmt: skip


def _work_lines(stage: Stage, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    names, people = Pseudonyms(stage.project), PersonPseudonyms(stage.project)
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        works = {row["assignment_id"] for row in batch}
        people.load(row["assignment__worker"] for row in batch)
        counted = set(Assignment.objects.filter(counting(), pk__in=works).values_list("pk", flat=True))
        for row in batch:
            work = row.pop("assignment_id")
            worker = names[row.pop("assignment__worker__external_id")]
            yield {
                "id": row.pop("id"),
                "query_id": row.pop("query_id"),
                "query_key": row.pop("query__key"),
                "assignment": work,
                "stage": stage.slug,
                "worker": worker,
                "person": people[row.pop("assignment__worker")],
                "simulated": row.pop("assignment__worker__simulated"),
                "counts": work in counted,
                **row,
            }
