"""A researcher in a real browser: from the first project to a stage at work."""

import os
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.looking import check
from tests.browser.people import sign_in
from tests.server import RunningServer

pytestmark = pytest.mark.browser


def new_project(page: Page, slug: str, look: Callable[[Page], None]) -> None:
    page.goto("/desk/new-project/")
    page.get_by_role("link", name="Empty").click()
    page.get_by_text("Rare options").click()
    page.get_by_label("Short name").fill(slug)
    page.get_by_label("Title").fill("Colours")
    page.get_by_label("Budget").fill("50.00")
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Make the project").click()
    page.get_by_role("heading", name="Colours").wait_for()
    look(page)


def new_stage(page: Page, market: str, look: Callable[[Page], None]) -> None:
    page.get_by_role("link", name="New stage").click()
    page.get_by_role("link", name="Poll: one question with options").click()
    page.get_by_label("Question").fill("What colour is it?")
    page.get_by_label("Options").fill("red\nyellow\nblue")
    page.get_by_label("Items").fill("the sky\na lemon")
    for fold in page.locator("form summary").all():
        fold.click()
    page.get_by_label("Title in the list").fill("Say what colour it is")
    page.get_by_label("Description in the list").fill("Two questions.")
    page.get_by_label("Short name").fill("colours")
    page.get_by_label("Title", exact=True).fill("What colour?")
    page.get_by_label("Marketplace", exact=True).select_option(market)
    page.get_by_label("Reward").fill("0.10")
    page.get_by_label("People per unit").fill("0")
    page.get_by_label("Budget").fill("5.00")
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_role("alert")).to_contain_text("People per unit: 0: it must be at least 1.")
    look(page)
    page.get_by_label("People per unit").fill("2")
    page.get_by_role("button", name="Save the draft").click()
    page.get_by_text("The draft is there").wait_for()
    look(page)


@pytest.mark.parametrize(
    ("script", "slug"),
    [
        pytest.param(True, "with-script", id="script"),
        pytest.param(False, "without-script", id="no script", marks=pytest.mark.long),
    ],
)
def test_a_researcher_opens_a_poll_and_sees_it_go_out(
    server: RunningServer,
    market: str,
    administrator: str,
    context_of: Callable[..., BrowserContext],
    script: bool,
    slug: str,
) -> None:
    page = context_of(java_script_enabled=script).new_page()
    sign_in(page, administrator)
    look = check if script else lambda page: None
    new_project(page, slug, look)
    new_stage(page, market, look)
    page.get_by_role("link", name="Cost and opening").click()
    expect(page.get_by_text("Together", exact=True)).to_be_visible()
    page.get_by_label("Minutes that one HIT takes").fill("2")
    page.get_by_role("button", name="Show the hourly pay").click()
    expect(page.get_by_text("below the floor of $10.00/h")).to_be_visible()
    page.get_by_role("button", name=re.compile("Open and publish for")).click()
    expect(page.get_by_text("The stage is open: 2 HITs for 4 places")).to_be_visible()
    on_their_way = page.get_by_text("2 operations on their way")
    expect(on_their_way).to_be_visible()
    server.console("crowd", "tick")
    if not script:
        page.reload()
    expect(on_their_way).to_have_count(0)
    expect(page.get_by_text("places, in 2 HITs")).to_be_visible()
    page.get_by_role("navigation", name="Parts of the stage").get_by_role("link", name="Work").click()
    for part in ("HITs", "Submitted", "Workers", "Operations"):
        page.get_by_role("navigation", name="Parts of the work").get_by_role(
            "link", name=part, exact=True
        ).click()
        page.get_by_role("heading", level=1).wait_for()
        look(page)
    page.set_viewport_size({"width": 390, "height": 844})
    parts = ("", "colours/", "colours/open/", "colours/hits/")
    for path in ("", "settings/", *(f"stages/{part}" for part in parts)):
        page.goto(f"/desk/projects/{slug}/{path}?lang=de")
        expect(page.locator("html")).to_have_attribute("lang", "de")
        if folder := os.environ.get("LOOK_AT"):
            page.screenshot(path=f"{folder}/german-{path.replace('/', '-')}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
