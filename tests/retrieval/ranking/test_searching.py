"""Searching corpora with conversations."""

import pytest

from retrieval.errors import EmptyQueryError, NotIndexedError
from retrieval.searching import search_conversation
from tests.retrieval.world import make_corpus, make_project

pytestmark = pytest.mark.django_db


def test_the_earlier_turns_of_a_conversation_count(tmp_path):
    corpus = make_corpus(tmp_path, "the reception of batman", "the reception of guests")
    found = search_conversation([corpus], ["who is batman", "how was the reception"], ranker="bm25")
    assert [each.passage.key for each in found.results] == ["p1", "p2"]
    assert found.ranker == "bm25"
    assert found.terms == {"recept": 1.0, "batman": 1.0}


def test_without_an_index_there_is_nothing_to_search():
    with pytest.raises(NotIndexedError, match="index build"):
        search_conversation(make_project(), ["anything"])


def test_a_question_without_a_word_is_refused(tmp_path):
    corpus = make_corpus(tmp_path, "some text")
    with pytest.raises(EmptyQueryError, match="no word in the question"):
        search_conversation([corpus], ["?!"])
