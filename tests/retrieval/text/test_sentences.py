"""Sentences as offsets that cover the text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.sentences import sentences
from tests.scale import limit_cases


def cut(text, language="en"):
    return [text[start:end].strip() for start, end in sentences(text, language)]


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["Dr. Smith went to Washington.", "He met J. K. Rowling at 5 p.m.", "Then they left."]),
        ("en", ["It costs 3.14 dollars.", "Is that o.k.?", '"Yes!" he said.', "'No.'", "She left."]),
        ("en", ["See Fig. 3 and e.g. Smith et al. (2020).", "No.", "I mean it."]),
        ("en", ["The U.S. Senate met.", "This is so in the U.S.", "The law is old."]),
        ("en", ["Apple Inc. was founded in 1976.", "It made computers, etc.", "Others did too."]),
        ("en", ["1. Introduction.", "2. Methods."]),
        ("en", ["Wait... what?", "Really...", "Yes."]),
        ("en", ["He left.[12]", "She stayed.)", "John F. Kennedy was there."]),
        ("en", ["It is in vitamin C.", "It is good."]),
        ("en", ["Title", "A sentence", "- item one", "- item two."]),
        ("de", ["Am 3. Oktober 1990 war es z. B. Berlin.", "Dr. Müller kam."]),
        ("fr", ["M. Dupont est là.", "Il dit « oui. »", "Elle part."]),
        ("es", ["¿Qué?", "¡Sí!", "El Sr. López vive en EE.UU.", "Él trabaja."]),
        ("ar", ["ما هذا؟", "هذا كتاب."]),
        ("hi", ["यह है।", "वह था।"]),
    ],
)
def test_sentences_of_a_text(language, expected):
    assert (
        cut(("\n" if "Title" in expected else " ").join(expected).replace("Title\n", "Title\n\n"), language)
        == expected
    )


def test_sentences_end_with_marks_and_in_lists():
    assert cut("中国的首都是北京。上海呢？“是的。”他说。", "zh") == [
        "中国的首都是北京。",
        "上海呢？",
        "“是的。”",
        "他说。",
    ]
    assert cut("Bring:\n- apples.\n- pears") == ["Bring:", "- apples.", "- pears"]
    assert cut("One sentence\nin two lines. Two") == ["One sentence\nin two lines.", "Two"]
    assert len(sentences("1. " * 5000, "en")) == 2500
    assert len(sentences("?!" * 5000 + " A", "en")) == 2
    assert sentences("no end", "en") == [(0, 6)]
    assert sentences("One.  Two. \n", "en") == [(0, 6), (6, 12)]
    assert sentences("", "en") == []


@settings(max_examples=limit_cases(300), deadline=None)
@given(st.text(alphabet="aB1 .!?\n\"'。)-•", max_size=60), st.sampled_from(["en", "de", "zh"]))
def test_no_character_is_lost(text, language):
    found = sentences(text, language)
    assert "".join(text[start:end] for start, end in found) == text
    assert all(text[start:end].strip() for start, end in found) or len(found) == 1
