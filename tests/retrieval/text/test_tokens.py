"""Content words: what network, queries and passages have in common."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.tokens import fingerprint, located, tokens
from tests.scale import limit_cases


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "What are the Cats' cafés?", ["cats", "cafés"]),
        ("en-GB", "COVID-19 in 2020, and the u.s. army", ["covid", "u", "army"]),
        ("en", "don't state-of-the-art", ["state", "art"]),
        ("de", "Wo stehen die Häuser?", ["stehen", "häuser"]),
        ("fr", "Dans la chaîne des écoles d'Arles", ["chaîne", "écoles", "arles"]),
        ("ar", "ما هي عاصمة الصين؟", ["عاصمة", "الصين"]),
        ("hi", "हिन्दी का विकास", ["हिन्दी", "का", "विकास"]),
        ("el", "ΟΔΟΣ", ["οδος"]),
        ("tr", "İstanbul", ["istanbul"]),
        ("zh-Hans", "中国的首都", ["中国", "国的", "的首", "首都"]),
        ("zh", "GPT 长", ["gpt", "长"]),
        ("pl", "Żółte ptaki", ["żółte", "ptaki"]),
        ("en", "", []),
        ("en", "the of and, 12!", []),
    ],
)
def test_content_words_of_a_text(language, text, expected):
    assert tokens(text, language) == expected


def test_digits_and_forms_of_letters_are_the_usual_ones():
    assert tokens("COVID-19, mp3 of 1984", "en", numbers=True) == ["covid", "19", "mp", "3", "1984"]
    assert tokens("عام ٢٠٢٠", "ar", numbers=True) == ["عام", "2020"]
    assert tokens("cafe\u0301 \uff21\uff22\uff23 \ufb01ne", "en") == ["café", "abc", "fine"]
    assert tokens("الصِّين", "ar") == tokens("الصين", "ar")
    assert tokens("a" * 41 + " " + "b" * 40, "de") == ["b" * 40]
    assert tokens("The Thermometer", "en-US") == ["thermometer"]
    assert tokens("Und Regen", "de") == ["regen"]
    assert tokens("and yağmur", "tr") == ["and", "yağmur"]


def test_places_are_those_of_the_text_as_it_was_given():
    for text in (
        "The Ａpples of \ufb01ne cafe\u0301s.",
        "\u1112\u1161\u11ab\u1100\u116e\u11a8 (decomposed Hangul)",
        "\uff76\uff9e\uff77 voiced \u00b4accent",
        "İSTANBUL ΟΔΟΣ’Α",
        "  \n km²",
    ):
        for word, start, end in located(text, "en", numbers=True):
            assert tokens(text[start:end], "en", numbers=True) == [word]
    text = "Die H\u0061\u0308user!"
    assert [text[start:end] for _, start, end in located(text, "de")] == ["Ha\u0308user"]


@pytest.mark.long
@settings(max_examples=limit_cases(300), deadline=None)
@given(st.text(max_size=60), st.sampled_from(["en", "ar", "zh", "pl", "hi"]), st.booleans())
def test_words_with_places_are_the_words_without(text, language, numbers):
    found = located(text, language, numbers=numbers)
    assert [word for word, _, _ in found] == tokens(text, language, numbers=numbers)
    assert all(0 <= start < end <= len(text) for _, start, end in found)


@settings(max_examples=limit_cases(200), deadline=None)
@given(st.text(max_size=60))
def test_composed_and_decomposed_text_has_the_same_words(text):
    assert tokens(unicodedata.normalize("NFD", text), "en") == tokens(
        unicodedata.normalize("NFC", text), "en"
    )


def test_the_name_of_the_rules_tells_languages_apart():
    assert fingerprint("en-US") == fingerprint("en") == "words-1:words:english-061f3530"
    assert fingerprint("de") == "words-1:words:snowball-german"
    assert fingerprint("zh") == "words-1:pairs:none"
    assert fingerprint("pl") == "words-1:words:none"
