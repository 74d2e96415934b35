"""What tells passages that say the same."""

import pytest

from retrieval.near_repeats import Shingler, jaccard
from retrieval.services.repeats import digest_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The cat, it purrs.", "the CAT it   purrs"),
        ("Straße", "STRASSE"),
        ("Caf\u00e9 «fin»", "cafe\u0301 \u201cfin\u201d"),
        ("ﬁn", "fin"),
        ("猫が好き。", "猫が 好き"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_case_punctuation_and_white_space_do_not_tell_passages_apart(one, other):
    assert digest_of(one) == digest_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("x > 5", "x < 5"), ("कि", "की"), ("cafe", "café"), ("...", "!!!"), ("C++", "C")],
)
def test_words_signs_and_accents_do(one, other):
    assert digest_of(one) != digest_of(other)


def test_a_digest_stays_the_same_from_version_to_version():
    assert digest_of("The cat.") == digest_of("the cat")
    assert len(digest_of("The cat.")) == 32


def share(one, other, language="en"):
    triples, begins = Shingler(language).triples([one, other])
    return jaccard(triples[begins[0] : begins[1]], triples[begins[1] : begins[2]])


def test_the_share_is_that_of_common_triples_of_words_or_characters():
    assert share("a b c d e f", "A b, c d e f.") == 1
    assert share("a b c d e f", "a b c d e x") == 3 / 5
    assert share("a b c", "c b a") == 0
    assert share("a b", "a b") == 1
    assert share("a b", "a c") == 0
    assert share("我喜欢猫咪", "我喜欢猫。咪", "zh") == 1
    assert share("我喜欢猫咪", "我喜欢猫狗", "zh") == 2 / 4
    triples, begins = Shingler("en").triples(["a b c d", "x", "", "a b c d e"])
    assert [int(each) for each in begins] == [0, 2, 3, 4, 7]
    assert triples[0] == triples[4] and len(set(triples.tolist())) == 5
