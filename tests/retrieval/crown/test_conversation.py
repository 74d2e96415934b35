"""Conversational queries (paper 001, section 2.2)."""

import pytest

from retrieval.ranking.parameters import MODELS, model_named, query_terms, turn_weights

BATMAN = [
    ["nolan", "make", "batman", "movies"],
    ["played", "role", "alfred"],
    ["harvey", "dent"],
    ["box", "office", "batman"],
]


def test_weights_of_turns():
    for model, expected in (
        ("current", [0, 0, 0, 1]),
        ("cq1", [1, 0, 0, 1]),
        ("cq2", [1, 0, 0.75, 1]),
        ("cq2-unweighted", [1, 0, 1, 1]),
        ("cq3", [1, 0.5, 0.75, 1]),
    ):
        assert turn_weights(4, model) == expected, model
        assert query_terms([["batman", "movies"]], model) == {"batman": 1, "movies": 1}
        if model != "current":  # the first of two turns is never weaker for being the previous one too
            assert turn_weights(2, model) == [1, 1]
    assert {"current", "cq1", "cq2", "cq2-unweighted", "cq3"} == set(MODELS)


def test_words_of_turns_come_in_their_order_with_the_largest_of_their_weights():
    assert list(query_terms(BATMAN, "cq3")) == [
        *["box", "office", "batman"],
        *["nolan", "make", "movies"],
        *["harvey", "dent"],
        *["played", "role", "alfred"],
    ]
    turns = [["a"], ["b"], ["b"], ["c"], ["d"]]
    assert query_terms(turns, "cq3") == {"d": 1, "a": 1, "c": 0.8, "b": 0.6}
    assert query_terms([["a"], ["b"], ["a", "c"], ["c"]], "cq2") == {"c": 1, "a": 1}
    assert query_terms([["nolan"], ["alfred"]], "cq1", vocabulary={"nolan"}) == {"nolan": 1}
    assert turn_weights(0, "cq2") == []
    assert query_terms([], "cq2") == {}


def test_models_are_known_by_their_published_names_and_not_by_labels():
    assert [model_named(name) for name in ("conv_uw", "conv_w1", "conv_w2")] == ["cq1", "cq2", "cq3"]
    with pytest.raises(ValueError, match="There is no query model 'current\\+previous\\+first turns used'"):
        model_named("current+previous+first turns used")
