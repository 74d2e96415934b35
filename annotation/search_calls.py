"""A search as programs ask for it, by the published endpoint and by the API, and the answer in its shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.search import MOST_TURNS, Conversation, RefusedError, check_question, chosen_corpora
from annotation.search_results import key_of, sentences_of
from retrieval.errors import CorpusError, ParametersError
from retrieval.models import Corpus
from retrieval.ranking.parameters import Parameters
from retrieval.search import FoundPassage, search_conversation

if TYPE_CHECKING:
    from retrieval.ranking.explanation import Sentence


class FieldsRefusedError(Exception):
    """A call that cannot be answered: sentences by field, "" for what concerns all of it."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = dict(faults)
        super().__init__(" ".join(self.faults.values()))


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked for."""

    corpora: Sequence[Corpus]
    questions: Sequence[str]
    parameters: Parameters


def asked_of(body: Mapping[str, Any], corpora: Sequence[Corpus]) -> Call:
    """A call, all its faults at once as FieldsRefusedError."""
    faults: dict[str, str] = {}
    questions = _questions(body.get("questions"), faults)
    where = _corpora(body.get("corpora", []), corpora, faults)
    options = {name: value for name, value in body.items() if name not in {"questions", "corpora"}}
    try:
        parameters = Parameters.published(options)
    except ParametersError as error:
        raise FieldsRefusedError(faults | error.faults) from error
    if faults:
        raise FieldsRefusedError(faults)
    return Call(where, questions, parameters)


def _questions(entries: object, faults: dict[str, str]) -> list[str]:
    if not isinstance(entries, list) or not entries or not all(isinstance(each, str) for each in entries):
        faults["questions"] = "Send the questions of all turns as a list of texts, oldest first."
        return []
    if len(entries) > MOST_TURNS:
        faults["questions"] = f"A conversation has {MOST_TURNS} turns at most; this one has {len(entries)}."
        return []
    questions = []
    for number, question in enumerate(entries, 1):
        try:
            questions.append(check_question(question))
        except RefusedError as error:
            faults["questions"] = f"Turn {number}: {error}"
    return questions


def _corpora(slugs: object, corpora: Sequence[Corpus], faults: dict[str, str]) -> list[Corpus]:
    if not isinstance(slugs, list) or not all(isinstance(each, str) for each in slugs):
        faults["corpora"] = "Send short names of corpora as a list of texts, or leave them out for all."
        return []
    try:
        return chosen_corpora(corpora, Conversation(corpora=tuple(slugs)))
    except CorpusError as error:
        faults["corpora"] = str(error)
        return []


def answer_of(call: Call) -> dict[str, Any]:
    """Search, and say it in the published shape. RetrievalError as `search_conversation` raises it."""
    answer = search_conversation(call.corpora, call.questions, call.parameters)
    languages = {corpus.slug: corpus.language for corpus in call.corpora}
    keys = _keys(answer.results)
    paragraphs, results = [], []
    nodes: dict[str, list[str]] = {}
    edges: dict[str, list[str]] = {}
    top: dict[str, list[int]] = {}
    for key, each in zip(keys, answer.results, strict=True):
        text, places = each.passage.text, sentences_of(each, languages[each.corpus])
        paragraphs.append([text[start:end] for start, end in places])
        why = each.explanation
        nodes[key] = [node.word for node in why.nodes] if why else []
        edges[key] = [f"({edge.first},{edge.second})" for edge in why.edges] if why else []
        top[key] = [sentence.number for sentence in _best(each)]
        results.append(_result(key, each, places))
    return {
        "paragraphs": paragraphs,
        "ids": keys,
        "nodes": nodes,
        "edges": edges,
        "top_sentences": top,
        "results": results,
        "query": dict(answer.terms),
        "ranker": answer.ranker,
        "parameters": dict(answer.parameters),
        "generations": {corpus: dict(state) for corpus, state in answer.generations.items()},
        "notes": list(answer.notes),
    }


def _keys(results: Sequence[FoundPassage]) -> list[str]:
    """Ids of the passages; with the corpus before it where an id comes twice."""
    plain = [each.passage.key for each in results]
    return [key_of(each, twice=plain.count(each.passage.key) > 1) for each in results]


def _result(key: str, each: FoundPassage, places: Sequence[tuple[int, int]]) -> dict[str, Any]:
    passage, why = each.passage, each.explanation
    return {
        "id": key,
        "corpus": each.corpus,
        "rank": each.rank,
        "score": each.score,
        "parts": dict(each.parts),
        "text": passage.text,
        "title": passage.title,
        "url": passage.url,
        "page": passage.page,
        "start": passage.start,
        "end": passage.end,
        "sentences": [list(place) for place in places],
        "highlighted": [
            {"sentence": best.number, "start": best.start, "end": best.end, "score": best.score}
            for best in _best(each)
        ],
        "nodes": [
            {"word": node.word, "weight": node.weight, "term": node.term, "places": _lists(node.spans)}
            for node in (why.nodes if why else ())
        ],
        "edges": [
            {"first": edge.first, "second": edge.second, "npmi": edge.npmi, "places": _lists(edge.spans)}
            for edge in (why.edges if why else ())
        ],
    }


def _best(each: FoundPassage) -> "list[Sentence]":
    """Highlighted sentences, the best one first."""
    all_sentences = each.explanation.sentences if each.explanation else ()
    return sorted(
        (one for one in all_sentences if one.is_highlighted), key=lambda one: (-one.score, one.number)
    )


def _lists(spans: Sequence[tuple[int, int]]) -> list[list[int]]:
    return [list(span) for span in spans]
