"""Conversational queries (paper 001, section 2.2)."""

import pytest

from retrieval.ranking.parameters import MODELS, model_named, query_terms, turn_weights

BATMAN = [
    ["nolan", "make", "batman", "movies"],
    ["played", "role", "alfred"],
    ["harvey", "dent"],
    ["box", "office", "batman"],
]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("current", [0, 0, 0, 1]),
        ("cq1", [1, 0, 0, 1]),
        ("cq2", [1, 0, 0.75, 1]),
        ("cq2-unweighted", [1, 0, 1, 1]),
        ("cq3", [1, 0.5, 0.75, 1]),
    ],
)
def test_weights_of_four_turns(model, expected):
    assert turn_weights(4, model) == expected


@pytest.mark.parametrize("model", MODELS)
def test_a_single_turn_is_the_whole_query(model):
    assert query_terms([["batman", "movies"]], model) == {"batman": 1, "movies": 1}


@pytest.mark.parametrize("model", ["cq1", "cq2", "cq2-unweighted", "cq3"])
def test_the_first_of_two_turns_is_never_weaker_for_being_the_previous_one_too(model):
    assert turn_weights(2, model) == [1, 1]


def test_words_of_the_question_come_first_then_the_first_turns_then_the_newest():
    assert list(query_terms(BATMAN, "cq3")) == [
        *["box", "office", "batman"],
        *["nolan", "make", "movies"],
        *["harvey", "dent"],
        *["played", "role", "alfred"],
    ]


def test_a_word_of_several_turns_has_the_largest_of_their_weights():
    turns = [["a"], ["b"], ["b"], ["c"], ["d"]]
    assert query_terms(turns, "cq3") == {"d": 1, "a": 1, "c": 0.8, "b": 0.6}
    assert query_terms([["a"], ["b"], ["a", "c"], ["c"]], "cq2") == {"c": 1, "a": 1}


def test_words_that_are_not_known_are_left_out():
    assert query_terms([["nolan"], ["alfred"]], "cq1", vocabulary={"nolan"}) == {"nolan": 1}


def test_no_turns_are_no_query():
    assert turn_weights(0, "cq2") == []
    assert query_terms([], "cq2") == {}


def test_the_published_names_of_the_models_are_known():
    assert [model_named(name) for name in ("conv_uw", "conv_w1", "conv_w2")] == ["cq1", "cq2", "cq3"]


def test_the_label_of_a_model_is_not_taken_for_another_model():
    """Fault 5 of the published code: a label came instead of a value, and was silently taken for cq1."""
    with pytest.raises(ValueError, match="There is no query model 'current\\+previous\\+first turns used'"):
        model_named("current+previous+first turns used")
