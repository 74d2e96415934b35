"""How review policies compare answers, without a marketplace around them."""

import pytest

from marketplace.forms.questions import ANSWERS, answers_xml
from marketplace.heritage import review_policies
from marketplace.heritage.review_policies import agreement

FORM = f"""<QuestionFormAnswers xmlns="{ANSWERS}">
  <Answer><QuestionIdentifier>one</QuestionIdentifier><SelectionIdentifier>b</SelectionIdentifier></Answer>
  <Answer>
    <QuestionIdentifier>several</QuestionIdentifier>
    <SelectionIdentifier>a</SelectionIdentifier><SelectionIdentifier>c</SelectionIdentifier>
    <OtherSelectionText> something else </OtherSelectionText>
  </Answer>
  <Answer><QuestionIdentifier>text</QuestionIdentifier><FreeText> Straße\n</FreeText></Answer>
  <Answer><QuestionIdentifier>empty</QuestionIdentifier><FreeText></FreeText></Answer>
</QuestionFormAnswers>"""


def values(*texts):
    return frozenset(texts)


def test_answers_of_a_question_form_are_sets_of_values():
    assert review_policies.read_answers(FORM) == {
        "one": values("b"),
        "several": values("a", "c", "something else"),
        "text": values("Straße"),
        "empty": values(),
    }


def test_check_boxes_of_a_web_form_are_several_values_where_the_key_has_several():
    read = review_policies.read_answers(answers_xml([("box", "a"), ("box", "b"), ("line", "a|b")]))
    assert review_policies.matches(read["box"], values("a", "b"))
    assert not review_policies.matches(read["box"], values("a"))
    assert not review_policies.matches(read["box"], values("a", "b", "c"))
    assert review_policies.matches(read["line"], values("a|b"))


@pytest.mark.parametrize(
    ("given", "key", "right"),
    [
        ({}, values(), True),
        ({"q": values("x")}, values(), False),
        ({}, values("x"), False),
        ({"q": values("x")}, values("x"), True),
        ({"q": values("X")}, values("x"), False),
    ],
    ids=["nothing-asked", "something-for-nothing", "left-out", "same", "case"],
)
def test_a_question_left_out_is_an_empty_answer(given, key, right):
    assert review_policies.check_answers(given, {"q": key}) == {"q": right}


def agreed(texts, threshold):
    found = agreement(["q"], [{"q": values(text)} for text in texts], threshold).agreed["q"]
    return None if found is None else (sorted(found[0]), found[1])


@pytest.mark.parametrize(
    ("texts", "threshold", "wanted"),
    [
        ("aab", 50, (["a"], 66)),
        ("aab", 66, None),
        ("aab", 65, (["a"], 66)),
        ("aabb", 10, None),
        ("aabbc", 10, None),
        ("aaa", 100, (["a"], 100)),
        ("a", 100, (["a"], 100)),
        ("abc", 0, None),
    ],
)
def test_an_answer_is_agreed_upon_if_more_than_the_threshold_gave_it_and_no_other_is_as_common(
    texts, threshold, wanted
):
    assert agreed(texts, threshold) == wanted


def test_an_answer_that_is_too_long_agrees_with_nothing():
    assert agreed(["x" * 257] * 3, 0) is None
    assert agreed(["x" * 256] * 3, 0) == (["x" * 256], 100)
    assert agreed(["a", "a", "x" * 257], 60) == (["a"], 66)
