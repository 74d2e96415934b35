"""Rules before anyone sees a query."""

import pytest

from annotation.importing.selection import RULES, Screen
from annotation.importing.tally import masked
from tests.annotation.importing.conftest import sample

SCREEN = Screen()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("who is jane.doe@example.org", "email"),
        ("jane\uff20example.org", "email"),
        ("is 4111 1111 1111 1111 a visa card", "card"),
        ("5500-0000-0000-0004", "card"),
        ("٤١١١١١١١١١١١١١١١", "card"),
        ("078-05-1120", "national-id"),
        ("who has AB 12 34 56 C", "national-id"),
        ("身份证 11010519491231002X", "national-id"),
        ("dni 12345678Z", "national-id"),
        ("nie X1234567L", "national-id"),
        ("cpf 111.444.777-35", "national-id"),
        ("784-1984-1234567-1", "national-id"),
        ("call (212) 555-0100", "phone"),
        ("+44 20 7946 0958 who called", "phone"),
        ("1-800-555-0199", "phone"),
        ("2125550100", "phone"),
        ("13812345678 是谁的电话", "phone"),
        ("030 1234 5678", "phone"),
        ("01 23 45 67 89", "phone"),
        ("http://a.b/c", "url"),
        ("www.example.org", "url"),
        ("www facebook", "url"),
        ("facebook.com login", "url"),
        ("go to bbc.co.uk", "url"),
        ("free porn", "words"),
        ("Fuck?", "words"),
        ("sex, videos", "words"),
        ("下载色情电影", "words"),
        ("x", "short"),
        ("word " * 80, "long"),
    ],
)
def test_each_rule_drops_what_it_is_for(text, rule):
    assert SCREEN.rule_for(text.strip()) == rule


@pytest.mark.parametrize(
    "text",
    [
        "what happened 1990-2000",
        "population of china 2026",
        "4111 1111 1111 1112",  # fails Luhn
        "node.js or 3.5 volts",
        "what is sex education",
        "what is a video",
        "who was born on 12.05.1984",
        "iso 9001:2015",
        "11010519491231002",  # 17 digits
        "12345678A",  # wrong check letter
        "猫",
        "scunthorpe united",
        "10000000 in words",
        "who wrote 1984?",
        "ما هي عاصمة مصر",
    ],
)
def test_ordinary_queries_stay(text):
    assert Screen(without=["short"]).rule_for(text) == ""


def test_rules_can_be_switched_off_and_have_words():
    assert Screen(without=["phone"]).rule_for("call (212) 555-0100") == ""
    assert Screen(without=["short", "long"]).rule_for("x") == ""
    with pytest.raises(ValueError, match="There is no rule 'colour'; there are: email, card"):
        Screen(without=["colour"])
    assert all(words for words in RULES.values())
    assert SCREEN.rule_for("who is that", ["my number is (212) 555-0100"]) == "phone"


def test_an_own_word_list_takes_the_place_of_the_shipped_one():
    screen = Screen(listed_terms=["Kraken", "two words", "章鱼"])
    texts = ("the KRAKEN!", "in two  words", "我的章鱼哥", "free porn")
    assert [screen.rule_for(text) for text in texts] == ["words", "words", "words", ""]


def test_counting_drops_the_same_as_the_rules(write):
    texts = ["plain words", "Porn", "porn?", "who? porn", "www.a.com", "2125550100", "x", "ok 2026"]
    texts.append("a@b.com")
    found, report = sample(write("log.csv", "query\n" + "\n".join(texts)), screen=Screen())
    assert sorted(found) == ["ok 2026", "plain words"]
    dropped = {name: rule["dropped"] for name, rule in report["rules"].items() if rule["dropped"]}
    assert dropped == {"email": 1, "phone": 1, "url": 1, "words": 3, "short": 1}


def test_up_to_20_examples_are_kept_with_their_lines_and_masked(write):
    _, report = sample(write("log.csv", "query\n" + "www.a.com\n" * 30))
    url = report["rules"]["url"]
    assert (url["dropped"], len(url["examples"])) == (30, 20)
    assert url["examples"][0] == {"line": 2, "text": "www.a.com"}
    assert masked("email", "mail jane.doe@example.org now") == "mail j…@example.org now"
    assert masked("phone", "call (212) 555-0100") == "call (212) •••-••••"
    assert masked("url", "www.a.com/123456") == "www.a.com/123456"
