"""Answers to the turns of a conversation, as the search page shows them."""

import hashlib
import json
import logging
import pickle
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.core.cache import caches
from django.db.models import Exists, OuterRef

from annotation.importing.text import query_digest
from annotation.models import CandidatePassage, Query
from annotation.searching import options
from annotation.searching.conversation import Conversation
from annotation.searching.results import ResultPassage, shown_result
from core.projects.models import Project
from retrieval.crown.conversation import MODELS
from retrieval.errors import CorpusError, RetrievalError
from retrieval.models import Corpus
from retrieval.search import FoundAnswer, search_conversation

logger = logging.getLogger(__name__)
#: Answers that a process keeps, each of at most twenty passages; the ones asked for longest ago go.
MOST = 200
#: Bytes of an answer that is shared; one of twenty passages with explanations has some thousand.
LARGEST = 200_000
#: Seconds in which a cache that failed is left alone, so that not every search waits for it.
AWAY_SECONDS = 10.0
ALIAS = "searches"


@cache
def _failures() -> tuple[type[Exception], ...]:
    """What a broken file or a Redis that is away raises."""
    of_files = (OSError, EOFError, zlib.error, pickle.UnpicklingError)
    if not settings.REDIS_URL:
        return of_files
    import redis  # only where it is set up

    return (*of_files, redis.RedisError)


@dataclass
class SharedAnswers:
    """The cache that all processes share; after a fault it is left alone for a while."""

    away_until: float = 0.0

    def load(self, key: str) -> FoundAnswer | None:
        """The answer; None where there is none that can be read."""
        from retrieval.answer_bytes import load_answer  # noqa: PLC0415  # heavy

        if time.monotonic() < self.away_until:
            return None
        try:
            data = caches[ALIAS].get(key)
        except _failures() as error:
            self._leave_alone(error)
            return None
        return load_answer(data) if isinstance(data, bytes) else None

    def store(self, key: str, found: FoundAnswer) -> None:
        """Keep an answer that is not too large."""
        from retrieval.answer_bytes import dump_answer  # noqa: PLC0415  # heavy

        if time.monotonic() < self.away_until:
            return
        data = dump_answer(found)
        if len(data) > LARGEST:
            return
        try:
            caches[ALIAS].set(key, data)
        except _failures() as error:
            self._leave_alone(error)

    def _leave_alone(self, error: Exception) -> None:
        self.away_until = time.monotonic() + AWAY_SECONDS
        logger.warning("The shared cache of searches does not answer: %s: %s", type(error).__name__, error)


_answers: OrderedDict[Hashable, FoundAnswer] = OrderedDict()
_lock = threading.Lock()
shared_answers = SharedAnswers()


def remembered(corpora: Sequence[Corpus], asked: Hashable, search: Callable[[], FoundAnswer]) -> FoundAnswer:
    """The answer to `asked` from these corpora: what `search` gave while they were as they are now.

    `asked` holds texts, and tuples of them.
    """
    key = (tuple(_state(corpus) for corpus in corpora), asked)
    with _lock:
        if key in _answers:
            _answers.move_to_end(key)
            return _answers[key]
    shared = _shared_key(key)
    found = shared_answers.load(shared)
    if found is None:
        found = search()
        shared_answers.store(shared, found)
    with _lock:
        _answers[key] = found
        while len(_answers) > MOST:
            _answers.popitem(last=False)
    return found


def forget_own() -> None:
    """Forget what this process keeps, as another process does not have it."""
    with _lock:
        _answers.clear()


def _state(corpus: Corpus) -> Hashable:
    index, network = corpus.index, getattr(corpus, "network", None)
    theirs = network and (network.generation, network.state, network.built_at)
    return corpus.pk, corpus.slug, index.generation, index.state, index.built_at, index.passages, theirs


def _shared_key(key: Hashable) -> str:
    """The same in every process: a digest of the corpora's states, options, questions and our version."""
    written = json.dumps([settings.DISTILLERY_VERSION, key], default=str, separators=(",", ":"))
    return hashlib.blake2b(written.encode(), digest_size=20).hexdigest()


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
