"""Words of scripts whose letters carry marks, texts typed in two ways, and scripts without spaces."""

import unicodedata
from dataclasses import replace
from itertools import pairwise

import pytest

from metrics import metric
from metrics.profiles import profile
from metrics.texts import Answers, Chunk
from metrics.tokens import CHAR, DEFAULT, WHITESPACE, is_unspaced, spacing_warning

BOOK, WRITER = "\u0915\u093f\u0924\u093e\u092c", "\u0915\u093e\u0924\u093f\u092c"
DELHI = "\u0926\u093f\u0932\u094d\u0932\u0940"
COMPOSED = "Un caf\u00e9 na\u00efve."
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
#: "The books" of vocalised Arabic, and "I want" of Persian with a joiner that must not join.
ARABIC, PERSIAN = "\u0643\u064f\u062a\u064f\u0628", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"


@pytest.mark.parametrize("word", [BOOK, DELHI, ARABIC, PERSIAN, "\u0e17\u0e35\u0e48"])
def test_a_word_keeps_its_marks(word):
    assert DEFAULT.split(f"{word}, {word}!") == [word, ",", word, "!"]


@pytest.mark.parametrize(
    ("word", "letters"),
    [
        (BOOK, ["\u0915\u093f", "\u0924\u093e", "\u092c"]),
        ("\u0e17\u0e35\u0e48 \u0e01", ["\u0e17\u0e35\u0e48", "\u0e01"]),
        ("\u5927 x\u0302y", ["\u5927", "x\u0302", "y"]),
        (" \u0302\u0303a", ["\u0302\u0303", "a"]),
        ("\u8fbb\U000e0100b", ["\u8fbb\U000e0100", "b"]),
    ],
)
def test_a_character_keeps_its_marks(word, letters):
    assert CHAR.split(word) == letters
    tokens = Chunk(Answers(["ab", word, ""], [[], [], []])).tokens(CHAR)
    assert [tokens.vocabulary[k] for k in tokens.ids[2:]] == letters


def test_characters_of_the_same_letters_with_other_vowels_are_others():
    by_character = replace(profile("default"), tokeniser="char")
    score = metric("bleu-1", by_character).score([BOOK], [[WRITER]]).tolist()
    assert score == pytest.approx([1 / 3])
    assert metric("f1", by_character).score([BOOK], [[WRITER]]).tolist() == pytest.approx([1 / 3])


def test_two_words_of_the_same_letters_with_other_vowels_share_nothing():
    assert metric("bleu-1").score([BOOK], [[WRITER]]).tolist() == [0]
    assert metric("rouge-l").score([DELHI], [["\u0926\u0932\u094d\u0932\u0942"]]).tolist() == [0]


@pytest.mark.parametrize("name", ["bleu-1", "rouge-l", "f1", "exact", "chrf", "chrf++", "meteor"])
def test_a_text_is_the_same_however_its_accents_were_typed(name):
    scores = metric(name).score([DECOMPOSED, COMPOSED, DECOMPOSED], [[COMPOSED], [DECOMPOSED], [DECOMPOSED]])
    assert scores[0] == scores[1] == scores[2] > 0.9


@pytest.mark.parametrize("tokeniser", [DEFAULT, CHAR, WHITESPACE], ids=lambda each: each.name)
def test_one_text_and_many_at_once_are_cut_alike(tokeniser):
    texts = [BOOK, DELHI, ARABIC, PERSIAN, DECOMPOSED, "\u0130stanbul 4\u00bd \u2764\ufe0f _x_", "", "  "]
    tokens = Chunk(Answers(texts, [[] for _ in texts])).tokens(tokeniser)
    cut = [[tokens.vocabulary[k] for k in tokens.ids[a:b]] for a, b in pairwise(tokens.starts)]
    assert cut == [tokeniser.split(text) for text in texts]


def test_the_signature_tells_the_rules_with_marks_from_those_before():
    assert "|tok:default.2|" in metric("bleu-1").signature
    assert "|tok:char.3|" in metric("bleu-4", "dureader-2018").signature


@pytest.mark.parametrize(
    ("text", "unspaced"),
    [
        ("\u5927\u7ea6\u4e09\u767e\u5143", True),
        ("\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e", True),
        ("\u3053\u3093\u306b\u3061\u306f USA", True),
        ("\uc548\ub155 \ud558\uc138\uc694", False),
        (BOOK, False),
        ("about 300 \u5143 in all", False),
        ("42", False),
        ("", False),
    ],
)
def test_scripts_without_spaces_are_known(text, unspaced):
    assert is_unspaced(text) is unspaced


def test_the_warning_names_the_remedy_and_is_silent_where_it_was_followed():
    (sentence,) = spacing_warning(80, 100, "default")
    assert "80 of 100 answers" in sentence
    assert "--tokeniser char" in sentence
    assert spacing_warning(80, 100, "char") == []
    assert spacing_warning(3, 100, "default") == []
