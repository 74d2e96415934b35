"""The engine's own order for conversations."""

import pytest

from retrieval.errors import EmptyQueryError, NotIndexedError
from retrieval.ranking.bm25 import BM25, find

BATMAN = ("which batman movies are of nolan", "who played alfred", "and harvey dent", "the box office")


def terms_of(collection, model, turns=BATMAN):
    return BM25(model).rank([collection], turns, 5).terms


def test_the_previous_turn_weighs_less_than_the_question_and_the_first(collection_of):
    assert terms_of(collection_of("some text"), "cq2") == {
        "box": 1.0,
        "offic": 1.0,
        "nolan": 1.0,
        "batman": 1.0,
        "movi": 1.0,
        "harvey": 0.75,
        "dent": 0.75,
    }


def test_cq1_leaves_the_previous_turn_out(collection_of):
    assert set(terms_of(collection_of("some text"), "cq1")) == {"box", "offic", "nolan", "batman", "movi"}


def test_cq3_takes_all_turns_in_proportion(collection_of):
    terms = terms_of(collection_of("some text"), "cq3")
    assert (terms["alfr"], terms["dent"], terms["nolan"], terms["box"]) == (0.5, 0.75, 1.0, 1.0)


def test_a_word_of_several_turns_takes_its_largest_weight(collection_of):
    turns = ["the first", "the batman", "who is batman", "other words"]
    assert terms_of(collection_of("some text"), "cq3", turns)["batman"] == 0.75


def test_the_score_is_bm25_and_says_so(collection_of):
    [best, second] = BM25().rank([collection_of("cats purr", "cats cats purr")], ["cats"], 5).results
    assert (best.pk, best.rank, second.pk, second.rank) == (2, 1, 1, 2)
    assert best.parts == {"bm25": best.score}


def test_a_conversation_of_function_words_is_searched_for_them(collection_of):
    ranking = BM25().rank([collection_of("to be or not to be", "other words")], ["to be or not to be"], 5)
    assert [each.pk for each in ranking.results] == [1]


def test_unknown_words_find_nothing_and_the_ranking_says_which(collection_of):
    ranking = BM25().rank([collection_of("cats purr")], ["zebras gallop"], 5)
    assert ranking.results == []
    assert ranking.notes == ["No passage has any of these words: zebra, gallop."]


@pytest.mark.parametrize("turns", [[""], ["?!"], ["", "   "]])
def test_turns_without_a_word_are_refused(collection_of, turns):
    with pytest.raises(EmptyQueryError, match="no word in the question"):
        BM25().rank([collection_of("cats purr")], turns, 5)


def test_a_question_without_a_word_is_refused_even_if_an_earlier_turn_has_some(collection_of):
    with pytest.raises(EmptyQueryError, match="no word in the question"):
        BM25().rank([collection_of("cats purr")], ["cats", "?"], 5)


def test_no_turns_are_refused(collection_of):
    with pytest.raises(EmptyQueryError, match="no word in the question"):
        BM25().rank([collection_of("cats purr")], [], 5)


def test_a_question_of_ten_thousand_characters_is_cut_and_the_ranking_says_so(collection_of):
    question = " ".join(f"word{number}" for number in range(2000))[:10_000]
    ranking = BM25().rank([collection_of("word0 and word1")], [question], 5)
    assert [each.pk for each in ranking.results] == [1]
    assert len(ranking.terms) == 256
    assert ranking.notes == ["The conversation is long: only 256 of its words are searched for."]


def test_nothing_to_search_in_is_said():
    with pytest.raises(NotIndexedError):
        BM25().rank([], ["cats"], 5)


def test_collections_are_merged_by_score_then_in_their_order(collection_of):
    first, second = collection_of("cats purr", "dogs bark"), collection_of("cats purr", "dogs bark")
    found = find([first, second], ["cats"], "cq2", 5)
    assert [(each.place, each.pk) for each in found.candidates] == [(0, 1), (1, 1)]
