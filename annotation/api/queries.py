"""Queries: lists, one with its way, and decisions about them by hand."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Annotated, Any, Literal

from django.http import Http404, StreamingHttpResponse
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from annotation.models import Query
from annotation.selectors import queries as selectors
from annotation.selectors.queries import ONLY, STATUSES, TYPES, Filters, History, history
from annotation.selectors.query_progress import NOTHING, Progress, progress, with_progress
from annotation.services import queries as services
from core.api.models import Scope
from core.projects.models import Project
from web.access import ProjectAccess
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import rows_by_key, stream_lines, wants_lines
from web.api.fields import MOST_ID, Body, Id, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

queries = Resource("Queries")
#: Columns of a query that its own rows hold.
_COLUMNS = (
    "id", "key", "text", "status", "status_reason", "by_hand", "type", "yes_no", "count", "stratum", "weight",
    "conversation", "turn", "context", "references", "line",
)  # fmt: skip
Reason = Annotated[str, Field(min_length=1, max_length=300, description="Stays in the query's history.")]


class QueryOut(BaseModel):
    """A query, and how much people have said about it so far."""

    id: int
    key: str = Field(description="Its id in the log, or made from its text.")
    text: str
    status: str
    status_reason: str
    by_hand: bool = Field(description="A person accepted or excluded it.")
    type: str
    yes_no: bool
    count: int = Field(description="How often the log has it.")
    stratum: str
    weight: float = Field(description="1 / probability of being in the sample.")
    conversation: str
    turn: int | None
    context: list[dict[str, Any]] = Field(description="Earlier turns, oldest first: {text, answer?}.")
    references: list[Any] = Field(description="Answers that came with the query.")
    source: str = Field(description="The file of its import.")
    line: int | None
    screening_votes: int = Field(description="Votes that count.")
    selections: int = Field(description="Choices of passages that count.")
    answers: int = Field(description="Answers that count.")


class QueryFilters(BaseModel):
    """Which queries; filters that are left out take all."""

    status: Annotated[str, OneOf(STATUSES)] = Field("", description="How far they are.")
    type: Annotated[str, OneOf(TYPES)] = Field("", description="Class of the query.")
    only: Annotated[str, OneOf(ONLY)] = Field("", description="Only those of which this is true.")
    source: int = Field(0, ge=0, le=MOST_ID, description="The id of an import.")
    q: str = Field("", max_length=200, description="Words of the text, or the key.")

    def to_filters(self) -> Filters:
        """As the table of the desk takes them."""
        return Filters.of({**self.model_dump(), "source": str(self.source or "")})


class PassageOut(BaseModel):
    """A candidate passage of a query."""

    key: str
    rank: int
    score: float | None
    origin: str = Field(description="imported, or index:CORPUS.")
    title: str
    url: str
    text: str
    position: int | None = Field(description="Its place in the curated set; null: not in it.")
    folded: bool = Field(description="It repeats a better ranked one and is not shown.")


class StepOut(BaseModel):
    """One step of a query's way."""

    at: Time
    before: str
    after: str
    reason: str
    actor: str | None = Field(description="null: the rule decided.")
    stage: str | None


class QueryDetails(QueryOut):
    """A query with its passages and its way."""

    passages: list[PassageOut]
    steps: list[StepOut]


class QueryDecisions(Body):
    """A decision by hand about up to 200 queries."""

    ids: list[Id] = Field(min_length=1, max_length=services.MOST_AT_ONCE)
    decision: Literal["accept", "exclude", "take_back", "withdraw", "put_back"] = Field(
        description="take_back: of a person's decision; withdraw: people are no longer asked about it, and "
        "work already done stays and is paid; put_back: as it was before it was withdrawn."
    )
    reason: Reason


class RefusedQuery(BaseModel):
    """A query that could not be decided about, and why."""

    text: str
    why: str


class DecisionOutcome(BaseModel):
    """How many were decided about; the others with the reason. Ids of no query of the project are neither."""

    done: int
    refused: list[RefusedQuery]


@queries.get("/projects/{project}/queries", scopes=[Scope.READ], role=Role.VIEWER, lines=QueryOut)
def list_queries(
    request: ApiRequest, project: str, filters: InQuery[QueryFilters], paging: InQuery[PageRequest]
) -> Page[QueryOut] | StreamingHttpResponse:
    """The queries of the project, in the order of their import."""
    at = project_access(request).project
    if wants_lines(request):
        matching = selectors.rows(at, filters.to_filters()).select_related(None)
        return stream_lines(_lines(at, rows_by_key(matching.values(*_COLUMNS, "source__name"))))
    rows = selectors.rows(at, filters.to_filters()).order_by()
    page = page_of(rows, paging, key=("pk",), within=(at.pk, filters.model_dump_json()))
    done = progress(row.pk for row in page.items)
    items = [QueryOut(**_columns(row) | _counts(done.get(row.pk))) for row in page.items]
    return Page(items=items, next=page.next)


def _lines(project: Project, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for batch, done in with_progress(project, rows, itemgetter("id")):
        for row, counts in zip(batch, done, strict=True):
            row["source"] = row.pop("source__name")
            yield row | _counts(counts)


@queries.get("/projects/{project}/queries/{int:number}", scopes=[Scope.READ], role=Role.VIEWER)
def get_query(request: ApiRequest, project: str, number: int) -> QueryDetails:
    """One query by its id, with its passages and its history from the log to its answers."""
    return _details(project_access(request), number)


@queries.post("/projects/{project}/queries/decisions", scopes=[Scope.DECIDE], role=Role.MANAGER)
def decide_queries(request: ApiRequest, project: str, body: QueryDecisions) -> DecisionOutcome:
    """Accept, exclude or withdraw queries by hand, or take that back, each for itself."""
    access = project_access(request)
    outcome = services.decide_chosen(
        project=access.project,
        queries=body.ids,
        decision=body.decision,
        reason=body.reason,
        actor=access.user,
    )
    refused = [RefusedQuery(text=text, why=why) for text, why in outcome.refused]
    return DecisionOutcome(done=len(outcome.done), refused=refused)


def find_query(access: ProjectAccess, number: int) -> Query:
    """A query of the project by its id."""
    rows = selectors.of_project(access.project).select_related("source")
    row = rows.filter(pk=number).first() if 0 < number <= MOST_ID else None
    if row is None:
        raise Http404("There is no such query.")
    row.project = access.project
    return row


def _details(access: ProjectAccess, number: int) -> QueryDetails:
    row = find_query(access, number)
    query_history = history(row)
    done = progress([row.pk]).get(row.pk)
    return QueryDetails(**_columns(row) | _counts(done) | _way(query_history))


def _way(query_history: History) -> dict[str, Any]:
    return {
        "passages": [
            PassageOut(
                key=each.passage.key,
                rank=each.passage.rank,
                score=each.passage.score,
                origin=each.passage.origin,
                title=each.passage.title,
                url=each.passage.url,
                text=each.passage.text,
                position=each.curated,
                folded=each.folded,
            )
            for each in query_history.candidates
        ],
        "steps": [
            StepOut(
                at=step.at,
                before=step.before,
                after=step.after,
                reason=step.reason,
                actor=step.actor.get_username() if step.actor else None,
                stage=step.stage.slug if step.stage else None,
            )
            for step in query_history.steps
        ],
    }


def _columns(row: Query) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _COLUMNS} | {"source": row.source.name}


def _counts(done: Progress | None) -> dict[str, Any]:
    done = done or NOTHING
    return {"screening_votes": done.votes, "selections": done.selections, "answers": done.answers}
