"""Queries that wait for a person: their list, one with everything that was said about it, and decisions."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from django.http import StreamingHttpResponse
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from annotation.api.queries import find_query
from annotation.models import CuratedPassage, Doubt, PassageSelection, Query, ScreeningVote
from annotation.selectors import curation as selectors
from annotation.selectors.curation import CurationVotes
from annotation.services import curation
from annotation.services import queries as services
from annotation.services import steps as doubts
from core.api.models import Scope
from core.projects.models import Project
from core.projects.selectors import Pseudonyms
from crowd.counted_work import counts
from crowd.models import Assignment
from crowd.selectors.pseudonyms import PERSON, PersonPseudonyms
from web.access import ProjectAccess
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import rows_by_key, stream_lines, wants_lines
from web.api.fields import Body, Id, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource

adjudication = Resource("Adjudication")
_LIST = "/projects/{project}/adjudication"
_ONE = f"{_LIST}/{{int:number}}"
#: Why a query waits, as addresses of the desk name it.
Waiting = Literal["tied", "one-flag", "disputed", "doubt"]
_WHY = (
    "tied: as many editors accept as exclude it; one-flag: one editor's flag excluded it; disputed: editors "
    "chose different passages; doubt: it was decided on work that no longer counts."
)
_LONGEST_KEY = 200


class AdjudicationFilters(BaseModel):
    """Which queries; without filters all that wait."""

    waiting: Literal["", "tied", "one-flag", "disputed", "doubt"] = Field("", description=_WHY)


class CaseOut(BaseModel):
    """A query that waits for a person's decision."""

    id: int
    key: str = Field(description="Its id in the log, or made from its text.")
    text: str
    context: list[dict[str, Any]] = Field(description="Earlier turns, oldest first: {text, answer?}.")
    status: Annotated[str, OneOf(Query.Status)]
    waiting: Waiting | None = Field(description=f"Why it waits. {_WHY} null: it does not wait.")
    why: str = Field(description="What the rule found, in words.")
    since: Time | None = Field(description="Since when it waits.")


class WorkOut(BaseModel):
    """Whose work it is."""

    assignment: int = Field(description="The id of the assignment.")
    stage: str
    worker: str = Field(description="The worker's pseudonym in this project.")
    person: str = Field("", description=PERSON)
    simulated: bool = Field(description="A program did it in place of a person.")
    counts: bool = Field(description="false: rejected, held, or not approved yet.")


class ScreeningVoteOut(WorkOut):
    """One editor's form about a query."""

    unambiguous: bool
    answerable: bool
    intent: Annotated[str, OneOf(ScreeningVote.Intent)]
    excluded_kind: Annotated[str, OneOf(ScreeningVote.ExcludedKind)] = Field(description="Empty: none.")
    sensitive: bool
    adult: bool


class SelectionOut(WorkOut):
    """One editor's choice among the candidate passages of a query."""

    answerable: bool = Field(description="false: the passages cannot answer the query.")
    passages: list[str] = Field(description="Keys of the chosen passages.")
    conflicts: list[dict[str, Any]] = Field(
        description="Passages that contradict each other: {a, b, trusted}."
    )
    highlights: list[dict[str, Any]] = Field(description="Marked words: {passage, start, end} in characters.")


class CasePassageOut(BaseModel):
    """A candidate passage as editors were shown it, with who chose it."""

    key: str
    rank: int
    title: str
    url: str
    text: str
    below: bool = Field(description="Drawn from below the cut, to estimate recall.")
    chosen_by: list[int] = Field(description="Places in `selections`, from 0.")
    highlights: list[str] = Field(description="Words that editors marked in it.")


class DoubtOut(BaseModel):
    """A decision whose work no longer counts, and what was built on it."""

    id: int
    stage: str = Field(description="The stage that decided.")
    why: str = Field(description="What changed.")
    says: str = Field(description="What the work that counts says now.")
    raised_at: Time
    selections: int = Field(description="Choices of passages of later stages.")
    answers: int = Field(description="Answers of later stages.")
    hits: int = Field(description="HITs of later stages on offer.")


class CaseDetails(CaseOut):
    """A query with everything that was said about it; work that does not count is marked, not left out."""

    can_be_undone: bool = Field(description="A person's decision about it is in force.")
    votes: list[ScreeningVoteOut] = Field(description="Oldest first.")
    selections: list[SelectionOut] = Field(description="Oldest first.")
    passages: list[CasePassageOut] = Field(description="Best ranked first.")
    curated: list[str] = Field(description="Keys of the curated set, in its order; empty: no curated set.")
    doubts: list[DoubtOut] = Field(description="Open ones, oldest first.")


class CaseDecision(Body):
    """A person's decision about a query that waits."""

    decision: Literal[
        "accept", "exclude", "curate", "unanswerable", "keep", "ask_again", "leave_out", "undo"
    ] = Field(
        description="Of tied queries and of those with one flag: accept, exclude. Of disputed ones: "
        "curate with `passages`, unanswerable. Of those in doubt: keep, ask_again, leave_out. "
        "undo: the query waits as before, or its votes decide about it again; refused where later work "
        "was built on the decision, and what people were asked again cannot be taken back."
    )
    passages: list[Annotated[str, Field(min_length=1, max_length=_LONGEST_KEY)]] = Field(
        default_factory=list, max_length=1000, description="With curate: keys of the passages to choose."
    )
    doubt: Id | None = Field(None, description="Which doubt, where several are open.")
    reason: str = Field(
        "", max_length=300, description="Stays with the query; needed except for accept and curate."
    )


@adjudication.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER, lines=CaseOut)
def list_cases(
    request: ApiRequest, project: str, filters: InQuery[AdjudicationFilters], paging: InQuery[PageRequest]
) -> Page[CaseOut] | StreamingHttpResponse:
    """Queries that wait for a person's decision, in the order of their import."""
    at = project_access(request).project
    rows = selectors.undecided_queries(at, filters.waiting or "all").order_by()
    if wants_lines(request):
        names = ("id", "key", "text", "context", "status", "why", "since", "state")
        return stream_lines(_lines(rows_by_key(rows.values(*names))))
    page = page_of(rows, paging, key=("pk",), within=(at.pk, filters.waiting))
    return Page(items=[CaseOut(**_facts(row)) for row in page.items], next=page.next)


def _lines(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield row | {"waiting": row.pop("state") or None}


@adjudication.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_case(request: ApiRequest, project: str, number: int) -> CaseDetails:
    """One query by its id, with the votes, choices and passages on which it is decided."""
    return _details(project_access(request), number)


@adjudication.post(f"{_ONE}/decide", scopes=[Scope.DECIDE], role=Role.MANAGER)
def decide_case(request: ApiRequest, project: str, number: int, body: CaseDecision) -> CaseDetails:
    """Decide about a query that waits, or take a person's decision back; any other is left as it is."""
    access = project_access(request)
    row = find_query(access, number)
    _DECIDE[body.decision](row, body, access)
    return _details(access, number)


def _accept(row: Query, body: CaseDecision, access: ProjectAccess) -> None:
    _expect(row, "tied", "one-flag")
    service = services.accept_by_hand if row.status == Query.Status.EXCLUDED else curation.accept_query
    reason = body.reason or "Accepted by a researcher"
    service(query=row, actor=access.user, reason=reason)


def _exclude(row: Query, body: CaseDecision, access: ProjectAccess) -> None:
    _expect(row, "tied", "one-flag")
    _need_reason(body)
    excluding = services.exclude_by_hand if row.status == Query.Status.EXCLUDED else curation.exclude_query
    excluding(query=row, actor=access.user, reason=body.reason)


def _curate(row: Query, body: CaseDecision, access: ProjectAccess) -> None:
    _expect(row, "disputed")
    candidates_by_key = dict(row.candidates.filter(folded_into=None).values_list("key", "pk"))
    unknown = [key for key in body.passages if key not in candidates_by_key]
    if unknown or not body.passages:
        sentence = (
            f"{unknown[0]!r} is not among the passages of this query."
            if unknown
            else "Choose at least one of the passages of this query."
        )
        raise _invalid("passages", sentence)
    candidate_ids = [candidates_by_key[key] for key in dict.fromkeys(body.passages)]
    curation.curate_query(query=row, actor=access.user, candidates=candidate_ids, reason=body.reason)


def _declare_unanswerable(row: Query, body: CaseDecision, access: ProjectAccess) -> None:
    _expect(row, "disputed")
    _need_reason(body)
    curation.declare_unanswerable(query=row, actor=access.user, reason=body.reason)


def _undo(row: Query, body: CaseDecision, access: ProjectAccess) -> None:
    _need_reason(body)
    services.take_back(query=row, reason=body.reason, actor=access.user)


def _settle(service: Callable[..., None]) -> Callable[[Query, CaseDecision, ProjectAccess], None]:
    def settle(row: Query, body: CaseDecision, access: ProjectAccess) -> None:
        _need_reason(body)
        service(doubt=_doubt(row, body.doubt), actor=access.user, reason=body.reason)

    return settle


_DECIDE: dict[str, Callable[[Query, CaseDecision, ProjectAccess], None]] = {
    "accept": _accept,
    "exclude": _exclude,
    "curate": _curate,
    "unanswerable": _declare_unanswerable,
    "keep": _settle(doubts.keep_decision),
    "ask_again": _settle(doubts.ask_again),
    "leave_out": _settle(doubts.leave_out),
    "undo": _undo,
}


def _expect(row: Query, *reasons: str) -> None:
    """409 where the query does not wait for such a decision."""
    if _waiting_by_status(row) not in reasons:
        sentence = f"This query is {row.get_status_display()}; that cannot be decided about it."
        raise ProblemError(409, "query_state", sentence)


def _waiting_by_status(row: Query) -> str:
    """Why the query waits by its status alone, whatever doubts there are beside it."""
    if row.status == Query.Status.EXCLUDED:
        one_flag = selectors.undecided_queries(row.project, "one-flag").filter(pk=row.pk)
        return "one-flag" if one_flag.exists() else ""
    return {Query.Status.TIED: "tied", Query.Status.DISPUTED: "disputed"}.get(Query.Status(row.status), "")


def _need_reason(body: CaseDecision) -> None:
    if not body.reason.strip():
        raise _invalid("reason", "Say why; it stays with the query.")


def _doubt(row: Query, doubt_id: int | None) -> Doubt:
    rows = list(Doubt.objects.filter(query=row, outcome="").select_related("stage").order_by("pk"))
    if doubt_id is not None:
        rows = [each for each in rows if each.pk == doubt_id]
    if not rows:
        raise ProblemError(409, "query_state", "No such doubt about this query is open.")
    if len(rows) > 1:
        ids = ", ".join(str(each.pk) for each in rows)
        raise _invalid("doubt", f"Several are open: {ids}. Say which one.")
    return rows[0]


def _invalid(field: str, sentence: str) -> ProblemError:
    return ProblemError(422, "invalid", f"{field}: {sentence}", errors={field: [sentence]})


def _details(access: ProjectAccess, number: int) -> CaseDetails:
    row = find_query(access, number)
    waiting = selectors.undecided_queries(access.project).filter(pk=row.pk).first()
    case_votes = selectors.selections_on(row)
    curated_passages = CuratedPassage.objects.filter(curated_set__query=row).order_by("position")
    votes, names = list(selectors.votes_on(row)), _Names(access.project)
    workers = {
        *(each.assignment.worker_id for each in votes),
        *(each.assignment.worker_id for each in case_votes.selections),
    }
    names.people.load(workers)
    return CaseDetails(
        **_facts(waiting or row),
        can_be_undone=services.can_be_taken_back(row),
        votes=[_vote(each, names) for each in votes],
        selections=[_selection(each, names) for each in case_votes.selections],
        passages=_passages(case_votes),
        curated=list(curated_passages.values_list("candidate__key", flat=True)),
        doubts=[
            DoubtOut(
                id=each.doubt.pk,
                stage=each.doubt.stage.slug,
                why=each.doubt.why,
                says=each.doubt.says,
                raised_at=each.doubt.raised_at,
                selections=each.later.selections,
                answers=each.later.answers,
                hits=each.later.hits,
            )
            for each in selectors.doubts_about(row)
        ],
    )


def _facts(row: Any) -> dict[str, Any]:
    return {
        "id": row.pk,
        "key": row.key,
        "text": row.text,
        "context": row.context,
        "status": row.status,
        "waiting": getattr(row, "state", "") or None,
        "why": getattr(row, "why", row.status_reason),
        "since": getattr(row, "since", None),
    }


class _Names:
    """Pseudonyms of workers by their id, and of people."""

    def __init__(self, project: Project) -> None:
        self.workers, self.people = Pseudonyms(project), PersonPseudonyms(project)


def _work(work: Assignment, names: _Names) -> dict[str, Any]:
    return {
        "assignment": work.pk,
        "stage": work.stage.slug,
        "worker": names.workers[work.worker.external_id],
        "person": names.people[work.worker_id],
        "simulated": work.worker.simulated,
        "counts": counts(work),
    }


#: Columns of votes and selections that the API has under the same names.
VOTE_COLUMNS = ("unambiguous", "answerable", "intent", "excluded_kind", "sensitive", "adult")
SELECTION_COLUMNS = ("answerable", "passages", "conflicts", "highlights")


def _vote(row: ScreeningVote, names: _Names) -> ScreeningVoteOut:
    return ScreeningVoteOut(
        **_work(row.assignment, names), **{name: getattr(row, name) for name in VOTE_COLUMNS}
    )


def _selection(row: PassageSelection, names: _Names) -> SelectionOut:
    return SelectionOut(
        **_work(row.assignment, names), **{name: getattr(row, name) for name in SELECTION_COLUMNS}
    )


def _passages(votes: CurationVotes) -> list[CasePassageOut]:
    return [
        CasePassageOut(
            key=each.passage.key,
            rank=each.passage.rank,
            title=each.passage.title,
            url=each.passage.url,
            text=each.passage.text,
            below=each.passage.below,
            chosen_by=[number - 1 for number in each.chosen_by],
            highlights=list(each.highlights),
        )
        for each in votes.passages
    ]
