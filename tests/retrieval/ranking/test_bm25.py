"""The engine's own order for conversations."""

import pytest

from retrieval.errors import EmptyQueryError, NotIndexedError
from retrieval.ranking.bm25 import BM25, find

BATMAN = ("which batman movies are of nolan", "who played alfred", "and harvey dent", "the box office")


def terms_of(collection, model, turns=BATMAN):
    return BM25(model).rank([collection], turns, 5).terms


def test_turns_weigh_as_the_query_model_says(collection_of):
    collection = collection_of("some text")
    first = dict.fromkeys(("box", "offic", "nolan", "batman", "movi"), 1.0)
    assert terms_of(collection, "cq1") == first
    assert terms_of(collection, "cq2") == {**first, "harvey": 0.75, "dent": 0.75}
    terms = terms_of(collection, "cq3")
    assert (terms["alfr"], terms["dent"], terms["nolan"], terms["box"]) == (0.5, 0.75, 1.0, 1.0)
    turns = ["the first", "the batman", "who is batman", "other words"]
    assert terms_of(collection, "cq3", turns)["batman"] == 0.75, "the largest of its weights"


def test_the_score_is_bm25_and_says_so(collection_of):
    [best, second] = BM25().rank([collection_of("cats purr", "cats cats purr")], ["cats"], 5).results
    assert (best.pk, best.rank, second.pk, second.rank) == (2, 1, 1, 2)
    assert best.parts == {"bm25": best.score}


def test_a_conversation_of_function_words_is_searched_for_them(collection_of):
    ranking = BM25().rank([collection_of("to be or not to be", "other words")], ["to be or not to be"], 5)
    assert [each.pk for each in ranking.results] == [1]


def test_a_question_without_a_word_is_refused_and_one_without_a_known_word_finds_nothing(collection_of):
    collection = collection_of("cats purr")
    for turns in ([""], ["?!"], ["", "   "], ["cats", "?"], []):
        with pytest.raises(EmptyQueryError, match="no word in the question"):
            BM25().rank([collection], turns, 5)
    ranking = BM25().rank([collection], ["zebras gallop"], 5)
    assert ranking.results == []
    assert ranking.notes == ["No passage has any of these words: zebra, gallop."]
    with pytest.raises(NotIndexedError):
        BM25().rank([], ["cats"], 5)


def test_a_question_of_ten_thousand_characters_is_cut_and_the_ranking_says_so(collection_of):
    question = " ".join(f"word{number}" for number in range(2000))[:10_000]
    ranking = BM25().rank([collection_of("word0 and word1")], [question], 5)
    assert [each.pk for each in ranking.results] == [1]
    assert len(ranking.terms) == 256
    assert ranking.notes == ["The conversation is long: only 256 of its words are searched for."]


def test_collections_are_merged_by_score_then_in_their_order(collection_of):
    first, second = collection_of("cats purr", "dogs bark"), collection_of("cats purr", "dogs bark")
    found = find([first, second], ["cats"], "cq2", 5)
    assert [(each.place, each.pk) for each in found.candidates] == [(0, 1), (1, 1)]
