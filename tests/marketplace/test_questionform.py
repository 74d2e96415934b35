"""QuestionForm: what is read of it, how it is drawn, what is taken for an answer."""

from xml.etree import ElementTree

import pytest
from django.http import QueryDict

from marketplace.errors import Refusal
from marketplace.forms import formanswers as fields
from marketplace.forms.formanswers import answers_xml, read_form_answers
from marketplace.forms.questionform import parse_form
from marketplace.forms.questions import parse_question

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
ANSWERS = f"{{{SCHEMAS}2005-10-01/QuestionFormAnswers.xsd}}"
FREE = "<FreeTextAnswer/>"


def form_xml(*parts: str, version: str = "2005-10-01") -> str:
    """A QuestionForm with these parts."""
    return f'<QuestionForm xmlns="{SCHEMAS}{version}/QuestionForm.xsd">{"".join(parts)}</QuestionForm>'


def ask(
    identifier: str = "colour",
    answer: str = FREE,
    *,
    required: bool = False,
    content: str = "<Text>Which?</Text>",
) -> str:
    """A Question."""
    wanted = "<IsRequired>true</IsRequired>" if required else ""
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>{wanted}"
        f"<QuestionContent>{content}</QuestionContent>"
        f"<AnswerSpecification>{answer}</AnswerSpecification></Question>"
    )


def select(*identifiers: str, style: str = "", least: int = 0, most: int = 1, other: str = "") -> str:
    """A SelectionAnswer."""
    options = "".join(
        f"<Selection><SelectionIdentifier>{each}</SelectionIdentifier><Text>{each.title()}</Text></Selection>"
        for each in identifiers
    )
    suggestion = f"<StyleSuggestion>{style}</StyleSuggestion>" if style else ""
    return (
        f"<SelectionAnswer><MinSelectionCount>{least}</MinSelectionCount>"
        f"<MaxSelectionCount>{most}</MaxSelectionCount>{suggestion}"
        f"<Selections>{options}{other}</Selections></SelectionAnswer>"
    )


def limited(inside: str) -> str:
    """A FreeTextAnswer with constraints."""
    return f"<FreeTextAnswer><Constraints>{inside}</Constraints></FreeTextAnswer>"


def filled(form, **fields):
    """What `read` makes of a post; each field is `answer:NAME` unless its name says `other_NAME`."""
    post = QueryDict(mutable=True)
    for name, value in fields.items():
        key = f"other:{name.removeprefix('other_')}" if name.startswith("other_") else f"answer:{name}"
        post.setlist(key, value if isinstance(value, list) else [value])
    return read_form_answers(form, post)


def answers(form, given):
    """QuestionIdentifier → what else its Answer holds, as (element, text)."""
    root = ElementTree.fromstring(answers_xml(form, given))
    assert root.tag == f"{ANSWERS}QuestionFormAnswers"
    return {
        answer[0].text: [(child.tag.removeprefix(ANSWERS), child.text) for child in answer[1:]]
        for answer in root
    }


@pytest.mark.parametrize("version", ["2005-10-01", "2017-11-06"])
def test_overviews_and_questions_keep_their_order(version):
    overview = "<Overview><Title>Birds</Title><Text>Look.</Text></Overview>"
    form = parse_question(form_xml(overview, ask("one"), overview, ask("two"), version=version))
    assert [type(part).__name__ for part in form.parts] == ["Overview", "Question", "Overview", "Question"]
    assert [content.kind for content in form.parts[0].content] == ["title", "text"]
    assert [question.identifier for question in form.questions] == ["one", "two"]
    assert form.frame_height == 0


def test_every_kind_of_content_is_read():
    image = (
        "<Binary><MimeType><Type>image</Type><SubType>gif</SubType></MimeType>"
        "<DataURL>https://lab.example.org/a.gif</DataURL><AltText>A board</AltText></Binary>"
    )
    video = (
        "<EmbeddedBinary><EmbeddedMimeType><Type>video</Type><SubType>mp4</SubType></EmbeddedMimeType>"
        "<DataURL>https://lab.example.org/a.mp4</DataURL><AltText>A film</AltText>"
        "<Width>320</Width><Height>240</Height></EmbeddedBinary>"
    )
    words = "<List><ListItem>one</ListItem><ListItem>two</ListItem></List>"
    markup = "<FormattedContent><![CDATA[<p>Caf&eacute; &amp; <b>bar</b></p>]]></FormattedContent>"
    (shown,) = parse_form(form_xml(ask(content=image + video + words + markup))).questions
    first, second, third, fourth = shown.content
    assert (first.kind, first.url, first.alt) == ("image", "https://lab.example.org/a.gif", "A board")
    assert (second.kind, second.width, second.height) == ("video", 320, 240)
    assert third.items == ("one", "two")
    assert fourth.html == "<div><p>Café &amp; <b>bar</b></p></div>"


@pytest.mark.parametrize(
    "markup",
    [
        "<script>alert(1)</script>",
        "<p onclick='x()'>a</p>",
        "<p style='position:fixed'>a</p>",
        "<a href='javascript:alert(1)'>a</a>",
        "<img src='data:image/png;base64,AAAA' alt=''/>",
        "<iframe src='https://evil.example.org'></iframe>",
        "<p>unclosed",
        "<form action='https://evil.example.org'><input name='a'/></form>",
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "</div><div>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><p>&a;</p>",
        "<b>" * 5000 + "</b>" * 5000,
    ],
    ids=lambda markup: markup[:20],
)
def test_what_may_not_stand_in_formatted_content_is_refused(markup):
    content = f"<FormattedContent><![CDATA[{markup}]]></FormattedContent>"
    if markup == "</div><div>":
        content = f"<FormattedContent><![CDATA[{markup}<b>]]></FormattedContent>"
    with pytest.raises(Refusal) as refusal:
        parse_form(form_xml(ask(content=content)))
    assert refusal.value.code == "XHTMLParseError"


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([], "at least one Question"),
        (["<Overview><Text>a</Text></Overview>"], "at least one Question"),
        ([ask("a"), ask("a")], "'a' occurs twice"),
        ([ask("")], "1 to 128 characters"),
        ([ask("a", "<Stars/>")], "<Stars> is not a kind of answer"),
        ([ask("a", content="<Marquee/>")], "<Marquee> is not a kind of content"),
        ([ask("a", select("x", "x"))], "SelectionIdentifier occurs twice"),
        ([ask("a", select("x", least=2, most=1))], "do not fit"),
        ([ask("a", select("x", style="wheel"))], "StyleSuggestion 'wheel'"),
        ([ask("a", limited("<Length minLength='9' maxLength='3'/>"))], "minLength is greater"),
        ([ask("a", limited("<IsNumeric minValue='many'/>"))], "minValue is 'many', not a number"),
        ([ask("a", limited("<Mood/>"))], "<Mood> is not a constraint"),
        (["<Question/>"], "lacks AnswerSpecification and QuestionContent and QuestionIdentifier"),
        (["<Page/>"], "an Overview or a Question"),
    ],
)
def test_what_is_wrong_is_named_with_its_question(parts, says):
    with pytest.raises(Refusal) as refusal:
        parse_form(form_xml(*parts))
    assert refusal.value.code == "XMLParseError"
    assert says in refusal.value.message
    if parts and parts[0].startswith("<Question><QuestionIdentifier>a</") and "twice" not in says[:16]:
        assert "in the question 'a'" in refusal.value.message


FILE = (
    "<FileUploadAnswer><MaxFileSizeInBytes>9</MaxFileSizeInBytes><MinFileSizeInBytes>1</MinFileSizeInBytes>"
    "</FileUploadAnswer>"
)


@pytest.mark.parametrize(
    ("answer", "content", "says"),
    [
        (FILE, "", "A Test takes no files"),
        (FREE, "<Application><JavaApplet/></Application>", "does not show Application"),
    ],
)
def test_what_is_not_shown_is_refused_in_a_sentence(answer, content, says):
    with pytest.raises(Refusal) as refusal:
        parse_form(form_xml(ask("a", answer, content=content or "<Text>b</Text>")))
    assert refusal.value.code == "NotSupported"
    assert says in refusal.value.message


def test_answers_come_as_the_schema_has_them():
    form = parse_form(
        form_xml(
            ask("text"),
            ask("one", select("red", "blue")),
            ask("some", select("a", "b", "c", most=3)),
            ask("own", select("x", other="<OtherSelection/>")),
            ask("none"),
            ask("nothing", select("z")),
        )
    )
    given = filled(form, text="Bl\x00ue <\r\n", one="red", some=["c", "a"], own="", other_own="grün")
    assert given.problems == {}
    assert answers(form, given) == {
        "text": [("FreeText", "Bl\ufffdue <\n")],
        "one": [("SelectionIdentifier", "red")],
        "some": [("SelectionIdentifier", "c"), ("SelectionIdentifier", "a")],
        "own": [("OtherSelectionText", "grün")],
        "none": [("FreeText", None)],
        "nothing": [],
    }


def test_a_text_of_ones_own_counts_only_if_nothing_else_is_chosen():
    form = parse_form(form_xml(ask("own", select("x", "y", other="<OtherSelection/>"))))
    assert answers(form, filled(form, own="x", other_own="left over")) == {
        "own": [("SelectionIdentifier", "x")]
    }
    assert answers(form, filled(form, other_own="mine")) == {"own": [("OtherSelectionText", "mine")]}


@pytest.mark.parametrize(
    ("answer", "required", "posted", "says"),
    [
        (FREE, True, "  ", "An answer is needed here."),
        (limited("<Length minLength='3'/>"), False, "ab", "at least 3 characters; these are 2"),
        (limited("<Length maxLength='3'/>"), False, "abcd", "at most 3 characters; these are 4"),
        (limited("<IsNumeric/>"), False, "three", "a number in digits"),
        (limited("<IsNumeric/>"), False, "nan", "a number in digits"),
        (limited("<IsNumeric minValue='1' maxValue='10'/>"), False, "11", "a number from 1 to 10"),
        (limited("<IsNumeric minValue='-2.5'/>"), False, "-3", "of at least -2.5"),
        (select("x", "y"), True, [], "An answer is needed here."),
        (select("x", "y"), False, ["x", "y"], "Choose one answer."),
        (select("x", "y"), False, "z", "Choose among the answers that are offered."),
        (select("x", "y", "z", least=2, most=2), True, "x", "Choose at least 2."),
        (select("x", "y", "z", most=2), False, ["x", "y", "z"], "Choose 2 at most."),
        (select("x", other="<OtherSelection/>"), False, "", "Write what else it is"),
    ],
)
def test_an_answer_that_does_not_do_is_told_in_a_sentence(answer, required, posted, says):
    form = parse_form(form_xml(ask("a", answer, required=required), ask("b")))
    given = filled(form, a=posted, b="fine")
    assert list(given.problems) == ["a"]
    assert says in given.problems["a"]


@pytest.mark.parametrize(
    ("answer", "posted"),
    [
        (limited("<Length minLength='3'/>"), ""),
        (limited("<IsNumeric minValue='1' maxValue='10'/>"), " 10 "),
        (limited("<AnswerFormatRegex regex='(a+)+$' errorText='x'/>"), "a" * 5000 + "b"),
        (select("x", "y", least=1), []),
        (select("x", "y", most=2), ["x", "y"]),
    ],
)
def test_an_answer_that_does_is_taken(answer, posted):
    form = parse_form(form_xml(ask("a", answer)))
    assert filled(form, a=posted).problems == {}


def test_the_form_is_drawn_with_what_was_filled_in():
    form = parse_form(
        form_xml(
            ask("text", "<FreeTextAnswer><DefaultText> as is</DefaultText></FreeTextAnswer>"),
            ask("menu", select("x", "y", style="dropdown")),
            ask("many", select("x", "y", "z", style="checkbox", most=3)),
        )
    )
    text, menu, many = (part.field for part in fields.sheet(form).parts)
    assert text.text.value == " as is"
    assert (menu.kind, many.kind) == ("select", "choices")
    assert many.hint == "Choose any number."
    given = filled(form, text="mine", menu="y", many=["x", "z"])
    text, menu, many = (part.field for part in fields.sheet(form, given).parts)
    assert text.text.value == "mine"
    assert [choice.selected for choice in menu.choices] == [False, True]
    assert [choice.selected for choice in many.choices] == [True, False, True]
