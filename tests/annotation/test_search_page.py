"""The search page: asking, following up, clearing, options, and sending what was found to curation."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from annotation import search as answers
from annotation.desk.search import ABOUT_TEXTBOOKS
from annotation.models import CandidatePassage, Query
from core.projects.models import Event
from retrieval.ranking.parameters import PROFILES
from retrieval.services.corpora import delete_passages
from retrieval.services.indexing import build_index
from retrieval.services.networks import build_network
from tests.annotation.queries_world import make_query, make_source
from tests.cases import apart
from tests.desk.conftest import HOSTILE, as_, manager, people, project  # noqa: F401
from tests.retrieval.world import add, make_corpus

pytestmark = pytest.mark.django_db
PAGE = "/desk/projects/reading/search/"
SEND = "/desk/projects/reading/search/send/"
TEXTS = (
    "A monopoly is a firm that is alone on its market. It sets the price.",
    "An oligopoly is a market with few firms. They may form a cartel.",
    "Mead went to Samoa to study how girls grow up there.",
)


@pytest.fixture
def viewer(as_):
    return as_("viewer")


@pytest.fixture
def corpus(project, tmp_path):
    return make_corpus(tmp_path, *TEXTS, project=project, slug="textbooks", title="Two textbooks")


@pytest.fixture
def networked(corpus):
    build_network(corpus=corpus)
    return corpus


def ask(client, question, *before, follow=True, **fields):
    """Post the form as the page has it."""
    data = {"do": "ask", "question": question, "q": list(before), "o": [""] * len(before), **fields}
    return client.post(PAGE, data, follow=follow)


def text_of(answer):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", answer.content.decode()))


def test_a_question_leads_to_an_address_that_answers_it_and_follow_ups_stack(viewer, corpus):
    answer = ask(viewer, "what is a monopoly?")
    assert answer.redirect_chain == [(f"{PAGE}?q=what+is+a+monopoly%3F&o=", 302)]
    assert [each.key for each in answer.context["turns"][0].results] == ["p1"]
    assert "It sets the price." in text_of(answer)
    answer = ask(viewer, "and an oligopoly?", "what is a monopoly?")
    page = text_of(answer)
    assert page.index("Turn 2") < page.index("An oligopoly is") < page.index("Turn 1 what is")
    assert [turn.number for turn in answer.context["turns"]] == [2, 1]
    alone = ask(viewer, "what is a monopoly?").context["turns"][0]
    later = ask(viewer, "who went to Samoa?", "what is a monopoly?").context["turns"][1]
    assert (alone.question, alone.results) == (later.question, later.results)
    address = ask(viewer, "monopoly", results="1").redirect_chain[0][0]
    assert parse_qs(urlsplit(address).query)["o"] == ["results:1"]
    answer = ask(viewer, "market", "monopoly", o=["results:1"], results="2")
    assert [len(turn.results) for turn in answer.context["turns"]] == [2, 1]
    first, second = (ask(viewer, "monopoly", follow=False) for _ in range(2))
    assert first["Location"] == second["Location"]
    before = ["market " * 250] * 5
    answer = ask(viewer, "monopoly", *before, follow=False)
    assert answer.status_code == 200
    assert len(answer.context["turns"]) == 6
    assert dict(answer.context["kept"])["q"] == "monopoly"
    data = {"do": "clear-last", "q": ["monopoly", "oligopoly"], "o": ["", ""], "question": ""}
    answer = viewer.post(PAGE, data, follow=True)
    assert [turn.question for turn in answer.context["turns"]] == ["monopoly"]
    data = {"do": "clear-all", "q": ["monopoly"], "o": [""], "alpha": "0.8"}
    answer = viewer.post(PAGE, data, follow=True)
    assert answer.context["turns"] == []
    assert answer.context["form"]["alpha"].value() == "0.8"


def test_a_question_that_cannot_be_asked_stays_and_is_not_added(viewer, corpus):
    for question, why in (
        ("", "Type a question."),
        ("  \u200b ", "Type a question."),
        ("?!…", "no word"),
        ("x" * 10_000, "2,000 characters at most"),
    ):
        answer = ask(viewer, question, "monopoly", follow=False)
        assert answer.status_code == 422
        assert why in text_of(answer)
        assert [turn.question for turn in answer.context["turns"]] == ["monopoly"]
        assert answer.context["form"]["question"].value() == question
    for question in ("to be or not to be", "xyzzy plugh", "'\"; DROP TABLE", "AND OR *:*"):
        answer = ask(viewer, question)
        assert (answer.status_code, answer.context["turns"][0].question) == (200, question)
    assert "No passage has any of these words." in text_of(ask(viewer, "xyzzy"))
    for asked, status, why in (
        ({"q": ["x"] * 31}, 400, "30 turns at most"),
        ({"q": "monopoly", "o": "alpha:many"}, 200, "is no number"),
        ({"q": "monopoly", "in": "nowhere"}, 200, "There is no corpus"),
    ):
        answer = viewer.get(PAGE, asked)
        assert (answer.status_code, why in text_of(answer)) == (status, True), asked


def test_best_sentences_words_pairs_and_parts_say_why(viewer, networked):
    page = ask(viewer, "what is a monopoly?").content.decode()
    assert "<mark>A <b>monopoly</b> is a firm that is alone on its market.</mark> It sets the price." in page
    answer = ask(viewer, "few firms on a market")
    result = answer.context["turns"][0].results[0]
    assert [word for word, _ in result.weighted_words] == ["market", "firms"]
    assert [(one, other) for one, other, _ in result.pairs] == [("firms", "market")]
    page = answer.content.decode()
    assert page.count("<circle") >= 2
    assert "<bdi>firms</bdi> \N{EN DASH} <bdi>market</bdi>" in page
    result = ask(viewer, "what is a monopoly?").context["turns"][0].results[0]
    assert sum(part.adds or 0 for part in result.parts) == pytest.approx(result.score)


# Options


def test_refused_options_are_explained_and_nothing_typed_is_lost(viewer, corpus):
    answer = ask(viewer, "what is a monopoly?", follow=False, alpha="abc", results="0")
    assert answer.status_code == 422
    assert "“abc” is no number" in text_of(answer)
    assert "is not in the range from 1 to 20" in text_of(answer)
    form = answer.context["form"]
    assert (form["alpha"].value(), form["question"].value()) == ("abc", "what is a monopoly?")
    assert answer.context["turns"] == []
    weights = {f"crown-2020-weight_{name}": ".5" for name in ("prior", "node", "edge", "pos")}
    answer = ask(viewer, "monopoly", follow=False, profile="crown-2020", **weights)
    assert answer.status_code == 422
    assert "The weights must add up to 1; these add up to 2." in text_of(answer)
    names = ("bm25", "node", "edge", "pos", "coverage", "early", "feedback")
    weights = {f"balanced-weight_{name}": ".9" for name in names}
    assert ask(viewer, "monopoly", profile="crown-2020", **weights).status_code == 200
    data = {"do": "restore", "q": ["monopoly"], "o": [""], "question": "and", "alpha": "x", "results": "9"}
    form = viewer.post(PAGE, data).context["form"]
    assert (form["alpha"].value(), form["results"].value(), form["question"].value()) == ("0.75", "3", "and")


def test_profiles_are_chosen_by_the_form_and_by_the_address(viewer, corpus):
    form = viewer.get(PAGE).context["form"]
    sent = {name: form[name].value() for name in form.fields if name != "question"}
    for profile in PROFILES:
        answer = ask(viewer, "monopoly", **{**sent, "profile": profile})
        assert answer.status_code == 200
        [turn] = answer.context["turns"]
        assert turn.how.startswith(("bm25", profile))
    answer = ask(viewer, "what is a monopoly?")
    assert "manage.py wpn build" in text_of(answer)
    assert answer.context["turns"][0].how.startswith("bm25")
    answer = ask(viewer, "monopoly", profile="bm25", query_model="cq1")
    [turn] = answer.context["turns"]
    assert turn.how.startswith("bm25:cq1")
    assert [part.label for part in turn.results[0].parts] == ["BM25 score"]
    scores = [result.score for result in turn.results]
    assert scores == sorted(scores, reverse=True)
    assert "Weights of bm25" not in text_of(answer)
    weights = "weight_bm25:1,weight_node:0,weight_edge:0,weight_pos:0,weight_coverage:0,weight_early:0"
    form = viewer.get(PAGE, {"q": "monopoly", "o": weights}).context["form"]
    assert form["profile"].value() == "balanced-1"
    options = "profile:crown-2020,alpha:0.8,weight_prior:0.1,weight_node:0.2,weight_edge:0.3,weight_pos:0.4"
    form = viewer.get(PAGE, {"q": "monopoly", "o": options}).context["form"]
    assert form["profile"].value() == "crown-2020"
    assert form["alpha"].value() == "0.8"
    assert form["crown-2020-weight_pos"].value() == "0.4"
    assert form["balanced-weight_coverage"].value() == "0.2308"


def test_one_of_several_corpora_can_be_searched_alone(viewer, corpus, tmp_path, project):
    make_corpus(tmp_path, "A monopoly of salt.", project=project, slug="salt", index=True)
    everywhere = ask(viewer, "monopoly")
    assert {each.corpus for each in everywhere.context["turns"][0].results} == {"salt", "textbooks"}
    alone = ask(viewer, "monopoly", **{"in": "salt"})
    assert {each.corpus for each in alone.context["turns"][0].results} == {"salt"}
    assert alone.context["form"]["in"].value() == "salt"


def test_the_textbooks_have_a_sample_conversation_unless_the_project_has_one(viewer, corpus, project):
    sample = viewer.get(PAGE).context["sample"]
    assert list(sample.questions) == list(ABOUT_TEXTBOOKS)
    answer = viewer.get(PAGE + sample.address)
    assert len(answer.context["turns"]) == 5
    assert answer.context["sample"] is None
    source = make_source(project)
    context = [{"text": "who went to Samoa?"}]
    make_query(source, "and why?", turn=2, context=context, conversation="c")
    assert viewer.get(PAGE).context["sample"].questions == ["who went to Samoa?", "and why?"]


def test_other_passages_have_no_sample_and_no_passages_are_told(viewer, project, tmp_path):
    page = viewer.get(PAGE)
    assert page.status_code == 200
    assert "Nothing to search yet" in text_of(page)
    assert "manage.py corpus add reading FILE" in text_of(page)
    make_corpus(tmp_path, "A cat.", project=project, slug="pets")
    assert viewer.get(PAGE).context["sample"] is None


def test_what_was_found_becomes_the_candidates_of_a_query(manager, networked):
    data = {"q": ["what is a monopoly?", "and an oligopoly?"], "o": ["", "alpha:0.8"], "keep": "2"}
    answer = manager.post(SEND, data, follow=True)
    query = Query.objects.get()
    assert answer.redirect_chain == [(f"/desk/projects/reading/queries/{query.pk}/", 302)]
    assert "A new query of the project has 2 candidates now." in text_of(answer)
    assert query.context == [{"text": "what is a monopoly?"}]
    first = CandidatePassage.objects.get(query=query, rank=1)
    assert first.key == "p2"
    assert first.retrieval["parameters"]["alpha"] == 0.8
    assert first.retrieval["ranker"].startswith("balanced")


def test_a_second_click_sends_nothing_twice_and_the_turn_is_not_offered_again(manager, corpus):
    data = {"q": "what is a monopoly?", "keep": "5"}
    manager.post(SEND, data)
    before = list(CandidatePassage.objects.values())
    answer = manager.post(SEND, data, follow=True)
    assert "Nothing was changed." in text_of(answer)
    assert list(CandidatePassage.objects.values()) == before
    assert Event.objects.filter(action="query.sent_to_curation").count() == 1
    for question in (data["q"], "\uff37hat is a monopoly?"):  # in wide letters it is the same query
        turn = manager.get(PAGE, {"q": question}).context["turns"][0]
        assert turn.project_query.pk == Query.objects.get().pk
        assert not turn.sendable


def test_what_cannot_be_sent_or_may_not_is_told_and_nothing_is_made(viewer, corpus, manager, subtests):
    assert viewer.post(SEND, {"q": "monopoly"}).status_code == 404
    assert "Send to curation" not in text_of(ask(viewer, "monopoly"))
    for data, why in [
        ({"keep": "5"}, "There is no question to send."),
        ({"q": "monopoly", "keep": "0"}, "Send between 1 and 100 candidates."),
        ({"q": "monopoly", "keep": "ten"}, "Send between 1 and 100 candidates."),
        ({"q": "xyzzy"}, "Nothing was found"),
        ({"q": "monopoly", "o": "alpha:7"}, "is not in the range"),
    ]:
        with apart(subtests, data=data, why=why):
            assert why in text_of(manager.post(SEND, data, follow=True))
            assert not Query.objects.exists()


def test_hostile_text_is_text(viewer, project, tmp_path):
    make_corpus(
        tmp_path,
        {"text": f"monopoly {HOSTILE} <mark>yes</mark>", "title": HOSTILE, "url": "javascript:alert(1)"},
        project=project,
        slug="hostile",
    )
    page = ask(viewer, f"monopoly {HOSTILE}").content.decode()
    assert "<script>alert" not in page
    assert "<mark>yes" not in page
    assert 'href="javascript' not in page
    assert "&lt;mark&gt;yes&lt;/mark&gt;" in page


def test_nobody_asks_without_the_token_of_the_form(project, people):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people["viewer"])
    assert strict.post(PAGE, {"do": "ask", "question": "x"}).status_code == 403


def test_earlier_turns_are_not_searched_for_again_until_the_index_changes(
    viewer, networked, tmp_path, monkeypatch
):
    searched = []
    search = answers.search_conversation

    def counted(corpora, turns, *args, **options):
        searched.append(turns[-1])
        return search(corpora, turns, *args, **options)

    monkeypatch.setattr(answers, "search_conversation", counted)
    ask(viewer, "What is a monopoly?")
    ask(viewer, "And an oligopoly?", "What is a monopoly?")
    assert searched == ["What is a monopoly?", "And an oligopoly?"]
    add(networked, tmp_path, {"id": "new", "text": "A monopoly may be natural."})
    build_index(corpus=networked)
    page = ask(viewer, "And an oligopoly?", "What is a monopoly?")
    assert searched[2:] == ["And an oligopoly?", "What is a monopoly?"]
    assert "may be natural" in text_of(page)


def test_a_removed_passage_is_shown_no_more_and_only_so_many_answers_are_remembered(
    viewer, networked, monkeypatch
):
    assert "alone on its market" in text_of(ask(viewer, "What is a monopoly?"))
    delete_passages(corpus=networked, keys=["p1"])
    assert "alone on its market" not in text_of(ask(viewer, "What is a monopoly?"))
    monkeypatch.setattr(answers, "MOST", 2)
    for question in ("A monopoly?", "An oligopoly?", "A cartel?"):
        ask(viewer, question)
    assert len(answers._answers) == 2
