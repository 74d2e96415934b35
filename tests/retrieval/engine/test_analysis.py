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


def test_words_are_folded_and_long_ones_left_out():
    assert set(terms("首都是哪里", "zh")) <= set(words("中国的首都是哪里\uff1f北京。", "zh"))
    assert words("cafe\u0301 \uff21\uff22\uff23 ﬁne", "en") == ["cafe", "abc", "fine"]
    assert words("a" * 39 + " " + "b" * 40, "de") == ["a" * 39]
    assert terms("cat cats CAT", "en") == ["cat"]
    assert chain_name("en-US") == chain_name("en") == "english-1"
    assert chain_name("zh") == chain_name("ja") == "pairs-1"
    assert chain_name("pl") == "plain-1"


def test_every_language_with_a_stemmer_has_a_chain():
    for language in [
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
    ]:
        assert terms("1984", language) == ["1984"], language
