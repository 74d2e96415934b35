"""Questions that come with their HITs (design 2.6): HTMLQuestion and QuestionForm through boto3."""

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


def test_a_question_form_is_drawn_held_against_its_rules_and_answered(client, worker, subtests):
    for version in ["2005-10-01", "2017-11-06"]:
        with subtests.test(version=version):
            hit = create_hit(client, Question=question_form(SELECTION, version))
            taken = worker.accept(hit["HITId"])
            assert 'name="answer:one" value="x"' in ask("GET", taken["frame_url"]).text
            assert worker.submit(taken, other="y").status == 422
            assert assignments(client, hit) == []
            assert post_form(taken["submit_url"], {"answer:one": "x"}).status == 200
            [assignment] = assignments(client, hit)
            assert "<SelectionIdentifier>x</SelectionIdentifier>" in assignment["Answer"]


def test_a_question_that_cannot_be_shown_is_refused_before_anything_is_paid(client, subtests):
    for question, code in [
        (html_question(""), "XMLParseError"),
        (html_question("<p>a</p>").replace("]]>", ""), "XMLParseError"),
        (html_question("x" * 65_536), "InvalidParameterValue"),
        (html_question("<crowd-nothing-here>"), "NotSupported"),
        (question_form("<Stars/>"), "XMLParseError"),
        (question_form("<FileUploadAnswer/>"), "XMLParseError"),
        (
            question_form(SELECTION, content="<FormattedContent><![CDATA[<b>]]></FormattedContent>"),
            "XHTMLParseError",
        ),
        (
            question_form(SELECTION, content="<FormattedContent>&lt;script/&gt;</FormattedContent>"),
            "XHTMLParseError",
        ),
    ]:
        with subtests.test(question=question, code=code):
            before = client.get_account_balance()["AvailableBalance"]
            with refused_request(code):
                create_hit(client, Question=question)
            assert client.get_account_balance()["AvailableBalance"] == before


def test_a_plain_page_is_told_how_a_page_is_sent(client):
    for page in ("<!DOCTYPE html><html><body>Hi</body></html>", "<html>Hi</html>", "\n<p>Hi<p>"):
        with refused_request("XMLParseError", stem="wrap the page in HTMLQuestion"):
            create_hit(client, Question=page)


FORMATTED = """<p>See <a href="https://example.org/help" target="_blank" name="help" rel="nofollow"
 hreflang="en" accesskey="h" tabindex="2">the <abbr title="Hypertext">HTML</abbr> help</a>,
 <a href="#help">above</a> or <a href="mailto:lab@example.org">write</a>; <acronym title="x">NASA</acronym>
 <a href="ftp://example.org/x">ftp</a></p>
<img src="https://example.org/a.png" alt="A map" usemap="#parts" hspace="2" longdesc="https://example.org/d"/>
<map name="parts">
<area shape="rect" coords="0,0,9,9" href="https://example.org/1" alt="One" target="_top"/></map>
<blockquote cite="https://example.org/">q</blockquote>
<table frame="box" bgcolor="#eeeeee"><tr bgcolor="red"><td headers="a" axis="b" abbr="c">x</td></tr>
</table><ul compact="compact"><li value="3" type="disc">y</li></ul>"""


def test_formatted_content_has_all_that_mturk_documents(client, worker):
    content = f"<FormattedContent><![CDATA[{FORMATTED}]]></FormattedContent>"
    hit = create_hit(client, Question=question_form(SELECTION, content=content))
    page = ask("GET", worker.accept(hit["HITId"])["frame_url"]).text
    link = (
        'href="https://example.org/help" name="help" hreflang="en" target="_blank" rel="noopener noreferrer"'
    )
    assert f"<a {link}>" in page
    assert '<a href="#help">above</a>' in page and 'href="mailto:lab@example.org"' in page
    assert "<a>ftp</a>" in page and "_top" not in page and "accesskey" not in page and "longdesc" not in page
    assert '<map name="parts">' in page and '<area shape="rect"' in page and 'usemap="#parts"' in page


def test_formatted_content_that_could_act_is_refused(client, subtests):
    for markup in [
        '<a href="javascript:alert(1)">x</a>',
        '<a href="data:text/html,x">x</a>',
        '<a onclick="x()">x</a>',
        '<area href="vbscript:x" alt="x"/>',
        '<map><area alt="x"/></map>',
        '<a href="#a b">x</a>',
        '<p style="color:red">x</p>',
        '<p id="form">x</p>',
        '<img src="ftp://example.org/a.png" alt=""/>',
        "<script>x</script>",
        "<form><p>x</p></form>",
    ]:
        with subtests.test(markup=markup):
            content = f"<FormattedContent><![CDATA[{markup}]]></FormattedContent>"
            with refused_request("XHTMLParseError"):
                create_hit(client, Question=question_form(SELECTION, content=content))
