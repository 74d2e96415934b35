from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import Answers, metric
from metrics.texts import Chunk
from metrics.tokens import CHAR, DEFAULT, WHITESPACE, Tokeniser
from tests.scale import limit_cases

any_text = st.text(st.characters(codec=None, exclude_categories=())) | st.text(
    "aB_ .,\x00\x1c\x85\u00a0İΣßé猫\u0301\ud800", max_size=40
)


def said(tokens):
    bounds = tokens.starts.tolist()
    return [[tokens.vocabulary[k] for k in tokens.ids[a:b].tolist()] for a, b in pairwise(bounds)]


@pytest.mark.parametrize("tokeniser", [DEFAULT, WHITESPACE, CHAR], ids=lambda tokeniser: tokeniser.name)
@settings(max_examples=limit_cases(300), deadline=None)
@given(candidates=st.lists(any_text, min_size=1, max_size=8))
def test_texts_as_numbers_are_the_texts_split_one_by_one(tokeniser, candidates):
    chunk = Chunk(Answers(candidates, [[]] * len(candidates)))

    tokens = chunk.tokens(tokeniser)

    assert said(tokens) == [tokeniser.split(text) for text in chunk.texts]
    assert len(set(tokens.vocabulary)) == len(tokens.vocabulary)
    assert set(tokens.ids.tolist()) == set(range(len(tokens.vocabulary)))


@settings(max_examples=limit_cases(20), deadline=None)
@given(seed=st.integers(0, 1000))
def test_thousands_of_distinct_tokens_keep_numbers_of_their_own(seed):
    rng = np.random.default_rng(seed)
    text = " ".join(f"{number:x}" for number in rng.integers(0, 1 << 40, 5000).tolist())

    tokens = Chunk(Answers([text, text.upper()], [[], []])).tokens(DEFAULT)

    assert len(tokens.vocabulary) == len(set(text.split()))
    assert said(tokens) == [text.split(), text.split()]


def test_each_distinct_text_is_split_once():
    asked = []
    tokeniser = Tokeniser("noting", lambda text: asked.append(text) or text.split())
    chunk = Chunk(Answers(["a b", "a b", "c"], [["c", "a b"], ["a b"], []]))

    chunk.tokens(tokeniser)
    chunk.tokens(tokeniser)

    assert asked == ["a b", "c"]
    assert chunk.candidates.tolist() == [0, 0, 1]
    assert chunk.references.tolist() == [1, 0, 0]
    assert chunk.starts.tolist() == [0, 2, 3, 3]


def test_a_part_of_answers_keeps_what_belongs_to_each():
    answers = Answers(
        ["a", "b", "c"], [["x"], [], ["y", "z"]], questions=["1", "2", "3"], systems=["s", "t", "s"]
    )

    assert answers.part(slice(1, 3)) == Answers(
        ["b", "c"], [[], ["y", "z"]], questions=["2", "3"], systems=["t", "s"]
    )
    assert answers.part([2, 0]) == Answers(
        ["c", "a"], [["y", "z"], ["x"]], questions=["3", "1"], systems=["s", "s"]
    )


def test_a_field_of_another_length_is_refused():
    with pytest.raises(ValueError, match="questions has 1 entries for 2 candidates"):
        Answers(["a", "b"], [[], []], questions=["1"])
    with pytest.raises(ValueError, match="one opinion"):
        Answers(["a"], [["x", "y"]], reference_labels=[["Yes"]])


@pytest.mark.parametrize(
    ("answers", "references", "words"),
    [
        (["a", None], [["a"], ["b"]], "candidates holds None, which is no text; an empty one is ''"),
        (["a", float("nan")], [["a"], ["b"]], "candidates holds nan"),
        (["a", "b"], [["a"], None], "references holds None"),
        (["a", "b"], [["a"], ["b", 2]], "references holds 2"),
        (["a", "b"], [[["a"]], [["b"]]], r"references holds \['a'\], which is no text"),
    ],
)
def test_what_tables_have_in_place_of_a_text_is_refused_in_words(answers, references, words):
    for name in ("bleu-4", "rouge-l", "exact"):
        with pytest.raises(TypeError, match=words):
            metric(name).score(answers, references)


def test_a_flat_list_of_references_is_refused_in_words():
    """Of a text, each letter would be taken for a reference: zeros for what is equal."""
    answers = ["a cat sat", "it rained"]
    for name in ("bleu-4", "rouge-l", "exact"):
        with pytest.raises(
            TypeError, match="references is a list of texts; it must hold a list of texts for each"
        ):
            metric(name).score(answers, answers)
    assert metric("exact").score(answers, [[text] for text in answers]).tolist() == [1, 1]
    with pytest.raises(TypeError, match="candidates is one text"):
        metric("exact").score("a", ["a"])
