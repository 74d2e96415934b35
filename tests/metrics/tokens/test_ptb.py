import random

import pytest

from metrics.tokens import PTB, PTB_KPQA, PTB_KPQA_WORDS
from tests.metrics.tokens.corenlp import original

SAID = {
    "He didn't say it's theirs, they'll know.": "he did n't say it 's theirs , they 'll know .",
    '"Why?" she asked (twice).': "`` why ? '' she asked -lrb- twice -rrb- .",
    "In the U.S. The end.": "in the u.s. . the end .",
    "in the U.S. and elsewhere": "in the u.s. and elsewhere",
    "Made by Acme Inc. They say so": "made by acme inc. . they say so",
    "made by Acme Inc. in 1990": "made by acme inc. in 1990",
    "Mr. Smith, Ph.D., etc.": "mr. smith , ph.d. , etc. .",
    "see fig. 3, not fig. A": "see fig. 3 , not fig . a",
    "about 1,000.50 or 1/2 at 10:30am": "about 1,000.50 or 1/2 at 10:30 am",
    "it costs $5.00, £3 or €2": "it costs $ 5.00 , # 3 or $ 2",
    "agents,brokers and/or well-known co-founders": "agents , brokers and/or well-known co-founders",
    "a 135cm seat at 37°C is 20% off": "a 135cm seat at 37 ° c is 20 % off",
    "see http://example.org/a?b=1, or www.example.org.": (
        "see http://example.org/a?b=1 , or www.example.org ."
    ),
    "write to a.b@example.org or @me #now": "write to a.b@example.org or @me #now",
    "wait... what?! \u2013 yes": "wait ... what ?! -- yes",
    "I'm gonna say I cannot, 'twas so": "i 'm gon na say i can not , 't was so",
    "\u201cHe said \u2018no\u2019\u201d": "`` he said ` no '''",
    "fine :-) <b>bold</b> AT&amp;T [1]": "fine :--rrb- <b> bold </b> at&t -lsb- 1 -rsb-",
    "O'Brien's l'avion in the '90s": "o'brien 's l'avion in the '90s",
    "ünïcode 中文 naïve x² ½": "ünïcode 中文 naïve x ² 1/2",
    "end.Start of v1.2 e.g.this": "end.start of v1 .2 e.g.this",
    "a 😀 zero\u200bwidth soft\u00adhyphen": "a zero width softhyphen",
    "one\ntwo\tthree": "one two three",
    "U.S. He ": "u.s. . he",
    "U.S. He": "u.s. . he",
    "U.S. Acme": "u.s. acme",
    "ask Co.a": "ask co. a",
    "of 3 :-)4": "of 3 : - -rrb- 4",
    "": "",
}


@pytest.mark.parametrize("text", SAID)
def test_a_text_has_the_tokens_of_the_treebank(text):
    assert " ".join(PTB.split(text)) == SAID[text]


def test_tokens_with_a_space_within_keep_it_as_one_that_does_not_break():
    assert PTB.split("1 1/2 cups, call (555) 123-4567") == [
        *("1\u00a01/2", "cups", ",", "call", "-lrb-555-rrb-\u00a0123-4567")
    ]


def test_lee_et_al_leave_out_marks_but_not_brackets():
    assert PTB_KPQA.split('"Well," he said (twice): yes...') == [
        *("well", "he", "said", "-lrb-", "twice", "-rrb-", "yes")
    ]


def test_their_bleu_and_cider_split_at_the_space_that_does_not_break():
    assert PTB_KPQA.split("1 1/2 cups.") == ["1\u00a01/2", "cups"]
    assert PTB_KPQA_WORDS.split("1 1/2 cups.") == ["1", "1/2", "cups"]


def test_what_was_read_before_changes_nothing():
    texts = ["x. The", "x. the", "x.", "U.S. The end", "U.S. The", "no. 5", "no. x", "co. ltd", "co. x"]
    first = [PTB.split(text) for text in texts]
    assert [PTB.split(text) for text in reversed(texts)] == first[::-1]


@pytest.mark.only_on("java")
def test_the_original_says_the_same_of_these_texts():
    texts = [text for text in SAID if text and "\n" not in text]
    assert [" ".join(tokens) for tokens in original(texts)] == [SAID[text] for text in texts]


@pytest.mark.only_on("java")
def test_of_texts_put_together_at_random_more_than_99_in_100_are_the_same():
    draw = random.Random(7)
    words = [word for text in SAID for word in text.split()]
    pieces = [
        *words,
        *'.,;:!?()[]"%&/-$#*_ ',
        "'",
        "'s",
        "n't",
        "...",
        "--",
        "1",
        "2019",
        "3.5",
        "A",
        "b",
        "Co.",
    ]
    texts = [
        "".join(draw.choice(pieces) + draw.choice([" ", " ", " ", ""]) for _ in range(draw.randrange(1, 12)))
        for _ in range(4000)
    ]
    texts = [text for text in texts if text.strip()]
    same = [PTB.split(text) == tokens for text, tokens in zip(texts, original(texts), strict=True)]
    assert sum(same) / len(same) > 0.99
