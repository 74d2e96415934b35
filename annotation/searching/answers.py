"""Answers to the turns of a conversation, as the search page shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotation.importing.text import query_digest
from annotation.models import CandidatePassage, Query
from annotation.searching import options
from annotation.searching.answer_cache import remembered
from annotation.searching.conversation import Conversation
from annotation.searching.results import ResultPassage, shown_result
from core.projects.models import Project
from retrieval.crown.conversation import MODELS
from retrieval.errors import CorpusError, RetrievalError
from retrieval.models import Corpus
from retrieval.search import FoundAnswer, search_conversation


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the conversational query and its weight."""

    word: str
    weight: float

    @property
    def decayed(self) -> bool:
        """It is of an earlier turn, and counts for less."""
        return self.weight < 1


@dataclass(frozen=True, slots=True)
class TurnQuery:
    """The query that the project has of a turn; `waits` for candidates: it is accepted and has none."""

    pk: int
    words: str
    waits: bool


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn with its answer; `problem` says why there is none. `kept` are the fields that send it on."""

    number: int
    question: str
    how: str
    terms: Sequence[Term]
    notes: Sequence[str]
    results: Sequence[ResultPassage]
    problem: str
    known: TurnQuery | None
    kept: Sequence[tuple[str, str]]

    @property
    def sendable(self) -> bool:
        """Something was found, and the project has no such query, or one that waits for passages."""
        return bool(self.results) and (self.known is None or self.known.waits)


def answer(
    corpora: Sequence[Corpus], conversation: Conversation, *, results: int | None = None
) -> FoundAnswer:
    """Search for the last turn with its own options; `results` passages, or as many as the options say.

    RetrievalError in words: unknown corpus, refused options, no word in the question, no index.
    """
    parameters = options.read(conversation.turns[-1].options)
    return search_conversation(
        chosen(corpora, conversation), conversation.questions, parameters, results=results
    )


def lately(corpora: Sequence[Corpus], conversation: Conversation) -> FoundAnswer:
    """The same, or what this process has found for it lately."""
    asked = tuple(conversation.questions), conversation.turns[-1].options, conversation.corpora
    return remembered(corpora, asked, lambda: answer(corpora, conversation))


def chosen(corpora: Sequence[Corpus], conversation: Conversation) -> list[Corpus]:
    """The corpora that are searched: all, or those that the conversation names."""
    wanted = conversation.corpora
    if unknown := set(wanted) - {corpus.slug for corpus in corpora}:
        there = ", ".join(corpus.slug for corpus in corpora) or "none"
        raise CorpusError(f"There is no corpus {sorted(unknown)[0]!r} with an index here; there is: {there}.")
    return [corpus for corpus in corpora if not wanted or corpus.slug in wanted]


def shown(project: Project, corpora: Sequence[Corpus], conversation: Conversation) -> list[ShownTurn]:
    """All turns with their answers, newest first."""
    known = _known(project, conversation.questions)
    languages = {corpus.slug: corpus.language for corpus in corpora}
    turns = [
        _shown_turn(corpora, conversation.up_to(number), known, languages)
        for number in range(1, len(conversation.turns) + 1)
    ]
    return turns[::-1]


def _shown_turn(
    corpora: Sequence[Corpus],
    conversation: Conversation,
    known: Mapping[str, TurnQuery],
    languages: Mapping[str, str],
) -> ShownTurn:
    questions = conversation.questions
    found, problem = None, ""
    try:
        found = lately(corpora, conversation)
    except RetrievalError as error:
        problem = str(error)
    return ShownTurn(
        number=len(questions),
        question=questions[-1],
        how=_how(found) if found else "not searched",
        terms=[Term(word, weight) for word, weight in found.terms.items()] if found else [],
        notes=list(found.notes) if found else [],
        results=_results(found, languages) if found else [],
        problem=problem,
        known=known.get(query_digest(questions[-1], questions[:-1])),
        kept=conversation.fields(),
    )


def _results(found: FoundAnswer, languages: Mapping[str, str]) -> list[ResultPassage]:
    weights = found.parameters.get("weights") or {}
    return [shown_result(each, languages[each.corpus], weights) for each in found.results]


def _how(found: FoundAnswer) -> str:
    """Ranker and query model of an answer, in a line; the ranker's name has what else was chosen."""
    model = MODELS.get(str(found.parameters.get("query_model")), "")
    return f"{found.ranker}; {model}" if model else found.ranker


def _known(project: Project, questions: Sequence[str]) -> dict[str, TurnQuery]:
    """Queries of the project by their digests, as far as they are turns of this conversation."""
    digests = [query_digest(question, questions[:at]) for at, question in enumerate(questions)]
    theirs = CandidatePassage.objects.filter(query=OuterRef("pk"))
    rows = Query.objects.filter(project=project, digest__in=digests).annotate(has=Exists(theirs))
    return {
        digest: TurnQuery(pk, str(Query.Status(status).label), status == Query.Status.ACCEPTED and not has)
        for pk, digest, status, has in rows.values_list("pk", "digest", "status", "has")
    }
