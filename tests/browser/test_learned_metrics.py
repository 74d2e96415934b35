"""A researcher looks at models of learned metrics, and at the words that one of them weighs."""

import os
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import test_releases
from tests.browser.looking import check
from tests.browser.people import PASSWORD, sign_in
from tests.browser.weighing import Weighing
from tests.server import RunningServer

pytestmark = pytest.mark.browser


@pytest.fixture
def weighing(server: RunningServer) -> Weighing:
    server.reset(data=True)
    return Weighing(server)


def look(page: Page, name: str) -> None:
    """Axe and sizes with everything unfolded that can be, or pictures."""
    test_releases.look(page, name)
    if not os.environ.get("LOOK_AT"):
        page.evaluate("document.querySelectorAll('main details').forEach((each) => each.open = true)")
        check(page)
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.long
def test_models_and_the_words_that_one_weighs(
    weighing: Weighing, context_of: Callable[..., BrowserContext]
) -> None:
    address = weighing.project("mina", PASSWORD)
    page = context_of().new_page()
    sign_in(page, "mina")
    page.goto("/desk/evaluations/")
    page.get_by_role("link", name="Models of learned metrics").click()
    expect(page.get_by_role("row", name="damaged")).to_contain_text(
        "Cannot be used: head.safetensors is missing"
    )
    look(page, "31-models")
    page.get_by_role("link", name="marco").click()
    expect(page.get_by_role("img", name="dev f1 from 0.300 to 0.550")).to_be_visible()
    look(page, "32-model")
    page.goto("/desk/projects/weighed/evaluations/new/")
    expect(page.get_by_label("KPQA model")).to_be_visible()
    look(page, "33-new")
    page.goto(address)
    page.get_by_role("link", name="Key phrases").click()
    page.get_by_label("KPQA model").select_option("tiny")
    page.get_by_label("Answer of a system").select_option(index=1)
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("Starting")).to_be_visible()
    look(page, "34-waiting")
    weighing.work_off()
    words(page)
    look(page, "35-words")


def words(page: Page) -> None:
    """The page shows them by itself; their numbers come with the pointer, or with the keyboard for all."""
    expect(page.get_by_role("heading", name="The answer of a")).to_be_visible()
    answer = page.get_by_role("group", name="The answer of a Key phrase")
    number = answer.locator(".w", has_text="25").locator(".n")
    expect(number).to_be_hidden()
    answer.locator(".w", has_text="25").hover()
    expect(number).to_be_visible()
    page.mouse.move(0, 0)
    answer.focus()
    expect(answer.locator(".w", has_text="euros").locator(".n")).to_be_visible()
    test_releases.look(page, "36-focus")
    page.evaluate("document.activeElement.blur()")
    page.get_by_text("Weights of the answer as a table").click()
    expect(
        page.get_by_role("region", name="Table: weights of the answer").get_by_role("row", name="25")
    ).to_be_visible()
