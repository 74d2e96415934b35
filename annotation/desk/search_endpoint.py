"""The answer as JSON: what the published endpoint takes and gives (paper 001, section 4), and what we add.

A program comes with a key. A page of ours comes with a session, and then with the token that all forms have.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from annotation.search import (
    MOST_TURNS,
    Conversation,
    RefusedError,
    check_question,
    chosen_corpora,
)
from annotation.search_results import key_of, sentences_of
from retrieval.errors import CorpusError, EngineError, ParametersError, RetrievalError
from retrieval.models import Corpus
from retrieval.ranking.parameters import Parameters
from retrieval.search import FoundPassage, search_conversation
from retrieval.selectors import searchable
from web.access import ProjectAccess, on_project

if TYPE_CHECKING:
    from retrieval.ranking.explanation import Sentence
from datetime import timedelta

from django.http import Http404

from core.accounts.keys import Purpose, issue_key, note_use, read_key
from core.projects.models import Project
from core.projects.selectors import project_for

# Keys with which a program searches a project as one of its members, without a log-in.
#
# As with addresses of release files: signed, good for a week, and only as long as the member may look. A key
# ends with the password it was made under: when that is changed, and when the person signs out everywhere.
# The person sees every key and can end it by itself (`core.accounts.keys`).

PURPOSE = Purpose(salt="annotation.search", life=timedelta(days=7))


def key_for(access: ProjectAccess) -> str:
    """A key of this person for this project."""
    given = {"project": access.project.pk}
    return issue_key(purpose=PURPOSE, user=access.user, name=_name(access.project), given=given)


def access_of(key: str, slug: str) -> ProjectAccess | None:
    """The member whose key this is, at the project of this short name; None where it does not hold there."""
    if (valid := read_key(PURPOSE, key)) is None:
        return None
    try:
        project, role = project_for(valid.user, slug)
    except Http404:
        return None
    if project.pk != valid.given["project"]:
        return None
    return ProjectAccess(valid.user, project, role) if note_use(valid, name=_name(project)) else None


def _name(project: Project) -> str:
    return f"Search in {project.title}"


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


def _questions(given: object, faults: dict[str, str]) -> list[str]:
    if not isinstance(given, list) or not given or not all(isinstance(each, str) for each in given):
        faults["questions"] = "Send the questions of all turns as a list of texts, oldest first."
        return []
    if len(given) > MOST_TURNS:
        faults["questions"] = f"A conversation has {MOST_TURNS} turns at most; this one has {len(given)}."
        return []
    found = []
    for number, question in enumerate(given, 1):
        try:
            found.append(check_question(question))
        except RefusedError as error:
            faults["questions"] = f"Turn {number}: {error}"
    return found


def _corpora(given: object, corpora: Sequence[Corpus], faults: dict[str, str]) -> list[Corpus]:
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        faults["corpora"] = "Send short names of corpora as a list of texts, or leave them out for all."
        return []
    try:
        return chosen_corpora(corpora, Conversation(corpora=tuple(given)))
    except CorpusError as error:
        faults["corpora"] = str(error)
        return []


def answer_of(call: Call) -> dict[str, Any]:
    """Search, and say it in the published shape. RetrievalError as `search_conversation` raises it."""
    found = search_conversation(call.corpora, call.questions, call.parameters)
    languages = {corpus.slug: corpus.language for corpus in call.corpora}
    keys = _keys(found.results)
    paragraphs, results = [], []
    nodes: dict[str, list[str]] = {}
    edges: dict[str, list[str]] = {}
    top: dict[str, list[int]] = {}
    for key, each in zip(keys, found.results, strict=True):
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
        "query": dict(found.terms),
        "ranker": found.ranker,
        "parameters": dict(found.parameters),
        "generations": {corpus: dict(state) for corpus, state in found.generations.items()},
        "notes": list(found.notes),
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
    found = each.explanation.sentences if each.explanation else ()
    return sorted((one for one in found if one.is_highlighted), key=lambda one: (-one.score, one.number))


def _lists(spans: Sequence[tuple[int, int]]) -> list[list[int]]:
    return [list(span) for span in spans]


@csrf_exempt
@require_POST
def getanswer(request: HttpRequest, *, project: str) -> HttpResponseBase:
    """Answer the last of `questions`, for a key or a member's session; 400 and 503 have `errors` by field."""
    given = request.headers.get("Authorization", "")
    if not given:
        return csrf_protect(on_project()(_answered))(request, project=project)
    access = access_of(given.removeprefix("Bearer ").strip(), project)
    if access is None:
        return _json({"errors": {"": "This key is not, or not any more, valid for this project."}}, 401)
    return _answered(request, access)


def _answered(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    try:
        asked = asked_of(_body(request), searchable(access.project))
    except FieldsRefusedError as error:
        return _json({"errors": error.faults}, 400)
    try:
        return _json(answer_of(asked), 200)
    except EngineError as error:  # nothing is wrong with what was asked
        return _json({"errors": {"": str(error)}}, 503)
    except RetrievalError as error:
        return _json({"errors": {"questions": str(error)}}, 400)


def _body(request: HttpRequest) -> dict[str, Any]:
    if request.content_type != "application/json":
        raise FieldsRefusedError({"": "Send JSON, with Content-Type: application/json."})
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError, RequestDataTooBig) as error:
        raise FieldsRefusedError({"": "Send a JSON object of less than 2.5 MB."}) from error
    if not isinstance(body, dict):
        raise FieldsRefusedError({"": "Send a JSON object with `questions`."})
    return body


def _json(value: dict[str, Any], status: int) -> JsonResponse:
    return JsonResponse(value, status=status, json_dumps_params={"ensure_ascii": False, "allow_nan": False})
