"""Five turns of a conversation with the passages of two textbooks, in a real browser."""

import os
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from annotation.desk.search import ABOUT_TEXTBOOKS
from tests.browser import test_releases
from tests.browser.keyboard import tab_to
from tests.browser.looking import check
from tests.browser.people import PASSWORD, sign_in
from tests.browser.searching import Searching
from tests.server import RunningServer

pytestmark = pytest.mark.browser
LARGE = {"30-empty", "32-five-turns", "33-refused"}


@pytest.fixture(scope="module")
def searching(server: RunningServer) -> Searching:
    return Searching(server)


@pytest.fixture(scope="module")
def project(searching: Searching) -> str:
    """A project with two textbooks, whose owner has its name; each test begins without turns."""
    return searching.project(PASSWORD)


def open_search(page: Page, project: str) -> None:
    """Sign in and go to the page by the sidebar: it is a part of the passages."""
    sign_in(page, project)
    page.goto(f"/desk/projects/{project}/")
    page.locator(".sidebar").get_by_role("link", name="Passages").click()
    page.get_by_role("navigation", name="Parts").get_by_role("link", name="Search").click()
    box(page).wait_for()


def look(page: Page, name: str) -> None:
    """Axe and sizes of the larger pages, or pictures of all."""
    test_releases.look(page, name)
    if name in LARGE and not os.environ.get("LOOK_AT"):
        check(page)
    page.set_viewport_size({"width": 1280, "height": 900})


def turns(page: Page) -> Locator:
    return page.locator("section.turn")


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("question"))


def ask(page: Page, question: str) -> None:
    box(page).fill(question)
    page.get_by_role("button", name="Answer", exact=True).click()


@pytest.mark.parametrize(
    "script", [True, pytest.param(False, marks=pytest.mark.long)], ids=["script", "no script"]
)
def test_five_turns_one_after_the_other(
    project: str, context_of: Callable[..., BrowserContext], script: bool
) -> None:
    page = context_of(java_script_enabled=script).new_page()
    open_search(page, project)
    for number, question in enumerate(ABOUT_TEXTBOOKS, 1):
        ask(page, question)
        expect(turns(page)).to_have_count(number)
        expect(turns(page).first.get_by_role("heading", level=2)).to_contain_text(question)
        expect(turns(page).first.locator(".hit")).to_have_count(3)
    newest = turns(page).first
    expect(newest.locator(".found-text").first).to_contain_text("prisoner")
    expect(newest.locator("mark").first).to_be_visible()
    expect(newest.locator("mark b, b").first).to_be_visible()
    expect(newest.locator("svg").first).to_be_visible()
    page.reload()
    expect(turns(page)).to_have_count(5)
    page.get_by_role("button", name="Clear last").click()
    expect(turns(page)).to_have_count(4)
    page.go_back()
    expect(turns(page)).to_have_count(5)
    page.get_by_role("button", name="Clear all").click()
    expect(turns(page)).to_have_count(0)
    expect(page.get_by_role("heading", name="Ask the passages")).to_be_visible()


@pytest.mark.long
def test_the_page_looks_well_and_follows_its_options(
    project: str, context_of: Callable[..., BrowserContext]
) -> None:
    page = context_of().new_page()
    open_search(page, project)
    look(page, "30-empty")
    page.get_by_role("link", name="Answer the sample").click()
    expect(turns(page)).to_have_count(5)
    look(page, "32-five-turns")
    page.get_by_label("Node threshold").fill("abc")
    ask(page, "What is fiat money?")
    expect(page.get_by_role("alert")).to_contain_text("“abc” is no number")
    expect(box(page)).to_have_value("What is fiat money?")
    expect(turns(page)).to_have_count(5)
    look(page, "33-refused")
    page.get_by_role("button", name="Restore defaults").click()
    expect(page.get_by_label("Node threshold")).to_have_value("0.75")
    expect(box(page)).to_have_value("What is fiat money?")
    shown = page.locator("[data-profile]:visible")
    expect(shown).to_have_count(1)
    page.get_by_label("Profile").select_option("bm25")
    expect(shown).to_have_count(0)
    look(page, "35-bm25")
    page.get_by_label("Profile").select_option("crown-2020")
    expect(page.get_by_text("Weights of balanced", exact=True)).to_be_hidden()
    page.get_by_text("Weights of crown-2020", exact=True).click()
    weights = page.get_by_role("group", name="Weights of crown-2020")
    weights.get_by_label("Position").fill("0.2")
    expect(page.get_by_text("They add up to 1.1000.")).to_be_visible()
    page.get_by_label("Engine's rank").fill("0.3")
    page.get_by_label("Number of results").fill("1")
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(turns(page)).to_have_count(6)
    expect(turns(page).first).to_contain_text("crown-2020")
    expect(turns(page).first.locator(".hit")).to_have_count(1)
    expect(turns(page).nth(1)).to_contain_text("balanced")
    expect(turns(page).nth(1).locator(".hit")).to_have_count(3)


def test_a_turn_goes_to_curation_with_its_candidates_once(
    searching: Searching, project: str, context_of: Callable[..., BrowserContext]
) -> None:
    page = context_of().new_page()
    open_search(page, project)
    ask(page, ABOUT_TEXTBOOKS[0])
    ask(page, ABOUT_TEXTBOOKS[1])
    expect(turns(page)).to_have_count(2)
    turns(page).first.get_by_label("Candidates").fill("6")
    turns(page).first.get_by_role("button", name="Send to curation").click()
    expect(page.get_by_text("has 6 candidates now")).to_be_visible()
    look(page, "34-sent")
    page.go_back()
    page.reload()
    expect(turns(page).first).to_contain_text("This question is a query of the project")
    expect(turns(page).first.get_by_role("button", name="Send to curation")).to_have_count(0)
    assert searching.candidates(project) == [
        {
            "text": ABOUT_TEXTBOOKS[1],
            "turns": [ABOUT_TEXTBOOKS[0]],
            "status": "accepted",
            "rankers": ["balanced"],
            "shown": 6,
        }
    ]


def test_the_keyboard_is_enough(project: str, context_of: Callable[..., BrowserContext]) -> None:
    page = context_of().new_page()
    open_search(page, project)
    tab_to(page, "Your question")
    page.keyboard.type("What is a monopoly?")
    page.keyboard.press("Enter")
    expect(turns(page)).to_have_count(1)
    page.keyboard.type("And an oligopoly?")
    page.keyboard.press("Enter")
    expect(turns(page)).to_have_count(2)
    tab_to(page, "Clear last")
    page.keyboard.press("Enter")
    expect(turns(page)).to_have_count(1)
