"""A conversation as its address holds it, and the answers to its turns as the search page shows them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

from annotation.importing.records import normal, plain_digest, query_digest
from annotation.models import CandidatePassage, Query
from annotation.search_results import ResultPassage, shown_result
from annotation.selectors.queries import queries_by_text
from core.projects.models import Project
from retrieval.errors import CorpusError, RetrievalError
from retrieval.models import Corpus
from retrieval.ranking.parameters import MODELS, PREFIX, Parameters, defaults
from retrieval.search import FoundAnswer, search_conversation

# Options of a turn as the address has them: `alpha:0.8,query_model:cq1`, and nothing for the defaults.

_LONGEST = 500


def write_options(parameters: Parameters) -> str:
    """What is not as the profile has it; its weights all together."""
    usual = option_values(defaults(parameters.profile))
    mine = option_values(parameters)
    changed = {name: value for name, value in mine.items() if value != usual[name]}
    if any(name.startswith(PREFIX) for name in changed):
        changed |= {name: value for name, value in mine.items() if name.startswith(PREFIX)}
    if parameters.profile != defaults().profile:
        changed = {"profile": parameters.profile, **changed}
    return ",".join(f"{name}:{value}" for name, value in changed.items())


def read_options(text: str) -> Parameters:
    """The options of an address. ParametersError for what no page of ours has written."""
    pairs = (part.partition(":") for part in text[:_LONGEST].split(",") if part)
    return Parameters.of({name: value for name, _, value in pairs})


def option_values(parameters: Parameters) -> Mapping[str, str]:
    """Every option by the name that a form has for it, as somebody types it."""
    own = {name: value for name, value in parameters.as_dict().items() if name != "weights"}
    weights = {f"{PREFIX}{name}": value for name, value in parameters.weights.items()}
    every = own | weights
    return {name: value if isinstance(value, str) else f"{value:g}" for name, value in every.items()}


# The conversation that a search page holds: its turns, each with the options it was asked with.
#
# The page keeps it in its address, or in its form where it is too long for one; the server keeps nothing. So
# an address shows the same conversation to everybody who may see the project, Back and Reload are harmless,
# and two windows are two conversations.
#
#     ?q=what+is+a+monopoly&o=&q=and+an+oligopoly&o=alpha:0.8&in=textbooks
#
# `q` are the turns, oldest first; the n-th `o` has the options of the n-th turn, as far as they are not the
# defaults; one more `o` has those of the question that is to come. `in` names the corpora, all unless it is
# there.

#: Turns of a conversation, and characters of each: more is refused in words.
MOST_TURNS = 30
LONGEST_QUESTION = 2_000
#: Bytes of an address; longer conversations stay in the form. The web server reads 8,190.
_LONGEST_ADDRESS = 6_000


class RefusedError(Exception):
    """A question or a conversation that is not searched for, in words."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: the question, and its options as the address has them."""

    question: str
    options: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns, oldest first; the corpora that are searched, none for all; options of the next question."""

    turns: tuple[Turn, ...] = ()
    corpora: tuple[str, ...] = ()
    options: str = ""

    @property
    def questions(self) -> list[str]:
        """What was asked, oldest first."""
        return [turn.question for turn in self.turns]

    def up_to(self, number: int) -> "Conversation":
        """The conversation as it was after its turn of this number, counted from 1."""
        turns = self.turns[:number]
        return replace(self, turns=turns, options=turns[-1].options if turns else self.options)

    def with_question(self, question: str, options: str) -> "Conversation":
        """One turn more. RefusedError where it is empty, too long, or one too many."""
        checked = check_question(question)
        if len(self.turns) >= MOST_TURNS:
            raise RefusedError(f"A conversation has {MOST_TURNS} turns at most. Clear it and ask again.")
        return replace(self, turns=(*self.turns, Turn(checked, options)), options=options)

    def without_last(self) -> "Conversation":
        """One turn less; the options stay as they are."""
        return replace(self, turns=self.turns[:-1])

    def cleared(self) -> "Conversation":
        """No turns; the options stay as they are."""
        return replace(self, turns=())

    def fields_of_turns(self) -> list[tuple[str, str]]:
        """Names and values of the hidden fields of a form that has the options itself."""
        return [pair for turn in self.turns for pair in (("q", turn.question), ("o", turn.options))]

    def fields(self) -> list[tuple[str, str]]:
        """Names and values of an address, or of the hidden fields of a form."""
        pairs = self.fields_of_turns()
        if self.options != (self.turns[-1].options if self.turns else ""):
            pairs.append(("o", self.options))
        return [*pairs, *(("in", slug) for slug in self.corpora)]

    def address(self) -> str:
        """The part of an address after the path; empty for a new conversation."""
        return f"?{written}" if (written := urlencode(self.fields())) else ""

    @property
    def fits_an_address(self) -> bool:
        """Whether it can be redirected to and linked."""
        return len(self.address()) <= _LONGEST_ADDRESS


def check_question(question: str) -> str:
    """A question without invisible characters and superfluous white space. RefusedError in words."""
    text = normal(question)
    if not text:
        raise RefusedError("Type a question.")
    if len(text) > LONGEST_QUESTION:
        raise RefusedError(
            f"A question has {LONGEST_QUESTION:,} characters at most; this one has {len(text):,}. Shorten it."
        )
    return text


def read_conversation(query: QueryDict) -> Conversation:
    """The conversation of an address or a form; RefusedError for one that no page of ours has made."""
    questions, options = query.getlist("q"), query.getlist("o")
    if len(questions) > MOST_TURNS:
        raise RefusedError(f"A conversation has {MOST_TURNS} turns at most.")
    turns = tuple(
        Turn(check_question(question), option)
        for question, option in zip(questions, _as_long(options, len(questions)), strict=True)
    )
    next_one = options[len(questions) :][:1] or [turns[-1].options if turns else ""]
    return Conversation(turns, tuple(dict.fromkeys(filter(None, query.getlist("in")))), next_one[0])


def _as_long(options: Sequence[str], count: int) -> list[str]:
    return [*options[:count], *[""] * (count - len(options))]


#: Answers that a process keeps, each of at most twenty passages; the ones asked for longest ago go.
MOST = 200
_answers: OrderedDict[Hashable, FoundAnswer] = OrderedDict()
_lock = threading.Lock()


def remember_answer(
    corpora: Sequence[Corpus], inputs: Hashable, search: Callable[[], FoundAnswer]
) -> FoundAnswer:
    """The answer to `inputs` from these corpora: what `search` gave while they were as they are now.

    Each page of a conversation asks for all of its turns again.
    """
    key = (tuple(_state(corpus) for corpus in corpora), inputs)
    with _lock:
        if key in _answers:
            _answers.move_to_end(key)
            return _answers[key]
    answer = search()
    with _lock:
        _answers[key] = answer
        while len(_answers) > MOST:
            _answers.popitem(last=False)
    return answer


def _state(corpus: Corpus) -> Hashable:
    index, network = corpus.index, getattr(corpus, "network", None)
    theirs = network and (network.generation, network.state, network.built_at)
    return corpus.pk, corpus.slug, index.generation, index.state, index.built_at, index.passages, theirs


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
    status: str
    waits: bool


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A turn with its answer; `problem` says why there is none. `fields` send it on."""

    number: int
    question: str
    how: str
    terms: Sequence[Term]
    notes: Sequence[str]
    results: Sequence[ResultPassage]
    problem: str
    project_query: TurnQuery | None
    fields: Sequence[tuple[str, str]]

    @property
    def sendable(self) -> bool:
        """Something was found, and the project has no such query, or one that waits for passages."""
        return bool(self.results) and (self.project_query is None or self.project_query.waits)


def answer_turn(
    corpora: Sequence[Corpus], conversation: Conversation, *, results: int | None = None
) -> FoundAnswer:
    """Search for the last turn with its own options; `results` passages, or as many as the options say.

    RetrievalError in words: unknown corpus, refused options, no word in the question, no index.
    """
    parameters = read_options(conversation.turns[-1].options)
    return search_conversation(
        chosen_corpora(corpora, conversation), conversation.questions, parameters, results=results
    )


def recent_answer(corpora: Sequence[Corpus], conversation: Conversation) -> FoundAnswer:
    """The same, or what this process has found for it lately."""
    inputs = tuple(conversation.questions), conversation.turns[-1].options, conversation.corpora
    return remember_answer(corpora, inputs, lambda: answer_turn(corpora, conversation))


def chosen_corpora(corpora: Sequence[Corpus], conversation: Conversation) -> list[Corpus]:
    """The corpora that are searched: all, or those that the conversation names."""
    slugs = conversation.corpora
    if unknown := set(slugs) - {corpus.slug for corpus in corpora}:
        names = ", ".join(corpus.slug for corpus in corpora) or "none"
        raise CorpusError(f"There is no corpus {sorted(unknown)[0]!r} with an index here; there is: {names}.")
    return [corpus for corpus in corpora if not slugs or corpus.slug in slugs]


def show_turns(project: Project, corpora: Sequence[Corpus], conversation: Conversation) -> list[ShownTurn]:
    """All turns with their answers, newest first."""
    queries = _find_queries(project, conversation.questions)
    languages = {corpus.slug: corpus.language for corpus in corpora}
    turns = [
        _shown_turn(corpora, conversation.up_to(number), queries, languages)
        for number in range(1, len(conversation.turns) + 1)
    ]
    return turns[::-1]


def _shown_turn(
    corpora: Sequence[Corpus],
    conversation: Conversation,
    queries: Mapping[str, TurnQuery],
    languages: Mapping[str, str],
) -> ShownTurn:
    questions = conversation.questions
    answer, problem = None, ""
    try:
        answer = recent_answer(corpora, conversation)
    except RetrievalError as error:
        problem = str(error)
    return ShownTurn(
        number=len(questions),
        question=questions[-1],
        how=_how(answer) if answer else "not searched",
        terms=[Term(word, weight) for word, weight in answer.terms.items()] if answer else [],
        notes=list(answer.notes) if answer else [],
        results=_results(answer, languages) if answer else [],
        problem=problem,
        project_query=queries.get(query_digest(questions[-1], questions[:-1])),
        fields=conversation.fields(),
    )


def _results(answer: FoundAnswer, languages: Mapping[str, str]) -> list[ResultPassage]:
    weights = answer.parameters.get("weights") or {}
    return [shown_result(each, languages[each.corpus], weights) for each in answer.results]


def _how(answer: FoundAnswer) -> str:
    """Ranker and query model of an answer, in a line; the ranker's name has what else was chosen."""
    model = MODELS.get(str(answer.parameters.get("query_model")), "")
    return f"{answer.ranker}; {model}" if model else answer.ranker


def _find_queries(project: Project, questions: Sequence[str]) -> dict[str, TurnQuery]:
    """The project's queries that are turns of this conversation, by the digests of the turns."""
    digests = {
        query_digest(question, questions[:at]): plain_digest(question, questions[:at])
        for at, question in enumerate(questions)
    }
    queries = queries_by_text(Query.objects.filter(project=project), digests)
    passages = CandidatePassage.objects.filter(query__in=[query.pk for query in queries.values()])
    have = set(passages.values_list("query", flat=True).distinct())
    return {
        digest: TurnQuery(
            query.pk,
            query.get_status_display(),
            query.status == Query.Status.ACCEPTED and query.pk not in have,
        )
        for digest, query in queries.items()
    }
