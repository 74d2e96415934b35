"""The JSON endpoint: the published contract, and what it says of a call that cannot be answered."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import json

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from annotation import search_results
from annotation.desk.search import key_for
from core.accounts.keys import end_key, keys_of
from core.projects.services import remove_member
from retrieval.models import Corpus, Passage
from retrieval.ranking import explanation
from retrieval.sentences import sentences as cut_sentences
from retrieval.services.corpora import remove_corpus
from retrieval.services.networks import build_network
from tests.desk.conftest import as_, people, project  # noqa: F401
from tests.retrieval.world import make_corpus, make_project
from web.access import ProjectAccess

pytestmark = pytest.mark.django_db
API = "/desk/projects/reading/search/api/getanswer"
#: As the published page sends it: what was typed, as text.
PUBLISHED = {
    "questions": ["what is a monopoly", "and an oligopoly"],
    "retNbr": "2",
    "indriRetNbr": "100",
    "nodeThreshold": "0.75",
    "edgeThreshold": "0.01",
    "convquery": "conv_w1",
    "h1": "0.4",
    "h2": "0.3",
    "h3": "0.2",
    "h4": "0.1",
}
TEXTS = (
    "A monopoly is a firm that is alone on its market.  It sets\nthe price. 1776 was a year! And so on.",
    "An oligopoly is a market with few firms. They may form a cartel.",
    "Mead went to Samoa.",
)


@pytest.fixture
def viewer(as_):
    return as_("viewer")


@pytest.fixture
def corpus(project, tmp_path):
    return make_corpus(tmp_path, *TEXTS, project=project, slug="textbooks")


def call(client, body, **options):
    data = body if isinstance(body, str | bytes) else json.dumps(body)
    return client.post(API, data, content_type="application/json", **options)


def errors(client, **changes):
    answer = call(client, PUBLISHED | changes)
    assert answer.status_code == 400
    return answer.json()["errors"]


def test_a_published_call_is_answered_in_the_published_shape(viewer, corpus):
    answer = call(viewer, PUBLISHED)
    assert answer.status_code == 200
    body = answer.json()
    assert set(body["ids"]) == {"p1", "p2"}
    assert {"paragraphs", "ids", "nodes", "edges", "top_sentences"} <= set(body)
    for name in ("nodes", "edges", "top_sentences"):
        assert list(body[name]) == body["ids"]
    texts = dict(zip(("p1", "p2"), TEXTS, strict=False))
    for key, sentences in zip(body["ids"], body["paragraphs"], strict=True):
        assert "".join(sentences) == texts[key]
        assert len(sentences) > 1
    for number, result in enumerate(body["results"], 1):
        assert result["rank"] == number
        assert result["corpus"] == "textbooks"
        assert "bm25" in result["parts"]
        cut = [result["text"][start:end] for start, end in result["sentences"]]
        assert cut == body["paragraphs"][number - 1]
    assert body["generations"]["textbooks"]["index"] == 1
    assert set(body) >= {"query", "ranker", "parameters", "notes"}
    assert call(viewer, PUBLISHED).content == answer.content
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_nodes_edges_and_top_sentences_say_why_also_in_the_engines_own_order(viewer, corpus):
    build_network(corpus=corpus)
    body = call(viewer, {**PUBLISHED, "questions": ["few firms on a market"], "retNbr": 1}).json()
    assert body["ranker"].startswith("crown-2020")
    assert body["ids"] == ["p2"]
    assert set(body["nodes"]["p2"]) == {"market", "firms"}
    assert body["edges"]["p2"] == ["(firms,market)"]
    assert body["top_sentences"]["p2"] == [1]
    (result,) = body["results"]
    (best,) = result["highlighted"]
    assert result["text"][best["start"] : best["end"]] == "An oligopoly is a market with few firms."
    words = {result["text"][start:end] for node in result["nodes"] for start, end in node["places"]}
    assert words == {"market", "firms"}
    body = call(
        viewer, {"questions": PUBLISHED["questions"], "profile": "bm25", "convquery": "conv_uw"}
    ).json()
    assert (body["ranker"], body["parameters"]) == ("bm25:cq1", {"query_model": "cq1"})
    assert [list(result["parts"]) for result in body["results"]] == [["bm25"]] * len(body["results"])
    assert all(result["nodes"] for result in body["results"])


def test_faults_are_told_by_field(viewer, corpus):
    for changes, field, why in [
        ({"questions": []}, "questions", "oldest first"),
        ({"questions": "monopoly"}, "questions", "oldest first"),
        ({"questions": ["monopoly", 5]}, "questions", "oldest first"),
        ({"questions": ["monopoly", " "]}, "questions", "Turn 2: Type a question."),
        ({"questions": ["x" * 10_000]}, "questions", "2,000 characters at most"),
        ({"questions": ["x"] * 31}, "questions", "30 turns at most"),
        ({"questions": ["?!"]}, "questions", "no word"),
        ({"nodeThreshold": "abc"}, "nodeThreshold", "no number"),
        ({"nodeThreshold": 0.2}, "nodeThreshold", "not in the range from 0.5 to 1"),
        ({"retNbr": None}, "retNbr", "no number"),
        ({"retNbr": 2.5}, "retNbr", "no whole number"),
        ({"indriRetNbr": 5}, "indriRetNbr", "not in the range from 10 to 1000"),
        ({"convquery": "current+previous+first"}, "convquery", "is none of"),
        ({"h1": "-0.4"}, "h1", "not in the range from 0 to 1"),
        ({"h1": ".5"}, "", "add up to 1.1"),
        ({"profile": "best"}, "profile", "is none of"),
        ({"corpora": ["nowhere"]}, "corpora", "There is no corpus"),
        ({"corpora": "textbooks"}, "corpora", "as a list"),
        ({"qustions": []}, "qustions", "There is no such option"),
    ]:
        assert why in errors(viewer, **changes)[field], changes
    found = errors(viewer, questions=[], nodeThreshold="x", corpora=["y"])
    assert set(found) == {"questions", "nodeThreshold", "corpora"}
    for body in ("", "{", "[]", "1", '{"questions": ["a"], "h1": NaN}', "[" * 100_000, b"\xff\xfe"):
        answer = call(viewer, body)
        assert (answer.status_code, bool(answer.json()["errors"])) == (400, True), body
    answer = viewer.post(API, json.dumps(PUBLISHED), content_type="text/plain")
    assert answer.status_code == 400
    assert "Content-Type" in answer.json()["errors"][""]
    assert viewer.get(API).status_code == 405


def test_a_session_needs_the_token_of_a_form_and_a_key_does_not(people, corpus, project):
    strict = Client(enforce_csrf_checks=True)
    assert keyed(strict, key_for(ProjectAccess(people["viewer"], project, "viewer"))).status_code == 200
    strict.force_login(people["viewer"])
    assert call(strict, PUBLISHED).status_code == 403
    strict.get(API.removesuffix("api/getanswer"))
    token = strict.cookies["csrftoken"].value
    assert call(strict, PUBLISHED, headers={"X-CSRFToken": token}).status_code == 200


def test_nobody_asks_in_a_project_of_others_or_where_nothing_is_indexed(viewer, project):
    assert "index build" in call(viewer, PUBLISHED).json()["errors"]["questions"]
    other = make_project()
    assert call(Client(), PUBLISHED).status_code == 302
    answer = viewer.post(API.replace("reading", other.slug), "{}", content_type="application/json")
    assert answer.status_code == 404


def test_ids_that_come_twice_have_their_corpus_before_them(viewer, corpus, project, tmp_path):
    assert call(viewer, {"questions": ["monopoly"]}).json()["ids"] == ["p1"]
    make_corpus(tmp_path, "A monopoly of salt.", project=project, slug="salt")
    body = call(viewer, {"questions": ["monopoly"]}).json()
    assert sorted(body["ids"]) == ["salt/p1", "textbooks/p1"]
    only = call(viewer, {"questions": ["monopoly"], "corpora": ["salt"]}).json()
    assert only["ids"] == ["p1"]


def keyed(client, key):
    return call(client, PUBLISHED, headers={"Authorization": f"Bearer {key}"})


def test_a_program_asks_for_a_week_with_the_key_that_the_page_shows(viewer, corpus):
    with time_machine.travel("2026-11-01T12:00:00Z", tick=False):
        page = viewer.get(API.removesuffix("api/getanswer"))
        key = page.context["api_key"]
        assert f"Bearer {key}" in page.content.decode()
    with time_machine.travel("2026-11-08T11:59:00Z", tick=False):
        assert keyed(Client(), key).status_code == 200
    with time_machine.travel("2026-11-08T12:01:00Z", tick=False):
        answer = keyed(Client(), key)
    assert answer.status_code == 401
    assert "not valid for this project, or it has ended" in answer.json()["errors"][""]


def test_a_key_of_another_project_or_of_nobody_does_not_hold(people, corpus, project):
    other = make_project(owner=people["viewer"])
    key = key_for(ProjectAccess(people["viewer"], other, "owner"))
    assert keyed(Client(), key).status_code == 401
    assert keyed(Client(), "made up").status_code == 401
    people["viewer"].is_active = False
    people["viewer"].save()
    assert keyed(Client(), key_for(ProjectAccess(people["viewer"], project, "viewer"))).status_code == 401


def test_a_search_cuts_each_passage_into_sentences_once(people, corpus, project, monkeypatch):
    read: list[str] = []

    def sentences(text, language):
        read.append(text)
        return cut_sentences(text, language)

    for module in (explanation, search_results):
        monkeypatch.setattr(module, "sentences", sentences)
    answer = keyed(Client(), key_for(ProjectAccess(people["viewer"], project, "viewer"))).json()
    texts = [passage["text"] for passage in answer["results"]]
    assert read == texts
    assert ["".join(paragraph) for paragraph in answer["paragraphs"]] == texts


def end_membership(user, project):
    remove_member(project=project, user=user)


def end_person(user, project):
    User.objects.filter(pk=user.pk).update(is_active=False)


def end_password(user, project):
    user.set_password("another one, and long")
    user.save()


def end_every_key(user, project):
    for row in keys_of(user):
        assert end_key(user=user, key=str(row.pk))


@pytest.mark.parametrize("end", [end_membership, end_person, end_password, end_every_key])
def test_what_ends_between_two_searches_refuses_the_next_one(people, corpus, project, end):
    key = key_for(ProjectAccess(people["viewer"], project, "viewer"))
    assert [keyed(Client(), key).status_code for _ in "ab"] == [200, 200]
    end(people["viewer"], project)
    assert keyed(Client(), key).status_code == 401


def test_a_session_searches_what_is_there_now_as_long_as_its_member_may_look(
    viewer, people, corpus, project, tmp_path
):
    question = {"questions": ["monopoly"]}
    assert call(viewer, question).json()["ids"] == ["p1"]
    make_corpus(tmp_path, "A monopoly of salt.", project=project, slug="salt")
    assert len(call(viewer, question).json()["ids"]) == 2
    Passage.objects.filter(corpus=corpus, key="p1").update(text="A monopoly is one firm.")
    texts = {each["text"] for each in call(viewer, question).json()["results"]}
    assert texts == {"A monopoly is one firm.", "A monopoly of salt."}
    remove_corpus(corpus=Corpus.objects.get(slug="salt"))
    assert call(viewer, question).json()["ids"] == ["p1"]
    end_membership(people["viewer"], project)
    assert call(viewer, PUBLISHED).status_code == 404
