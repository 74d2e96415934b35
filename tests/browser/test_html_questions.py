"""Task pages that come with their HITs: plain ones, crowd forms, QuestionForms, in a real browser."""

import json

import pytest
from playwright.sync_api import expect

from marketplace.forms.questions import html_question_xml
from tests.browser import looking
from tests.browser.asking import answers, post_html, task
from tests.marketplace.test_questionform import ask, form_xml, select

pytestmark = pytest.mark.browser

HELPER = """<!DOCTYPE html>
<html><head><meta charset="utf-8">
<script type="text/javascript" src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script></head>
<body><form name="mturk_form" method="post" id="mturk_form"
 action="https://www.mturk.com/mturk/externalSubmit">
<input type="hidden" value="" name="assignmentId" id="assignmentId">
<h1>What does the text say?</h1>
<p><label>Summary <textarea name="comment" cols="80" rows="3"></textarea></label></p>
<p><label><input type="checkbox" name="kind" value="a">A</label>
<label><input type="checkbox" name="kind" value="b">B</label></p>
<p><input type="submit" id="submitButton" value="Submit"></p></form>
<script>turkSetAssignmentID();</script></body></html>"""

FIELDS_ONLY = """<p>Is there a cat?</p>
<label><input type="radio" name="cat" value="yes" required> Yes</label>
<label><input type="radio" name="cat" value="no"> No</label>"""

CROWD = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form%s>
  <crowd-instructions link-text="How to" link-type="button"><short-summary>Look well.</short-summary>
  <positive-example>This.</positive-example></crowd-instructions>
  <crowd-classifier name="mood" header="Which mood?"
    categories="['Happy', 'It\\'s sad', &quot;Neither&quot;]">
    <classification-target>A dog in the rain.</classification-target>
    <full-instructions header="Moods">Choose one.</full-instructions>
    <short-instructions>One of three.</short-instructions>
  </crowd-classifier>
  <crowd-input name="word" label="A word" required></crowd-input>
  <crowd-text-area name="text" label="More" rows="4"></crowd-text-area>
  <crowd-checkbox name="seen" value="wet">Wet</crowd-checkbox>
  <crowd-checkbox name="seen" value="cold">Cold</crowd-checkbox>
  <crowd-radio-group><crowd-radio-button name="yes">Yes</crowd-radio-button>
  <crowd-radio-button name="no">No</crowd-radio-button></crowd-radio-group>
  <crowd-slider name="how" label="How much" min="1" max="5" value="2"></crowd-slider>
  <label>Size <select name="size"><option>s<option selected>m</select></label>
  <input type="hidden" name="version" value="7">
  %s
</crowd-form>"""

WHOLE = """<!doctype html><html lang="en"><head><title>Moods</title>
<style>select { min-height: 44px }</style></head><body><main><h1>Moods</h1>%s</main></body></html>"""


def fill_crowd(frame):
    frame.get_by_label("It's sad").check()
    frame.get_by_label("A word").fill("<rain>")
    frame.get_by_label("Cold").check()
    frame.get_by_role("radio", name="Yes").check()
    frame.get_by_label("How much").fill("4")


def test_a_page_of_the_old_convention_works_unchanged_and_sends_nothing_in_a_preview(lab, mira):
    group = post_html(lab, HELPER)
    mira.page.goto(f"/projects/{group}/tasks")
    expect(task(mira).get_by_role("button")).to_be_disabled()
    expect(task(mira).get_by_role("button")).to_have_value("Accept the HIT first")
    task(mira).get_by_label("Summary").fill("x")
    task(mira).locator("form").evaluate("form => form.requestSubmit()")
    expect(task(mira).get_by_role("status")).to_contain_text("nothing was sent")
    task(mira).locator("form").evaluate("form => form.submit()")
    mira.page.wait_for_timeout(200)
    expect(task(mira).get_by_role("heading")).to_have_text("What does the text say?")
    assert answers(lab) == []
    mira.accept(group)
    frame = task(mira)
    frame.get_by_label("Summary").fill("Tea & milk")
    frame.get_by_label("A", exact=True).check()
    frame.get_by_label("B", exact=True).check()
    frame.get_by_role("button", name="Submit").click()
    expect(mira.page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert answers(lab) == [{"comment": "Tea & milk", "kind": "a|b"}]


def test_fields_without_a_form_get_one_even_without_script(lab, newcomer):
    group = post_html(lab, FIELDS_ONLY)
    mira = newcomer(java_script_enabled=False)
    mira.accept(group)
    task(mira).get_by_label("Yes").check()
    task(mira).get_by_role("button", name="Submit").click()
    expect(task(mira).get_by_role("heading")).to_have_text("Submitted")
    task(mira).get_by_role("link", name="Continue").click()
    expect(mira.page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert answers(lab) == [{"cat": "yes"}]


def test_a_crowd_form_posts_one_field_with_everything_and_its_instructions_open_and_close_by_key(lab, mira):
    group = post_html(lab, CROWD % ("", ""))
    mira.page.goto(f"/projects/{group}/tasks")
    frame = task(mira)
    frame.get_by_role("button", name="How to").press("Enter")
    expect(frame.get_by_role("tabpanel")).to_have_text("Look well.")
    frame.get_by_role("tab", name="Summary").press("ArrowRight")
    expect(frame.get_by_role("tabpanel")).to_contain_text("This.")
    frame.get_by_role("tab", name="Examples").press("Escape")
    expect(frame.get_by_role("dialog")).to_be_hidden()
    expect(frame.get_by_role("button", name="Accept the HIT first")).to_be_disabled()
    mira.accept(group)
    fill_crowd(task(mira))
    task(mira).get_by_role("button", name="Submit").click()
    expect(mira.page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    (answer,) = answers(lab)
    assert list(answer) == ["taskAnswers"]
    assert json.loads(answer["taskAnswers"]) == [
        {
            "mood": {"label": "It's sad"},
            "word": "<rain>",
            "text": "",
            "seen": {"wet": False, "cold": True},
            "yes": {"on": True},
            "no": {"on": False},
            "how": 4,
            "size": "m",
            "version": "7",
        }
    ]


def test_a_crowd_form_posts_field_by_field_where_it_says_so(lab, mira):
    multi = """<crowd-image-classifier-multi-select name="animals" categories='["Cat", "Dog"]' header="Which?"
      src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" exclusion-category="{ text: 'None' }">
      </crowd-image-classifier-multi-select>
      <crowd-button form-action="submit" variant="primary">Send it</crowd-button>"""
    group = post_html(lab, CROWD % (' answer-format="flatten-objects"', multi))
    mira.accept(group)
    frame = task(mira)
    fill_crowd(frame)
    frame.get_by_label("None").check()
    frame.get_by_label("Dog").check()
    expect(frame.get_by_label("None")).not_to_be_checked()
    frame.get_by_label("Cat").check()
    expect(frame.get_by_role("button", name="Submit")).to_have_count(0)
    frame.get_by_role("button", name="Send it").click()
    expect(mira.page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    (answer,) = answers(lab)
    assert answer == {
        "mood.label": "It's sad",
        "word": "<rain>",
        "text": "",
        "seen.wet": "false",
        "seen.cold": "true",
        "yes.on": "true",
        "no.on": "false",
        "how": "4",
        "size": "m",
        "version": "7",
        "animals.labels": '["Cat","Dog"]',
    }


def test_what_a_crowd_form_requires_is_asked_for_and_its_page_may_object(lab, mira):
    page = (
        (CROWD % ("", "<div id=box></div>"))
        + """<script>
    document.querySelector('crowd-form').onsubmit = (event) => {
      if (!document.querySelector('crowd-checkbox').checked) {
        event.preventDefault();
        box.innerHTML = '<crowd-alert type="error" dismissible>Tick Wet.</crowd-alert>';
      }
    };</script>"""
    )
    group = post_html(lab, page)
    mira.accept(group)
    frame = task(mira)
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_label("Happy")).to_be_focused()
    fill_crowd(frame)
    frame.get_by_label("A word").press("Enter")
    expect(frame.get_by_role("alert")).to_contain_text("Tick Wet.")
    assert answers(lab) == []
    frame.get_by_label("Wet").check()
    frame.get_by_label("A word").press("Enter")
    expect(mira.page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert len(answers(lab)) == 1


def test_a_question_form_is_worked_on_with_and_without_script(lab, newcomer):
    word = "<FreeTextAnswer><Constraints><Length minLength='3'/></Constraints></FreeTextAnswer>"
    question = form_xml(
        "<Overview><Title>Birds</Title><FormattedContent><![CDATA[<p>Look <b>well</b>.</p>]]>"
        "</FormattedContent></Overview>",
        ask("bird", select("robin", "wren", other="<OtherSelection/>"), required=True),
        ask("word", word, required=True, content="<Text>In a word?</Text>"),
    )
    group = lab.post(question=question)
    for name, options in (("robin", {}), ("wren", {"java_script_enabled": False})):
        mira = newcomer(**options)
        mira.accept(group)
        frame = task(mira)
        frame.get_by_label("In a word?").fill("no")
        frame.get_by_role("button", name="Submit").click()
        expect(frame.get_by_role("alert")).to_contain_text("An answer is needed here.")
        expect(frame.get_by_role("alert")).to_contain_text("Write at least 3 characters")
        expect(frame.get_by_label("In a word?")).to_have_value("no")
        frame.get_by_label(name.title()).check()
        frame.get_by_label("In a word?").fill("small")
        frame.get_by_role("button", name="Submit").click()
        if options:
            frame.get_by_role("link", name="Continue").click()
        expect(mira.page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    assert sorted(answers(lab), key=str) == [
        {"bird": "robin", "word": "small"},
        {"bird": "wren", "word": "small"},
    ]


def test_a_pattern_is_checked_by_the_browser(lab, mira):
    pattern = (
        '<FreeTextAnswer><Constraints><AnswerFormatRegex regex="^[A-Z]{2}[0-9]$" flags="i" '
        'errorText="Two letters and a digit."/></Constraints></FreeTextAnswer>'
    )
    group = lab.post(question=form_xml(ask("code", pattern)))
    mira.accept(group)
    field = task(mira).get_by_label("Which?")
    field.fill("abc")
    task(mira).get_by_role("button", name="Submit").click()
    assert field.evaluate("field => field.validationMessage") == "Two letters and a digit."
    field.fill("ab7")
    task(mira).get_by_role("button", name="Submit").click()
    expect(mira.page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")


def test_questions_that_we_draw_hold_what_every_page_of_ours_holds(lab, newcomer):
    image = (
        "<Binary><MimeType><Type>image</Type></MimeType><DataURL>https://images.example.org/a.png</DataURL>"
        "<AltText>A still</AltText></Binary>"
    )
    parts = [
        f"<Overview><Title>Birds</Title><List><ListItem>One</ListItem></List>{image}</Overview>",
        ask("one", select("x", "y", other="<OtherSelection/>"), required=True),
        ask("two", select("x", "y", "z", most=2), content="<Text>Two?</Text>"),
        ask("three", select("x", "y", style="dropdown"), content="<Text>Three?</Text>"),
        ask("four", required=True, content="<Text>Four?</Text>"),
    ]
    pages = [form_xml(*parts), html_question_xml(WHOLE % (CROWD % ("", "")), 0)]
    for page in pages:
        mira = newcomer()
        mira.page.route("https://images.example.org/**", lambda route: route.abort())
        mira.accept(lab.post(question=page, Title=f"Number {len(page)}"))
        mira.page.goto(mira.page.locator("iframe").get_attribute("src"))
        if "QuestionForm" in page:
            mira.page.get_by_role("button", name="Submit").click()
            expect(mira.page.get_by_role("alert")).to_be_focused()
        looking.check(mira.page)
