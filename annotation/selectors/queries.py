"""A project's queries: the table of them, how many came how far and what waits, and all about one of them.

All about one query, from the line of its file to the answers, is read in a fixed number of questions to the
database.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, TypedDict

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django_stubs_ext import WithAnnotations

from annotation.candidates import drawn_below
from annotation.models import (
    Answer,
    AnswerFlag,
    AnswerReview,
    CandidatePassage,
    CuratedPassage,
    CuratedSet,
    HeldOutWorker,
    PassageSelection,
    Query,
    QuerySource,
    QueryStep,
    ScreeningVote,
)
from annotation.rules import Vote
from core.projects.models import Project
from crowd.counted_work import counting, counts
from crowd.models import Assignment, Stage

# Queries to be screened, and what editors said about them.


def missing_votes(stage: Stage) -> Iterator[tuple[int, int]]:
    """Waiting queries of the project with how many votes they miss, where they miss any.

    Votes that wait for a person's decision are there, though nothing is decided on them yet.
    """
    good = Q(screening_votes__stage=stage, screening_votes__assignment__state__in=list(Assignment.GOOD))
    rows = (
        Query.objects.filter(
            project=stage.project_id,
            status=Query.Status.WAITING,
            source__state=QuerySource.State.READY,
        )
        .annotate(votes=Count("screening_votes", filter=good))
        .filter(votes__lt=stage.redundancy)
        .order_by("pk")
        .values_list("pk", "votes")
    )
    for pk, votes in rows.iterator():
        yield pk, stage.redundancy - votes


def with_enough_votes(stage: Stage) -> list[int]:
    """Waiting queries on which as many votes of this stage count as it asks for."""
    rows = (
        ScreeningVote.objects.filter(counting("assignment"), stage=stage, query__status=Query.Status.WAITING)
        .order_by()
        .values("query_id")
        .annotate(votes=Count("pk"))
        .filter(votes__gte=stage.redundancy)
    )
    return sorted(rows.values_list("query_id", flat=True))


def votes_that_count(stage: Stage, queries: Collection[int]) -> dict[int, list[Vote]]:
    """The votes of this stage that count, by query; a query without any has none."""
    rows = (
        ScreeningVote.objects.filter(counting("assignment"), stage=stage, query__in=queries)
        .order_by("query_id", "pk")
        .values_list("query_id", "unambiguous", "answerable", "intent", "excluded_kind", "sensitive", "adult")
    )
    votes: dict[int, list[Vote]] = {query: [] for query in queries}
    for pk, group in groupby(rows.iterator(), key=itemgetter(0)):
        votes[pk] = [Vote(*row[1:]) for row in group]
    return votes


def excluded_by_one_flag(project: Project) -> QuerySet[Any, Any]:
    """Keys of queries that votes excluded for one flag alone: without it most of them find the query fit."""
    fit = Q(unambiguous=True, answerable=True, intent=ScreeningVote.Intent.INFORMATIONAL, excluded_kind="")
    return (
        ScreeningVote.objects.filter(
            counting("assignment"),
            query__project=project,
            query__status=Query.Status.EXCLUDED,
            query__by_hand=False,
        )
        .order_by()
        .values("query", "stage")
        .annotate(
            fit=Count("pk", filter=fit),
            unfit=Count("pk", filter=~fit),
            flags=Count("pk", filter=Q(sensitive=True) | Q(adult=True)),
        )
        .filter(flags=1, fit__gt=F("unfit"))
        .values("query")
    )


Status = Query.Status
#: Statuses in which a query waits at, or was stopped by, each part of the pipeline.
AT: Mapping[str, tuple[Status, ...]] = {
    "screening": (Status.WAITING, Status.TIED, Status.EXCLUDED),
    "curation": (Status.ACCEPTED, Status.DISPUTED, Status.UNANSWERABLE),
    "distillation": (Status.CURATED, Status.ANSWERED),
}
#: Statuses that a query has once it came through a part of the pipeline.
THROUGH: Mapping[str, tuple[Status, ...]] = {
    "screening": AT["curation"] + AT["distillation"],
    "curation": AT["distillation"],
}
#: What the address can ask for as `status`: a status, or one of these that hold over several.
STATUSES: Mapping[str, str] = {
    "": "Any status",
    **{str(value): label[:1].upper() + label[1:] for value, label in Status.choices},
    "through-screening": "Came through screening, wherever it is now",
    "through-curation": "Came through curation, wherever it is now",
    "taken-out-screening": "Taken out before it was accepted",
    "taken-out-curation": "Taken out before it was curated",
    "taken-out-distillation": "Taken out afterwards",
}
TYPES: Mapping[str, str] = {
    "": "Any type",
    **{value: value.capitalize() for value in Query.Type.values},
    "none": "Without a type",
    "yes-no": "Yes-no queries",
}
ONLY: Mapping[str, str] = {
    "": "All",
    "rewrite": "With an answer to be rewritten",
    "flagged": "With a flagged answer that is not reviewed",
    "undecided": "With an answer without flags that is not reviewed",
    "no-answer": "Without an approved answer",
    "no-passages": "Without candidate passages",
    "by-hand": "Accepted or excluded by hand",
    "one-flag": "Excluded by one flag against a majority",
}
_LONGEST = 200
_LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Filters:
    """What an address asks for; what it has no words for is left out."""

    status: str = ""
    type: str = ""
    source: int = 0
    only: str = ""
    text: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> "Filters":
        """Read from an address; nonsense counts as nothing."""

        def one_of(name: str, options: Mapping[str, object]) -> str:
            return parameters.get(name, "") if parameters.get(name, "") in options else ""

        source = parameters.get("source", "")
        number = int(source) if source.isascii() and source.isdigit() and len(source) < 20 else 0
        return cls(
            status=one_of("status", STATUSES),
            type=one_of("type", TYPES),
            source=number if number <= _LARGEST_ID else 0,
            only=one_of("only", ONLY),
            text=parameters.get("q", "").replace("\0", "").strip()[:_LONGEST],
        )


def of_project(project: Project) -> QuerySet[Query]:
    """Queries of a project whose import was finished; others are worked on by nobody."""
    return Query.objects.filter(project=project, source__state=QuerySource.State.READY)


def queries_by_text(queries: QuerySet[Query], plain_digests: Mapping[str, str]) -> dict[str, Query]:
    """Those of the queries that have these texts, by `query_digest`; given is the `plain_digest` of each.

    The query of this very spelling, else the oldest that differs in typographic marks or wide letters only:
    projects from before such texts were compared may have several. Two statements.
    """
    exact = {query.digest: query for query in queries.filter(digest__in=plain_digests)}
    missing = {digest: plain for digest, plain in plain_digests.items() if digest not in exact}
    others = queries.filter(plain_digest__in=set(missing.values())).order_by("-pk")
    oldest = {query.plain_digest: query for query in others}
    return exact | {digest: oldest[plain] for digest, plain in missing.items() if plain in oldest}


class _Departure(TypedDict):
    left_at: str


def with_left_at(rows: QuerySet[Query]) -> "QuerySet[WithAnnotations[Query, _Departure]]":
    """Adds `left_at`, the status from which a query was last taken out; `waiting` where no step says so."""
    last = QueryStep.objects.filter(query=OuterRef("pk"), after=Status.WITHDRAWN).order_by("-pk")
    return rows.annotate(left_at=Coalesce(Subquery(last.values("before")[:1]), Value(Status.WAITING.value)))


def rows(project: Project, filters: Filters) -> QuerySet[Query]:
    """The queries that an address asks for, as they were imported, each with its source."""
    queries = _in_status(of_project(project), filters.status)
    if filters.type == "yes-no":
        queries = queries.filter(yes_no=True)
    elif filters.type:
        queries = queries.filter(type="" if filters.type == "none" else filters.type)
    if filters.source:
        queries = queries.filter(source=filters.source)
    if filters.text:
        queries = queries.filter(Q(text__icontains=filters.text) | Q(key=filters.text))
    queries = _only(project, queries, filters.only)
    return queries.select_related("source").order_by("pk")


def _in_status(queries: QuerySet[Query], status: str) -> QuerySet[Query]:
    if status in Status.values:
        return queries.filter(status=status)
    how, _, part = status.rpartition("-")
    if how == "through":
        statuses = THROUGH[part]
        taken_out_later = Q(status=Status.WITHDRAWN, left_at__in=statuses)
        return with_left_at(queries).filter(Q(status__in=statuses) | taken_out_later)
    if how == "taken-out":
        return with_left_at(queries.filter(status=Status.WITHDRAWN)).filter(left_at__in=AT[part])
    return queries


def _only(project: Project, queries: QuerySet[Query], only: str) -> QuerySet[Query]:
    answers = Answer.objects.filter(query=OuterRef("pk"))
    conditions = {
        "no-passages": ~Exists(CandidatePassage.objects.filter(query=OuterRef("pk"))),
        "by-hand": Q(by_hand=True),
        "one-flag": Q(pk__in=excluded_by_one_flag(project)),
        "no-answer": ~Exists(answers.filter(state=Answer.State.APPROVED)),
        "undecided": Exists(answers.filter(state=Answer.State.UNDECIDED, flags__isnull=True)),
        "rewrite": Exists(answers.filter(state=Answer.State.REWRITE)),
        "flagged": Exists(answers.filter(state=Answer.State.UNDECIDED, flags__isnull=False)),
    }
    return queries.filter(conditions[only]) if only else queries


def sources(project: Project, most: int = 200) -> list[QuerySource]:
    """Finished imports of a project, the latest first."""
    ready = QuerySource.objects.filter(project=project, state=QuerySource.State.READY)
    return list(ready.only("pk", "name").order_by("-pk")[:most])


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the pipeline. Those that entered it passed, wait, are undecided, out, or were taken out.

    `kind` names the kind of stage that does it. `entered` is how many came through the part before; all the
    others together are as many.
    """

    kind: str
    entered: int
    passed: int
    waiting: int
    undecided: int
    out: int
    withdrawn: int


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that goes on only when a person does something, and the filters that list the queries."""

    sentence: str
    filters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Funnel:
    """Queries in, the parts of the pipeline in their order, and what needs somebody."""

    total: int
    sources: int
    parts: tuple[Part, ...]
    attention: tuple[Attention, ...]


def funnel(project: Project) -> Funnel | None:
    """The funnel of a project, in seven queries at most; None where nothing was ever imported.

    A query that was taken out counts in every part that it had come through before (paper 000, section 3, has
    the parts: sampled, screened, curated, distilled).
    """
    imports = _by(QuerySource.objects.filter(project=project), "state")
    if not imports:
        return None
    now = _by(of_project(project), "status")
    left = _by(with_left_at(of_project(project).filter(status=Status.WITHDRAWN)), "left_at")
    withdrawn = {kind: sum(left.get(status, 0) for status in at) for kind, at in AT.items()}
    total = sum(now.values())
    screened = sum(now.get(status, 0) + left.get(status, 0) for status in THROUGH["screening"])
    curated = sum(now.get(status, 0) + left.get(status, 0) for status in THROUGH["curation"])

    def part(kind: str, entered: int, passed: int, *, waiting: Status, undecided: str, out: str) -> Part:
        stay = [now.get(name, 0) for name in (waiting, undecided, out)]
        return Part(kind, entered, passed, stay[0], stay[1], stay[2], withdrawn[kind])

    parts = (
        part(
            "screening",
            total,
            screened,
            waiting=Status.WAITING,
            undecided=Status.TIED,
            out=Status.EXCLUDED,
        ),
        part(
            "curation",
            screened,
            curated,
            waiting=Status.ACCEPTED,
            undecided=Status.DISPUTED,
            out=Status.UNANSWERABLE,
        ),
        part(
            "distillation",
            curated,
            now.get(Status.ANSWERED, 0),
            waiting=Status.CURATED,
            undecided="",
            out="",
        ),
    )
    ready = imports.get(QuerySource.State.READY, 0)
    attention = tuple(_attention(project, parts, imports)) if total or len(imports) > bool(ready) else ()
    return Funnel(total, ready, parts, attention)


def _by(rows: object, field: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(field).annotate(n=Count("pk")))  # type: ignore[attr-defined]


def _attention(project: Project, parts: tuple[Part, ...], imports: Mapping[str, int]) -> Iterator[Attention]:
    if failed := imports.get(QuerySource.State.FAILED, 0):
        yield Attention(
            f"{_count(failed, 'import', 'imports')} failed; nothing of {_it(failed)} is here.", {}
        )
    screening, curation, distillation = parts
    if tied := screening.undecided:
        yield Attention(
            f"{_queries(tied)} tied in screening and {_need(tied)} your decision.", {"status": Status.TIED}
        )
    if disputed := curation.undecided:
        yield Attention(
            f"{_queries(disputed)} disputed in curation and {_need(disputed)} your decision.",
            {"status": Status.DISPUTED},
        )
    stages = list(Stage.objects.filter(project=project).values_list("kind", "status"))
    kinds = {kind for kind, _ in stages}
    if "judging" in kinds and kinds.isdisjoint(part.kind for part in parts):
        return  # the project only judges answers from elsewhere
    for part, status in (
        (screening, Status.WAITING),
        (curation, Status.ACCEPTED),
        (distillation, Status.CURATED),
    ):
        if part.waiting and (part.kind, Stage.Status.OPEN) not in stages:
            verb = "waits" if part.waiting == 1 else "wait"
            yield Attention(
                f"{_queries(part.waiting, be='')} {verb} for {part.kind}, and no stage of that kind is open.",
                {"status": status},
            )
    passages = CandidatePassage.objects.filter(query=OuterRef("pk"))
    if curation.waiting and (
        bare := of_project(project).filter(~Exists(passages), status=Status.ACCEPTED).count()
    ):
        verb = "has" if bare == 1 else "have"
        yield Attention(
            f"{_queries(bare, be='')} accepted in screening {verb} no candidate passages.",
            {"status": Status.ACCEPTED, "only": "no-passages"},
        )
    yield from _answers(project)


def _answers(project: Project) -> Iterator[Attention]:
    answers = Answer.objects.filter(query__project=project, query__source__state=QuerySource.State.READY)
    if rewrite := answers.filter(state=Answer.State.REWRITE).count():
        verb, author = ("waits", "its author") if rewrite == 1 else ("wait", "their authors")
        yield Attention(
            f"{_count(rewrite, 'answer', 'answers')} {verb} for a rewrite by {author}.",
            {"only": "rewrite"},
        )
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    if flagged := answers.filter(Exists(flags), state=Answer.State.UNDECIDED).count():
        verb = "has flags and waits" if flagged == 1 else "have flags and wait"
        yield Attention(f"{_count(flagged, 'answer', 'answers')} {verb} for a reviewer.", {"only": "flagged"})


def _queries(number: int, be: str | None = None) -> str:
    verb = (" is" if number == 1 else " are") if be is None else be
    return f"{_count(number, 'query', 'queries')}{verb}"


def _need(number: int) -> str:
    return "needs" if number == 1 else "need"


def _it(number: int) -> str:
    return "it" if number == 1 else "them"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who ranked it and where it stood; parts of the score, options and states as pairs of name and words.

    `found_at` is where the index had it by BM25, `raw` are the parts before they were made comparable;
    `below` says that it was drawn from below the cut, and of how many.
    """

    ranker: str
    rank: int | None
    found_at: int | None
    parts: tuple[tuple[str, str], ...]
    raw: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str], ...]
    generation: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    below: str


def provenance_of(retrieval: Any) -> Provenance | None:
    """Of `CandidatePassage.retrieval`; None where nothing is known, as for imported ones."""
    if not isinstance(retrieval, dict) or not retrieval.get("ranker"):
        return None
    below = drawn_below(retrieval)
    notes = retrieval.get("notes")
    return Provenance(
        ranker=str(retrieval["ranker"]),
        rank=retrieval["rank"] if isinstance(retrieval.get("rank"), int) else None,
        found_at=retrieval["found_at"] if isinstance(retrieval.get("found_at"), int) else None,
        parts=tuple(_pairs(retrieval.get("parts"))),
        raw=tuple(_pairs(retrieval.get("raw"))),
        parameters=tuple(_pairs(retrieval.get("parameters"))),
        generation=tuple(_pairs(retrieval.get("generation"))),
        notes=tuple(str(note) for note in notes) if isinstance(notes, list) else (),
        below=f"one of {below[0]} drawn at random from {below[1]:,} below the cut" if below else "",
    )


def _pairs(members: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Names and values in the order of the names, those in an inner object with its name before them."""
    if not isinstance(members, Mapping):
        return
    for name, value in sorted(members.items()):
        name_in_words = f"{before}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _pairs(value, f"{name_in_words}: ")
        elif isinstance(value, float):
            yield name_in_words, f"{value:.{_DIGITS}g}"
        else:
            yield name_in_words, str(value)


#: Members of `Query.extra` that say a turn so that it can be read alone, with words for who wrote them.
_REWRITES = {
    "manual_rewritten_utterance": "Rewritten by a person",
    "resolved_utterance": "Rewritten by a person",
    "rewrite": "Rewritten",
    "automatic_rewritten_utterance": "Rewritten by a program",
    "automatic": "Rewritten by a program",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate passage; `overlaps` are the ranks of others on the same stretch of the same page."""

    passage: CandidatePassage
    overlaps: tuple[int, ...]
    curated: int | None
    provenance: Provenance | None

    @property
    def folded(self) -> bool:
        """It repeats a better ranked one, so nobody is shown it."""
        return self.passage.folded_into_id is not None


@dataclass(frozen=True, slots=True)
class Selection:
    """An editor's choice, with passages by their rank instead of their key; `counts` as for a vote."""

    row: PassageSelection
    passages: tuple[str, ...]
    conflicts: tuple[str, ...]
    counts: bool


@dataclass(frozen=True, slots=True)
class HistoryVote:
    """An editor's form about the query; `counts` unless its work was rejected, or waits for a person."""

    row: ScreeningVote
    counts: bool


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """An answer, and whether it is held out of the references as a candidate of the system `human`."""

    answer: Answer
    held_out: bool


@dataclass(frozen=True, slots=True)
class History:
    """A query's way, in the order of the pipeline."""

    steps: list[QueryStep]
    votes: list[HistoryVote]
    candidates: list[Candidate]
    selections: list[Selection]
    curated: CuratedSet | None
    answers: list[HistoryAnswer]
    turns: list[dict[str, str]]
    rewrites: list[tuple[str, str]]


def history(query: Query) -> History:
    """All of a query's rows. Nine questions, however many rows there are."""
    passages = list(
        CandidatePassage.objects.filter(query=query).select_related("folded_into").order_by("rank")
    )
    curated = CuratedSet.objects.filter(query=query).select_related("stage", "decided_by").first()
    members = CuratedPassage.objects.filter(curated_set__query=query).values_list("candidate_id", "position")
    position = {candidate: place + 1 for place, (candidate, _) in enumerate(members.order_by("position"))}
    ranks = {passage.key: f"#{passage.rank}" for passage in passages}
    work = ("stage", "assignment__worker", "assignment__stage")
    votes = ScreeningVote.objects.filter(query=query).select_related(*work).order_by("pk")
    selections = PassageSelection.objects.filter(query=query).select_related(*work).order_by("pk")
    return History(
        steps=list(QueryStep.objects.filter(query=query).select_related("stage", "actor").order_by("pk")),
        votes=[HistoryVote(row, counts(row.assignment)) for row in votes],
        candidates=[
            Candidate(
                passage,
                _overlaps(passage, passages),
                position.get(passage.pk),
                provenance_of(passage.retrieval),
            )
            for passage in passages
        ],
        selections=[
            Selection(
                row,
                tuple(ranks.get(str(key), str(key)) for key in row.passages),
                tuple(_conflict(pair, ranks) for pair in row.conflicts if isinstance(pair, dict)),
                counts(row.assignment),
            )
            for row in selections
        ],
        curated=curated,
        answers=_history_answers(query),
        turns=list(_turns(query.context)),
        rewrites=list(_rewrites(query.extra)),
    )


def _overlaps(passage: CandidatePassage, others: Sequence[CandidatePassage]) -> tuple[int, ...]:
    if passage.start is None or passage.end is None or not passage.page:
        return ()
    return tuple(
        other.rank
        for other in others
        if other.pk != passage.pk
        and other.page == passage.page
        and other.start is not None
        and other.end is not None
        and other.start < passage.end
        and passage.start < other.end
    )


def _conflict(pair: Mapping[str, Any], ranks: Mapping[str, str]) -> str:
    one, other, trusted = (str(pair.get(name) or "") for name in ("a", "b", "trusted"))
    sentence = f"{ranks.get(one, one)} against {ranks.get(other, other)}"
    trusted = {"a": one, "b": other}.get(trusted, trusted)
    return (
        f"{sentence}, {ranks.get(trusted, trusted)} is trusted"
        if trusted
        else f"{sentence}, neither is trusted"
    )


def _history_answers(query: Query) -> list[HistoryAnswer]:
    held_out = set(HeldOutWorker.objects.filter(query=query).values_list("worker_id", flat=True))
    answers = (
        Answer.objects.filter(query=query)
        .select_related("stage", "worker")
        .prefetch_related(
            Prefetch("flags", AnswerFlag.objects.order_by("name")),
            Prefetch("reviews", AnswerReview.objects.select_related("actor").order_by("pk")),
        )
        .order_by("pk")
    )
    return [HistoryAnswer(answer, answer.worker_id in held_out) for answer in answers]


def _rewrites(extra: object) -> Iterable[tuple[str, str]]:
    for name, in_words in _REWRITES.items():
        if isinstance(extra, dict) and isinstance(extra.get(name), str):
            yield in_words, extra[name]


def _turns(context: object) -> Iterable[dict[str, str]]:
    for turn in context if isinstance(context, list) else []:
        if isinstance(turn, dict):
            yield {"text": str(turn.get("text") or ""), "answer": str(turn.get("answer") or "")}
        else:
            yield {"text": str(turn), "answer": ""}
