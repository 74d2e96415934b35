"""Questions that come with their HITs (design 2.6): HTMLQuestion and QuestionForm through boto3."""

import pytest

from tests.clients import ask, post_form
from tests.conformance.protocol import answer_fields, assignments, create_hit, get_hit, refused_request

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"


def html_question(html, height=0):
    return (
        f'<HTMLQuestion xmlns="{SCHEMAS}2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[{html}]]>'
        f"</HTMLContent><FrameHeight>{height}</FrameHeight></HTMLQuestion>"
    )


def question_form(answer, version="2005-10-01", content="<Text>Which?</Text>"):
    return (
        f'<QuestionForm xmlns="{SCHEMAS}{version}/QuestionForm.xsd"><Question>'
        f"<QuestionIdentifier>one</QuestionIdentifier><IsRequired>true</IsRequired>"
        f"<QuestionContent>{content}</QuestionContent><AnswerSpecification>{answer}</AnswerSpecification>"
        "</Question></QuestionForm>"
    )


SELECTION = (
    "<SelectionAnswer><StyleSuggestion>radiobutton</StyleSuggestion><Selections><Selection>"
    "<SelectionIdentifier>x</SelectionIdentifier><Text>X</Text></Selection></Selections></SelectionAnswer>"
)


def test_an_html_question_is_kept_shown_and_answered(client, worker):
    question = html_question("<form><input name='a'></form> é")
    hit = create_hit(client, Question=question)
    assert get_hit(client, hit)["Question"] == question
    taken = worker.accept(hit["HITId"])
    page = ask("GET", taken["frame_url"])
    assert page.status == 200
    assert "<form><input name='a'></form> é" in page.text
    assert "sandbox" in page.headers["content-security-policy"]
    assert "set-cookie" not in page.headers
    assert worker.submit(taken, a="1", b="x").status == 200
    [assignment] = assignments(client, hit)
    assert answer_fields(assignment) == {"a": "1", "b": "x"}
    assert ask("GET", taken["frame_url"]).status == 410


@pytest.mark.parametrize("version", ["2005-10-01", "2017-11-06"])
def test_a_question_form_is_drawn_held_against_its_rules_and_answered(client, worker, version):
    hit = create_hit(client, Question=question_form(SELECTION, version))
    taken = worker.accept(hit["HITId"])
    assert 'name="answer:one" value="x"' in ask("GET", taken["frame_url"]).text
    assert worker.submit(taken, other="y").status == 422
    assert assignments(client, hit) == []
    assert post_form(taken["submit_url"], {"answer:one": "x"}).status == 200
    [assignment] = assignments(client, hit)
    assert "<SelectionIdentifier>x</SelectionIdentifier>" in assignment["Answer"]


@pytest.mark.parametrize(
    ("question", "code"),
    [
        (html_question(""), "XMLParseError"),
        (html_question("<p>a</p>").replace("]]>", ""), "XMLParseError"),
        (html_question("x" * 65_536), "InvalidParameterValue"),
        (html_question("<crowd-bounding-box>"), "NotSupported"),
        (question_form("<Stars/>"), "XMLParseError"),
        (question_form("<FileUploadAnswer/>"), "NotSupported"),
        (
            question_form(SELECTION, content="<FormattedContent><![CDATA[<b>]]></FormattedContent>"),
            "XHTMLParseError",
        ),
        (
            question_form(SELECTION, content="<FormattedContent>&lt;script/&gt;</FormattedContent>"),
            "XHTMLParseError",
        ),
    ],
    ids=["empty", "not closed", "too long", "element", "answer", "files", "XHTML", "script"],
)
def test_a_question_that_cannot_be_shown_is_refused_before_anything_is_paid(client, question, code):
    before = client.get_account_balance()["AvailableBalance"]
    with refused_request(code):
        create_hit(client, Question=question)
    assert client.get_account_balance()["AvailableBalance"] == before
