"""A person who writes no code makes a questionnaire: eight fields, a condition, a picture, another order."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.journeys.counting import Traveller
from tests.browser.judging import Judgers
from tests.browser.looking import check
from tests.browser.people import sign_in
from tests.judgments.judging_world import CORRECT, GAS, PASSAGE
from tests.server import RunningServer

pytestmark = pytest.mark.browser

MOST_ACTIONS = 45
_OPTIONS = "low\nmiddle\nhigh"
#: Of each field: its type, what people read, and its options.
FIELDS = (
    ("yesno", "Is it clear?", ""),
    ("text", "What is unclear?", ""),
    ("scale", "Is it right?", _OPTIONS),
    ("scale", "Is it complete?", _OPTIONS),
    ("slider", "How good is it?", ""),
    ("choices", "What is wrong?", "a fact\na name\na number"),
    ("spans", "Where?", "wrong"),
    ("choice", "Would you ask again?", "yes\nno"),
)
_DIAGRAM = Path(__file__).parents[3] / "docs" / "images" / "judging-phone-light.png"


def _add(me: Traveller, page: Page, number: int, kind: str, label: str, options: str) -> None:
    me.press("Add")
    row = f"config.fields-{number}-"
    page.keyboard.type(label)  # the label has the focus
    page.locator(f"[name='{row}type']").select_option(kind)
    me.effort.fields += 2
    if options:
        page.locator(f"[name='{row}options']").fill(options)
        me.effort.fields += 1


def test_eight_fields_with_a_condition_and_a_picture(
    server: RunningServer, administrator: str, context_of: Callable[..., BrowserContext]
) -> None:
    judgers = Judgers(server)
    judgers.begin()
    question = {"query": GAS, "references": [CORRECT], "passages": [PASSAGE], "answers": {"unilm": "Oil."}}
    project = judgers.trial(judgers.stage([question])).split("/stages/")[0]
    page = context_of(viewport={"width": 1280, "height": 900}).new_page()
    sign_in(page, administrator, f"{project}/")
    me = Traveller(page)
    me.go("Stages")
    me.follow("New stage", within="main")
    me.click(page.get_by_role("link", name=re.compile("^Questionnaire")))
    me.follow("Or with an empty form.")
    me.fill("Title", "Clarity")
    for number, (kind, label, options) in enumerate(FIELDS):
        _add(me, page, number, kind, label, options)
    unclear = page.locator(".row-item", has_text="what_is_unclear")
    me.click(unclear.get_by_text("More options"))
    unclear.get_by_label("Show if").last.select_option("is_it_clear = no")
    me.effort.fields += 1
    me.click(page.locator(".row-item", has_text="how_good").get_by_role("button", name="Move", exact=True))
    me.strike("ArrowUp")
    me.click(page.locator("summary", has_text="Texts for workers"))
    me.bring("Picture", _DIAGRAM)
    me.press("Add the picture")
    expect(page.get_by_label("Instructions")).to_have_value(re.compile(r"!\[judging-phone-light\]"))
    preview = page.frame_locator("iframe[name=preview]").get_by_role("img", name="judging-phone-light")
    expect(preview).to_have_js_property("complete", True)
    assert preview.evaluate("element => element.naturalWidth") > 0
    check(page)
    me.press("Save the draft")
    expect(page.get_by_text("The draft is there.")).to_be_visible()
    actions = me.effort.clicks + me.effort.fields + me.effort.keys
    sys.stdout.write(f"\nA questionnaire of eight fields: {me.effort}, {actions} actions\n")
    me.follow("Try the task")
    task = page.frame_locator("iframe").first
    labels = [label for _, label, _ in FIELDS]
    order = [labels[at] for at in (0, 2, 4, 3, 5, 7)]  # marks of words have no legend
    expect(task.locator(".about-part legend:visible")).to_contain_text(order)
    task.get_by_role("group", name=labels[0]).get_by_label("No").check()
    expect(task.get_by_label(labels[1])).to_be_visible()
    picture = task.get_by_role("img", name="judging-phone-light")
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("element => element.naturalWidth") > 0
    assert actions <= MOST_ACTIONS
