"""A query's page says how its passages were found, and what a conversation said before it."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import re

import pytest
from django.urls import reverse

from annotation.models import CandidatePassage
from annotation.selectors.queries import provenance_of
from tests.annotation.queries_world import make_passage, make_query, make_source
from tests.desk.conftest import HOSTILE, as_, manager, people, project  # noqa: F401

KEPT = {
    "ranker": "rrf(bm25+balanced)",
    "rank": 44,
    "parameters": {"k": 60, "rankers": {"balanced": {"alpha": 0.75}}},
    "generation": {"engine": "tantivy", "index": 3},
    "parts": {"bm25": 12.345678, "balanced": 0.5},
    "notes": ["The corpus books has no word network."],
    "below": {"drawn": 2, "of": 1061},
}


def words_of(answer):
    return " ".join(re.sub(r"<[^>]*>", " ", answer.content.decode()).split())


def test_what_a_candidate_keeps_is_told_in_pairs_of_name_and_words():
    found = provenance_of(KEPT)
    assert (found.ranker, found.rank) == ("rrf(bm25+balanced)", 44)
    assert found.parts == (("balanced", "0.5"), ("bm25", "12.35"))
    assert found.parameters == (("k", "60"), ("rankers: balanced: alpha", "0.75"))
    assert found.generation == (("engine", "tantivy"), ("index", "3"))
    assert found.below == "one of 2 drawn at random from 1,061 below the cut"


def test_imported_passages_have_no_provenance_and_odd_values_do_no_harm():
    for nothing in ({}, None, [], {"rank": 3}, "text"):
        assert provenance_of(nothing) is None
    found = provenance_of({"ranker": 7, "rank": "x", "parts": [1], "parameters": None, "notes": "no list"})
    assert (found.ranker, found.rank, found.parts, found.parameters, found.notes) == ("7", None, (), (), ())


@pytest.fixture
def page(manager, project):
    query = make_query(
        make_source(project),
        "When was that?",
        context=[{"text": "What is tea?", "answer": f"A plant. {HOSTILE}"}, {"text": "Who drinks it?"}],
        extra={"manual_rewritten_utterance": f"When was tea first drunk? {HOSTILE}"},
    )
    make_passage(query, 1)
    passage = make_passage(query, 2)
    CandidatePassage.objects.filter(pk=passage.pk).update(
        retrieval=KEPT | {"ranker": HOSTILE}, origin="index:books"
    )
    answer = manager.get(reverse("annotation:query", args=[project.slug, query.pk]))
    assert answer.status_code == 200
    return answer


@pytest.mark.django_db
def test_the_page_says_who_ranked_a_passage_and_how_and_what_came_before(page):
    words = words_of(page)
    assert "drawn at random from 1,061 below the cut" in words
    assert "bm25 12.35" in words
    assert "k 60 · rankers: balanced: alpha 0.75" in words
    assert "engine tantivy · index 3" in words
    assert "The corpus books has no word network." in words
    assert words.count("drawn at random") == 1
    assert "What is tea? Reply: A plant." in words.replace(" :", ":")
    assert "Rewritten by a person, not shown to workers:" in words
    assert HOSTILE not in page.content.decode()
