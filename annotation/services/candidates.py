"""Candidate passages of queries: from the project's indexes, or from a question of the search page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.candidates import Recipe, Region, choose, draw_below
from annotation.importing.records import normal, plain_digest, query_digest
from annotation.models import CandidatePassage, Query, QuerySource, QueryStep
from annotation.selectors.queries import queries_by_text
from core.projects.models import Project
from core.projects.services import record, why_read_only
from crowd.errors import CrowdError
from crowd.services.stages import refuse_read_only
from retrieval.errors import EmptyQueryError, RetrievalError
from retrieval.models import Corpus
from retrieval.search import FoundAnswer, FoundPassage, search_conversation
from retrieval.selectors import searchable

_AT_ONCE = 100
#: Parameters that a statement may carry on every database, with room to spare.
_MOST_EMPTY = 900
#: Queries of a project for which its indexes, as they were built then, have nothing: not searched again.
_fruitless: dict[int, tuple[object, frozenset[int]]] = {}
_USUAL = Recipe()


@dataclass(frozen=True)
class CandidateSupply:
    """Queries that got candidates now, those for which nothing is found, and what kept us from looking.

    `notes` are what the rankers have to say, such as that a corpus has no word proximity network.
    """

    filled: int
    empty: tuple[int, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CandidateOffer:
    """A passage to be stored as a candidate: where it stood, and what it repeats, if it does."""

    found_passage: FoundPassage
    key: str
    rank: int
    retrieval: Mapping[str, Any]
    into: int | None = None
    reason: str = ""


def provide_for(project: Project, recipe: Recipe = _USUAL) -> CandidateSupply:
    """Give every accepted query without candidates the best passages of the project's indexes.

    Safe to call again and at once in several processes: a query gets one set. Nothing is raised for an index
    that is not there or broken: `problem` says so.
    """
    if why := why_read_only(project):
        return CandidateSupply(0, problem=why)
    corpora = searchable(project)
    waiting = without_candidates(project)
    if not corpora:
        problem = (
            f"No corpus of {project.slug!r} has an index. Add a corpus and build its index, on the page "
            "Corpora or by manage.py corpus add and manage.py index build."
        )
        return CandidateSupply(0, problem=problem if waiting.exists() else "")
    built = [(corpus.pk, corpus.index.generation, corpus.index.built_at, recipe) for corpus in corpora]
    before, nothing_for = _fruitless.get(project.pk, (None, frozenset()))
    empty_before = waiting.values_list("pk", flat=True) if before == built else ()
    empty = sorted(nothing_for.intersection(empty_before))[:_MOST_EMPTY]
    waiting = waiting.exclude(pk__in=empty)
    filled, last = 0, 0
    notes: dict[str, None] = {}
    while queries := list(waiting.filter(pk__gt=last).order_by("pk")[:_AT_ONCE]):
        last = queries[-1].pk
        try:
            answers = {query.pk: _answer(query, corpora, recipe) for query in queries}
        except RetrievalError as error:
            return CandidateSupply(filled, tuple(empty), str(error), tuple(notes))
        offers = {query.pk: offered(query, answers[query.pk], recipe) for query in queries}
        empty += [pk for pk, candidates in offers.items() if not candidates]
        notes |= dict.fromkeys(note for pk in offers for note in _notes(answers[pk], offers[pk]))
        filled += _store(offers)
    _fruitless[project.pk] = (built, frozenset(empty))
    return CandidateSupply(filled, tuple(empty), notes=tuple(notes))


def provide_candidates(query: Query, recipe: Recipe = _USUAL) -> int:
    """Candidates of one query, found now if it has none; how many are shown. Raises what a search raises."""
    if not _count_shown(query):
        give_candidates(query=query, answer=_answer(query, searchable(query.project), recipe), recipe=recipe)
    return _count_shown(query)


def give_candidates(*, query: Query, answer: FoundAnswer | None, recipe: Recipe = _USUAL) -> int:
    """Make candidates of an answer that was found for a query; 0 where it has some already, else 1."""
    return _store({query.pk: offered(query, answer, recipe)})


def without_candidates(project: Project) -> QuerySet[Query]:
    """Accepted queries that nobody has looked for passages for."""
    theirs = CandidatePassage.objects.filter(query=OuterRef("pk"))
    return Query.objects.filter(project=project, status=Query.Status.ACCEPTED).exclude(Exists(theirs))


def turns_of(query: Query) -> list[str]:
    """What was said: the turns of the user before the query, oldest first, then the query itself.

    What a system replied is shown to people and not searched for, as in paper 001, section 2.2.
    """
    before = [str(turn.get("text") or "") for turn in query.context if isinstance(turn, dict)]
    return [*(text for text in before if text.strip()), query.text]


def offered(query: Query, answer: FoundAnswer | None, recipe: Recipe) -> list[CandidateOffer]:
    """What is stored of an answer: what is shown, what is folded into it, and some from below the cut."""
    if answer is None or not answer.results:
        return []
    results = answer.results
    regions = [
        Region(key, each.passage.text, each.passage.page, each.passage.start, each.passage.end, each.rank)
        for key, each in zip(_names(results), results, strict=True)
    ]
    choices = choose(regions, recipe.shown_count)
    above = [
        CandidateOffer(
            each,
            choice.region.key,
            each.rank,
            _describe_retrieval(answer, each),
            choice.folded_into,
            choice.reason,
        )
        for each, choice in zip(results, choices, strict=False)
    ]
    if not recipe.below:
        return above
    # They come last, and their ranks follow on, so that no editor sees how far down they stood.
    places, of = draw_below(regions, choices, recipe.below, f"{query.project_id}:{query.key}")
    below = {"drawn": len(places), "of": of}
    return above + [
        CandidateOffer(
            results[place],
            regions[place].key,
            above[-1].rank + number,
            _describe_retrieval(answer, results[place]) | {"below": below},
        )
        for number, place in enumerate(places, 1)
    ]


def _describe_retrieval(answer: FoundAnswer, found_passage: FoundPassage) -> dict[str, Any]:
    """`CandidatePassage.retrieval`: how the passage was found, and what the ranker had to say about it."""
    notes = {"notes": list(answer.notes)} if answer.notes else {}
    return answer.provenance(found_passage) | notes


def _answer(query: Query, corpora: Sequence[Corpus], recipe: Recipe) -> FoundAnswer | None:
    try:
        return search_conversation(
            corpora, turns_of(query), ranker=recipe.system, results=recipe.depth, explain=False
        )
    except EmptyQueryError:
        return None


def _notes(answer: FoundAnswer | None, candidates: Sequence[CandidateOffer]) -> Sequence[str]:
    return answer.notes if answer is not None and candidates else ()


def _count_shown(query: Query) -> int:
    return CandidatePassage.objects.filter(query=query, folded_into=None).count()


def _names(passages: Sequence[FoundPassage]) -> list[str]:
    """The passages' own ids; with the corpus before it where two corpora use the same one."""
    used = Counter(each.passage.key for each in passages)
    return [
        each.passage.key if used[each.passage.key] == 1 else f"{each.corpus}/{each.passage.key}"[:200]
        for each in passages
    ]


@transaction.atomic
def _store(offers: Mapping[int, Sequence[CandidateOffer]]) -> int:
    """Store the candidates of each query that still has none; how many queries got some."""
    query_ids = [pk for pk, candidates in offers.items() if candidates]
    queries = Query.objects.select_for_update().filter(pk__in=query_ids).order_by("pk")
    locked = list(queries.values_list("pk", flat=True))
    filled = set(CandidatePassage.objects.filter(query__in=locked).values_list("query_id", flat=True))
    free = [pk for pk in locked if pk not in filled]
    unfolded = {
        (pk, place): _candidate(pk, each)
        for pk in free
        for place, each in enumerate(offers[pk])
        if each.into is None
    }
    CandidatePassage.objects.bulk_create(unfolded.values(), batch_size=500)
    CandidatePassage.objects.bulk_create(
        (
            _candidate(pk, each, unfolded[pk, each.into])
            for pk in free
            for each in offers[pk]
            if each.into is not None
        ),
        batch_size=500,
    )
    return len(free)


def _candidate(query: int, each: CandidateOffer, into: CandidatePassage | None = None) -> CandidatePassage:
    passage = each.found_passage.passage
    return CandidatePassage(
        query_id=query,
        rank=each.rank,
        score=each.found_passage.score,
        origin=f"index:{each.found_passage.corpus}"[:60],
        retrieval=dict(each.retrieval),
        key=each.key,
        text=passage.text,
        title=passage.title,
        url=passage.url,
        page=passage.page,
        start=passage.start,
        end=passage.end,
        folded_into=into,
        fold_reason=each.reason,
    )


# A question of the search page that becomes a query of the project, with the candidates that it found.

#: `QuerySource.format` of questions that were asked on the search page; a project has one source of them.
FORMAT = "search"
ACTION = "query.sent_to_curation"
_NAME = "Search page"
_REASON = "asked on the search page"
Status = Query.Status


@dataclass(frozen=True)
class SentQuery:
    """The query, how many candidates editors are shown of it, and whether it is new to the project."""

    query: Query
    shown_count: int
    new: bool


class AlreadySentError(CrowdError):
    """The query has candidates, or is not waiting for any; nothing was changed."""

    def __init__(self, why: str, query: Query) -> None:
        self.query = query
        super().__init__(why)


@transaction.atomic
def send_to_curation(
    *, project: Project, turns: Sequence[str], answer: FoundAnswer, keep: int, actor: Any
) -> SentQuery:
    """Give the last of `turns` the `keep` best passages of `answer`, and the project the query if it is new.

    A new query is accepted at once, as somebody of the project chose it. A query that the project has must be
    accepted and without candidates. Near-repetitions among the passages are folded, so `answer` should hold
    more than `keep`. CrowdError where nothing was found or the project is read-only, AlreadySentError where
    the query has candidates already; then nothing is changed.
    """
    refuse_read_only(project)
    if not answer.results:
        raise CrowdError("Nothing was found for this question, so there are no candidates to send.")
    query, new = _query(project, turns, actor)
    locked = Query.objects.select_for_update().get(pk=query.pk)
    if CandidatePassage.objects.filter(query=locked).exists():
        raise AlreadySentError("This question is a query of the project and has its candidates.", locked)
    if locked.status != Status.ACCEPTED:
        raise AlreadySentError(
            f"This question is a query of the project: {locked.get_status_display()}. Only accepted queries "
            "take candidates.",
            locked,
        )
    give_candidates(query=locked, answer=answer, recipe=Recipe(shown_count=keep))
    candidate_count = CandidatePassage.objects.filter(query=locked, folded_into=None).count()
    record(
        project=project,
        action=ACTION,
        subject=locked.key,
        actor=actor,
        details={"ranker": answer.ranker, "candidates": candidate_count, "new": new, "turns": len(turns)},
    )
    return SentQuery(locked, candidate_count, new)


def _query(project: Project, turns: Sequence[str], actor: Any) -> tuple[Query, bool]:
    """The query of a question after these turns, made if the project has none."""
    *before, text = turns = [normal(turn) for turn in turns]
    digest, plain = query_digest(text, before), plain_digest(text, before)
    if existing := queries_by_text(Query.objects.filter(project=project), {digest: plain}):
        return existing[digest], False
    fields: dict[str, Any] = {
        "source": lambda: _source(project, actor),
        "key": f"q-{digest[:16]}",
        "text": text,
        "plain_digest": plain,
        "context": [{"text": each} for each in before],
        "conversation": lambda: _conversation(project, turns),
        "turn": len(turns),
        "status": Status.ACCEPTED,
        "status_reason": _REASON,
    }
    query, new = Query.objects.get_or_create(project=project, digest=digest, defaults=fields)
    if new:
        QueryStep.objects.create(
            query=query, at=timezone.now(), actor=actor, after=Status.ACCEPTED, reason=_REASON
        )
        _count_one_more(query.source_id)
    return query, new


def _conversation(project: Project, turns: Sequence[str]) -> str:
    """The conversation of the latest earlier turn that is a query already; a new one if none is."""
    earlier = {
        query_digest(turns[at], turns[:at]): plain_digest(turns[at], turns[:at])
        for at in range(len(turns) - 1)
    }
    earlier_queries = queries_by_text(Query.objects.filter(project=project).exclude(conversation=""), earlier)
    latest = next(
        (earlier_queries[digest].conversation for digest in reversed(earlier) if digest in earlier_queries),
        "",
    )
    return latest or f"search-{query_digest(turns[0])[:12]}"


def _source(project: Project, actor: Any) -> QuerySource:
    Project.objects.select_for_update().get(pk=project.pk)  # one source, however many send at once
    now = timezone.now()
    source, _ = QuerySource.objects.get_or_create(
        project=project,
        format=FORMAT,
        defaults={
            "name": _NAME,
            "state": QuerySource.State.READY,
            "report": _report(0),
            "created_by": actor,
            "created_at": now,
            "finished_at": now,
        },
    )
    return source


def _count_one_more(source: int) -> None:
    """The source's report has the counts that one of an import has."""
    row = QuerySource.objects.select_for_update().get(pk=source)
    row.report = _report(int(row.report.get("stored", 0)) + 1)
    row.save(update_fields=["report"])


def _report(stored: int) -> dict[str, Any]:
    return {
        "format_words": "questions asked on the search page",
        "unit": "question",
        "records": stored,
        "distinct": stored,
        "duplicates": 0,
        "sampled": stored,
        "stored": stored,
        "already_there": 0,
        "refused": 0,
        "refusals": [],
        "rules": {},
        "design": {"words": "all that were sent", "seed": "none"},
    }
