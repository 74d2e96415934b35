"""Documents cut into passages."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sentences import LONGEST_SENTENCE, WindowOptions, windows

SEVEN = "One is. Two is.  Three is.\nFour is. Five is. Six is. Seven is."


def cut(text, size, stride, by="sentences", language="en"):
    return [text[start:end] for start, end in windows(text, language, WindowOptions(size, stride, by))]


def test_windows_overlap_by_what_the_stride_leaves_and_end_with_the_document():
    assert cut(SEVEN, 3, 2) == [
        "One is. Two is.  Three is.",
        "Three is.\nFour is. Five is.",
        "Five is. Six is. Seven is.",
    ]
    assert cut(SEVEN, 4, 2)[-1] == "Five is. Six is. Seven is."
    assert cut(SEVEN, 5, 3) == [
        "One is. Two is.  Three is.\nFour is. Five is.",
        "Four is. Five is. Six is. Seven is.",
    ]
    assert cut(SEVEN, 7, 1) == [SEVEN]
    assert cut(SEVEN, 20, 10) == [SEVEN]
    assert cut(" \n ", 5, 3) == cut("", 5, 3) == []


def test_windows_of_words_hold_sentences_as_far_as_they_go():
    assert cut(SEVEN, 5, 5, "words") == [
        "One is. Two is.",
        "Three is.\nFour is.",
        "Five is. Six is.",
        "Seven is.",
    ]
    assert cut(SEVEN, 6, 3, "words")[:2] == ["One is. Two is.  Three is.", "Three is.\nFour is. Five is."]
    assert cut("one two three four five. Six.", 2, 2, "words") == ["one two", "three four", "five. Six."]
    assert cut("我喜欢猫。我也喜欢狗。", 5, 5, "words", "zh") == ["我喜欢猫。", "我也喜欢狗", "。"]
    pieces = cut("word " * 1000, 1, 1)
    assert len(pieces) == 5 and max(map(len, pieces)) <= LONGEST_SENTENCE
    assert cut("x" * 2500, 1, 1) == ["x" * 1000, "x" * 1000, "x" * 500]


@pytest.mark.parametrize(
    ("size", "stride", "by", "words"),
    [
        (0, 1, "sentences", "A window has 1 to 100 sentences, not 0"),
        (5, 6, "sentences", "The stride is 1 to 5 sentences, not 6"),
        (2001, 1, "words", "A window has 1 to 2,000 words, not 2,001"),
        (5, 3, "pages", "by sentences or by words, not by pages"),
    ],
)
def test_sizes_that_cannot_be_are_refused_in_words(size, stride, by, words):
    with pytest.raises(ValueError, match=words):
        WindowOptions(size, stride, by)


@given(
    st.text(alphabet="ab. \n!。", max_size=300),
    st.integers(1, 8),
    st.integers(1, 8),
    st.sampled_from(["sentences", "words"]),
)
def test_windows_leave_nothing_out_and_go_forward(text, size, stride, by):
    found = windows(text, "en", WindowOptions(max(size, stride), stride, by))
    covered = set()
    for start, end in found:
        assert not text[start].isspace() and not text[end - 1].isspace()
        covered.update(range(start, end))
    assert all(text[at].isspace() for at in range(len(text)) if at not in covered)
    assert all(one[0] < two[0] and one[1] < two[1] for one, two in pairwise(found))
