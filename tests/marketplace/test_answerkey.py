"""What a test is worth: answer keys read, refused and applied."""

import pytest

from marketplace.errors import Refusal
from marketplace.forms.formanswers import parse_key, score
from marketplace.forms.questionform import parse_form
from tests.questionforms import (
    KEY,
    TEST,
    answer_key,
    free_text,
    percentage,
    question_form,
    ranges,
    scale,
    scored,
    selection,
)

FORM = parse_form(TEST)


def value(key, **answers):
    """Value of the qualification for these selections, separated by blanks."""
    return score(parse_key(key, FORM), {name: chosen.split() for name, chosen in answers.items()})


def test_without_a_mapping_the_value_is_the_sum():
    key = answer_key(scored("moves", d=5), scored("fruit", apple=10))
    assert value(key, moves="d", fruit="apple") == 15
    assert value(key, moves="d", fruit="pear") == 5
    assert value(key) == 0


def test_all_selections_of_an_option_and_no_others_earn_its_score():
    key = answer_key(scored("fruit", apple=4, apple_pear=10, default=-1))
    assert value(key, fruit="apple") == 4
    assert value(key, fruit="pear apple") == 10
    assert value(key, fruit="apple pear plum") == -1
    assert value(key, fruit="") == -1


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"moves": "d", "fruit": "apple pear"}, 100),
        ({"moves": "d", "fruit": "apple"}, 60),
        ({"moves": "d", "fruit": "plum"}, 27),
        ({"moves": "a", "fruit": "plum"}, -7),
    ],
)
def test_a_percentage_is_rounded_to_the_nearest_whole_number(answers, expected):
    assert value(KEY, **answers) == expected


@pytest.mark.parametrize(("factor", "expected"), [("3", 15), ("0.5", 3), (".3", 2), ("-1", -5), ("2.", 10)])
def test_a_scale_multiplies_and_rounds(factor, expected):
    assert value(answer_key(scored("moves", d=5), scale(factor)), moves="d") == expected


def test_ranges_give_their_values_and_the_rest_another():
    key = answer_key(scored("moves", a=4, b=5, c=7, d=8), ranges((5, 7, 50), (8, 10, 100), otherwise=-1))
    assert [value(key, moves=each) for each in "abcd"] == [-1, 50, 50, 100]


def test_a_key_may_leave_questions_out_and_be_indented():
    key = answer_key(scored("moves", d=5), percentage(5)).replace("><", ">\n  <").replace(">d<", "> d <")
    assert value(key, moves="d", fruit="plum") == 100


@pytest.mark.parametrize(
    ("key", "code", "says"),
    [
        ("<AnswerKey/>", "XMLParseError", "expected AnswerKey in http://mechanicalturk"),
        ("<AnswerKey", "XMLParseError", "not well-formed"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>' + KEY, "XMLParseError", "DTD"),
        (KEY + " " * 65_536, "InvalidParameterValue", "65535"),
        (answer_key(), "XMLParseError", "at least one Question"),
        (answer_key(percentage(5)), "XMLParseError", "at least one Question"),
        (answer_key(percentage(5), scored("moves", d=5)), "XMLParseError", "where a Question is expected"),
        (answer_key(scored("shape", d=5)), "InvalidParameterValue", "no question 'shape'"),
        (answer_key(scored("moves", e=5)), "InvalidParameterValue", "'moves' has no selection 'e'"),
        (answer_key(scored("moves")), "XMLParseError", "no AnswerOption"),
        (answer_key(scored("moves", d=5), scored("moves", a=5)), "XMLParseError", "twice"),
        (answer_key(scored("fruit", apple_pear=1, pear_apple=2)), "InvalidParameterValue", "two scores"),
        (answer_key(scored("moves", d=5), percentage(0)), "InvalidParameterValue", "at least 1"),
        (answer_key(scored("moves", d=5), scale("three")), "XMLParseError", "not a decimal number"),
        (answer_key(scored("moves", d=5), scale("1e9")), "XMLParseError", "not a decimal number"),
        (answer_key(scored("moves", d=2**31 - 1), scale("2")), "InvalidParameterValue", "32 bits"),
        (answer_key(scored("moves", d=2**31)), "XMLParseError", "32 bits"),
        (
            answer_key(scored("moves", d=5), ranges((5, 7, 1), (7, 9, 2), otherwise=0)),
            "InvalidParameterValue",
            "contain 7",
        ),
        (
            answer_key(scored("moves", d=5), ranges((7, 5, 1), otherwise=0)),
            "InvalidParameterValue",
            "down to 5",
        ),
        (answer_key(scored("moves", d=5), ranges(otherwise=0)), "XMLParseError", "no SummedScoreRange"),
        (answer_key(scored("moves", d=5), scale("1").replace("Scale", "Other")), "XMLParseError", "one of"),
        (KEY.replace("<AnswerScore>5</AnswerScore>", ""), "XMLParseError", "lacks AnswerScore"),
        (KEY.replace(">5<", "><b/>5<"), "XMLParseError", "where text is expected"),
    ],
)
def test_a_key_that_cannot_be_meant_is_refused_in_a_sentence(key, code, says):
    with pytest.raises(Refusal) as refusal:
        parse_key(key, FORM)
    assert refusal.value.code == code
    assert says in refusal.value.message


def test_only_selections_can_be_scored():
    form = parse_form(question_form(selection("moves", "a b"), free_text("why")))
    with pytest.raises(Refusal, match="'why' is answered in free text"):
        parse_key(answer_key(scored("why", a=1)), form)
