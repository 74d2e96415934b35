"""From text to words, in many languages."""

import pytest

from retrieval.engine.analysis import chain_name, passage_chain, prepared, terms


def words(text, language):
    return passage_chain(language).analyze(prepared(text, language))


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("en", "What are the Cats' cafés?", ["cat", "cafe"]),
        ("en-GB", "running, runs", ["run"]),
        ("de", "Wo stehen die Häuser?", ["steh", "haus"]),
        ("fr", "Dans la chaîne des écoles", ["chain", "ecol"]),
        ("ar", "ما هي عاصمة الصين؟", ["عاصم", "صين"]),
        ("zh-Hans", "中国的首都", ["中国", "国的", "的首", "首都"]),
        ("zh", "长", ["长"]),
        ("zh", "GPT-4 是什么\uff1f", ["gpt", "4", "是什", "什么"]),
        ("ja", "東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("th", "ไทย", ["ไท", "ทย"]),
        ("pl", "Żółte ptaki", ["zolte", "ptaki"]),
    ],
)
def test_terms_of_a_query(language, query, expected):
    assert terms(query, language) == expected


def test_every_pair_of_a_chinese_query_is_a_word_of_a_passage_that_holds_it():
    assert set(terms("首都是哪里", "zh")) <= set(words("中国的首都是哪里\uff1f北京。", "zh"))


def test_decomposed_and_full_width_letters_are_the_usual_ones():
    assert words("cafe\u0301 \uff21\uff22\uff23 ﬁne", "en") == ["cafe", "abc", "fine"]


def test_words_of_forty_bytes_and_more_are_left_out():
    assert words("a" * 39 + " " + "b" * 40, "de") == ["a" * 39]


def test_each_word_of_a_query_counts_once():
    assert terms("cat cats CAT", "en") == ["cat"]


def test_the_name_of_the_rules_tells_languages_apart():
    assert chain_name("en-US") == chain_name("en") == "english-1"
    assert chain_name("zh") == chain_name("ja") == "pairs-1"
    assert chain_name("pl") == "plain-1"


@pytest.mark.parametrize(
    "language",
    [
        "ar",
        "da",
        "de",
        "el",
        "en",
        "es",
        "fi",
        "fr",
        "hu",
        "it",
        "nb",
        "nl",
        "pt",
        "ro",
        "ru",
        "sv",
        "ta",
        "tr",
    ],
)
def test_every_language_with_a_stemmer_has_a_chain(language):
    assert terms("1984", language) == ["1984"]
