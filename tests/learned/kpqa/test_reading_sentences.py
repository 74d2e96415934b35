from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distillery_learned.training.kpqa_examples import around, sentences


def cut(text):
    return [text[begin:end].strip() for begin, end in sentences(text)]


@pytest.mark.parametrize(
    "marked",
    [
        "Dr. A. B. Smith met J. R. R. Tolkien at 3.5 p.m. in St. Louis. |They spoke.",
        "It grew by 6.5 percent, i.e. a lot, vs. 1.2 before. |See Fig. 3 and No. 12 for more.",
        '"Who goes?" he asked. |(Nobody answered.) |“It was late.” |Then it rained!',
        "He left in 1945.[12] |She stayed.[3][4] |They met again.3 |All was well.1,2 |It ended.",
        "The U.S. Army came. |It left the U.S. |It had won. |Acme Inc. Paris paid.",
        "Wait... |Really?! |Yes.",
        "A heading\n\n|The text follows. |So it does.",
        "There are three:\n|- one thing\n|- another\n|• a third.",
        "The rate was 0.19. |b) There is a delay [5, 8] . |It is short.",
        "Results in 12.\n|1. This is the first.\n|2. This is the second.",
        "He is number one. |No. |That is wrong.",
        "I met P. G. Wodehouse on p. 12. |So did I. |It was Rev. Hall today.",
        "Add 5 ml, wait 15 min. |Stir.",
        "The line is\nbroken in the\nmiddle. |Here\nis another.",
        "The firm Yahoo! is big. iPhones are too.",
        "An enzyme of Eimeria spp. was found in Eimeria spp. |However, not by LC/MS. |It is rare.",
    ],
)
def test_sentences_of_english_prose(marked):
    assert cut(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


def test_a_long_sentence_stays_whole():
    long = "one, " * 2000 + "two."
    assert cut(f"It begins. {long.capitalize()} It ends.") == ["It begins.", long.capitalize(), "It ends."]


def test_a_span_over_two_sentences_takes_both():
    text = "One is here. Two is there. Three is gone."
    found = sentences(text)
    begin, end = text.index("here"), text.index("there") + 5
    assert text[slice(*around(found, (begin, end)))].strip() == "One is here. Two is there."
    assert text[slice(*around(found, (end, end + 1)))].strip() == "Two is there."


TEXTS = st.text(st.sampled_from("ab AB.!?\n\"'()[]1 —•é\u3000"), max_size=60) | st.text(max_size=40)


@pytest.mark.long
@given(TEXTS)
def test_sentences_cover_a_text(text):
    found = sentences(text)
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    assert all(one[1] == other[0] for one, other in pairwise(found))
    assert all(text[begin:end].strip() for begin, end in found) or not text.strip()


@pytest.mark.long
@given(st.data())
def test_the_sentences_around_a_span_hold_it(data):
    text = data.draw(TEXTS.filter(str.strip))
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin + 1, len(text)))
    left, right = around(sentences(text), (begin, end))
    assert left <= begin < end <= right
