"""Many passages cut into words at once: the same words as one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.engine import analysis
from retrieval.engine.analysis import batches, cut, joined, passage_chain, prepared

TEXTS = [
    "The well-known Cats' cafés, in 2020.\n\nNo? Yes!",
    "",
    "  spaces\u00a0and\ttabs\u3000 ",
    "ΟΔΥΣΣΕΥΣ ὈΔΥΣΣΕΎΣ",
    "हिन्दी में लिखा",
    "中国的首都是北京。 GPT-4",
    "a" * 39 + " " + "b" * 40 + " " + "ﬁ" * 30,
    "½ ⅷ x² İstanbul ß",
]


def one_by_one(text, language):
    return passage_chain(language).analyze(prepared(text, language))


@pytest.mark.parametrize("language", ["en", "zh", "el", "tr", "pl", "hi"])
@pytest.mark.parametrize("few", [0, 1_000])
def test_the_words_are_those_of_the_chain(language, few, monkeypatch):
    monkeypatch.setattr(analysis, "FEW", few)
    assert [words.split() for words in joined(TEXTS, language)] == [
        one_by_one(text, language) for text in TEXTS
    ]


@pytest.mark.long
@given(st.text(), st.sampled_from(["en", "de", "zh", "tr"]))
def test_whatever_the_text_is(text, language):
    words = analysis._by_columns([prepared(text, language)], analysis._forms(language))
    assert words[0].split() == joined([text], language)[0].split() == one_by_one(text, language)


def test_passages_keep_their_order_over_batches_which_long_texts_close_early(monkeypatch):
    monkeypatch.setattr(analysis, "BATCH", 3)
    passages = [(number, f"word{number}") for number in range(20)]
    assert list(cut(passages, "de")) == passages
    monkeypatch.setattr(analysis, "MOST_CHARACTERS", 10)
    passages = [(1, "a" * 6), (2, "b" * 6), (3, "c"), (4, "d" * 20)]
    assert [[key for key, _ in batch] for batch in batches(passages)] == [[1, 2], [3, 4]]

    def passages():
        yield 1, "cat"
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError, match="gone"):
        list(cut(passages(), "en"))


def test_only_so_many_written_forms_are_remembered_and_no_long_ones(monkeypatch):
    monkeypatch.setattr(analysis, "MOST_FORMS", 2)
    forms = analysis._Forms(passage_chain("en").analyze)
    assert [forms[form] for form in ("Cats", "x" * 70, "dogs", "birds", "Cats")] == [
        "cat",
        "",
        "dog",
        "bird",
        "cat",
    ]
    assert list(forms) == ["Cats", "dogs"]
