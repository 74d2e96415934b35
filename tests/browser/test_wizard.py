"""A new project by keyboard alone, from a beginning to its next steps; every page on three widths."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.keyboard import tab_to
from tests.browser.looking import check
from tests.browser.people import sign_in

pytestmark = pytest.mark.browser
#: Pixels of the forms of a project and of a judging stage on a wide screen, before anything is unfolded.
MOST_HIGH = 1600


def press(page: Page, name: str) -> None:
    tab_to(page, name)
    page.keyboard.press("Enter")


def test_a_project_begins_by_keyboard_and_says_what_is_next(
    market: str, administrator: str, context_of: Callable[..., BrowserContext]
) -> None:
    page = context_of().new_page()
    sign_in(page, administrator, "/desk/new-project/")
    check(page)
    press(page, "Reference answers")
    page.get_by_role("heading", name="Reference answers").wait_for()
    check(page)
    tab_to(page, "Title")
    page.keyboard.press("Control+a")
    page.keyboard.type("Tides")
    assert page.evaluate("document.documentElement.scrollHeight") <= MOST_HIGH
    press(page, "Rare options")
    tab_to(page, "Short name")
    page.keyboard.type("tides-by-keyboard")
    tab_to(page, "Reward")
    page.keyboard.press("Control+a")
    page.keyboard.type("ten")
    press(page, "Review")
    expect(page.get_by_role("alert")).to_contain_text("Reward")
    check(page)
    page.get_by_label("Reward").first.fill("0.30")
    expect(page.locator("#cost")).to_contain_text("for the stages together")
    page.get_by_role("button", name="Review").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Is this right?").wait_for()
    check(page)
    press(page, "Make the project")
    page.get_by_role("heading", name="Next steps").wait_for()
    check(page)
    page.get_by_role("link", name="To decide").click()
    page.get_by_role("heading", name="Nothing waits for you").wait_for()
    check(page)
    page.goto("/desk/projects/tides-by-keyboard/new-stage/?kind=judging")
    page.get_by_role("button", name="Continue to cost").wait_for()
    check(page)
    assert page.evaluate("document.documentElement.scrollHeight") <= MOST_HIGH
    page.get_by_label("Reward").fill("0.60")
    expect(page.locator("#cost")).to_contain_text("rewards $6,000.00")
    expect(page.frame_locator("#preview iframe").get_by_text("nothing to ask about yet")).to_be_visible()
    page.get_by_role("link", name="Rare options").click()
    expect(page.get_by_label("Short name")).to_be_visible()
