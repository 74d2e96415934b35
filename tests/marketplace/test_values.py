"""Money, fees, ids and the XML of questions and answers."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import money
from marketplace import ids
from marketplace.errors import Refusal
from marketplace.forms.questions import EXTERNAL_QUESTION, answers_xml, parse_question


@pytest.mark.parametrize(
    ("amount", "cents"), [("0.15", 15), ("1", 100), ("1.", 100), ("01.00", 100), ("0.5", 50), ("0", 0)]
)
def test_an_amount_is_whole_cents(amount, cents):
    assert money.cents(amount) == cents


@pytest.mark.parametrize("amount", [".5", "1.505", "-1", "$0.1", "0.10\n", "1,00", "", "1e2", "٣", "NaN"])
def test_what_is_no_amount_is_refused(amount):
    with pytest.raises(ValueError, match="not an amount"):
        money.cents(amount)


@given(st.integers(0, 10**12))
def test_money_comes_back_as_it_went_out(cents):
    assert money.cents(money.dollars(cents)) == cents


@pytest.mark.parametrize(
    ("reward", "small", "large"),
    [(1, 1, 1), (5, 1, 2), (8, 2, 3), (10, 2, 4), (52, 10, 21), (100, 20, 40)],
)
def test_fees_follow_the_published_table(reward, small, large):
    assert money.reward_fee("mturk-2026", reward_cents=reward, max_assignments=9) == small
    assert money.reward_fee("mturk-2026", reward_cents=reward, max_assignments=10) == large
    assert money.reward_fee("none-1", reward_cents=reward, max_assignments=10) == 0


def test_masters_cost_five_percent_more_and_a_bonus_at_least_a_cent():
    masters = ["2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"]
    assert (
        money.reward_fee("mturk-2026", reward_cents=100, max_assignments=1, qualification_ids=masters) == 25
    )
    assert money.bonus_fee("mturk-2026", bonus_cents=1) == 1
    assert money.bonus_fee("mturk-2026", bonus_cents=250) == 50


def test_ids_look_like_the_real_ones():
    assert all(re.fullmatch(r"3[A-Z0-9]{29}", ids.new_entity_id()) for _ in range(200))
    assert all(re.fullmatch(r"A[A-Z0-9]{13}", ids.new_customer_id()) for _ in range(200))


def external(url: str, height: str = "400") -> str:
    return (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}"><ExternalURL>{url}</ExternalURL>'
        f"<FrameHeight>{height}</FrameHeight></ExternalQuestion>"
    )


def test_an_external_question_is_read():
    question = parse_question(external("https://lab.example.org/t?x=1&amp;y=2"))
    assert (question.url, question.frame_height) == ("https://lab.example.org/t?x=1&y=2", 400)


@pytest.mark.parametrize(
    "url",
    [
        "http://lab.example.org/",
        "javascript:alert(1)",
        "https://",
        "https://user:pw@lab.example.org/",
        "ftp://lab.example.org/",
        "https://lab.example.org:port/",
        "https://lab.example.org/a b",
        "//lab.example.org/",
        "https://[::1",
    ],
)
def test_addresses_that_are_not_https_are_refused(url):
    with pytest.raises(Refusal) as refusal:
        parse_question(external(url))
    assert refusal.value.code == "InvalidParameterValue"


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:81"])
def test_plain_http_is_for_this_machine_only(host):
    assert parse_question(external(f"http://{host}/")).url == f"http://{host}/"


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "not xml",
        "<a>",
        "<HTMLQuestion/>",
        external("https://a.example/", "-1"),
        external("https://a.example/", "1.5"),
        external("https://a.example/").replace("<FrameHeight>400</FrameHeight>", ""),
        '<!DOCTYPE x [<!ENTITY e "e">]>' + external("https://a.example/&e;"),
    ],
)
def test_xml_that_is_no_question_is_named_so(xml):
    with pytest.raises(Refusal) as refusal:
        parse_question(xml)
    assert refusal.value.code == "XMLParseError"


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=80)), max_size=8))
def test_every_answer_is_well_formed_xml_and_keeps_its_text(fields):
    root = ElementTree.fromstring(answers_xml(fields))
    names = [item.text or "" for item in root.iter() if item.tag.endswith("QuestionIdentifier")]
    assert len(names) == len(
        {name for name, _ in fields} - {"assignmentId", "hitId", "workerId", "turkSubmitTo"}
    )
    for name, value in fields:
        if (
            name.isalnum()
            and name.isascii()
            and value.isprintable()
            and [n for n, _ in fields].count(name) == 1
        ):
            assert value in "".join(root.itertext())


def test_repeated_fields_are_joined_and_reserved_ones_left_out():
    xml = answers_xml([("a", "1"), ("assignmentId", "3X"), ("a", "2"), ("b", "\x00<&")])
    root = ElementTree.fromstring(xml)
    assert [item.text for item in root.iter() if item.tag.endswith("FreeText")] == ["1|2", "\ufffd<&"]
