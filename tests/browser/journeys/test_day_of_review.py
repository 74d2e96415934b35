"""A day's review by a researcher: a hundred answers wait.

Some are decided about by keys, one by one: asked for again, excluded, approved; one gets a note, and one
decision is undone. The rest, in which nothing was noticed, is approved by the list: all that match.
"""

import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.annotating import Annotating
from tests.browser.journeys.counting import Traveller
from tests.browser.people import sign_in

pytestmark = pytest.mark.browser

MOST_CLICKS, MOST_FIELDS, MOST_KEYS, MOST_PAGES = 7, 7, 30, 31
_QUERIES, _ANSWERS, _BY_KEYS = 50, 2, 20


def _decisions() -> Iterator[tuple[str, str]]:
    """The key of each decision, and its reason."""
    for number in range(_BY_KEYS):
        if number == 7:
            yield "r", "Please name the street."
        elif number == 13:
            yield "x", "It says nothing."
        else:
            yield "a", ""


def test_a_hundred_answers_are_reviewed_by_keys_and_by_the_list(
    annotating: Annotating, administrator: str, context_of: Callable[..., BrowserContext]
) -> None:
    project = annotating.waiting(_QUERIES, _ANSWERS)
    page = context_of(viewport={"width": 1280, "height": 800}).new_page()
    sign_in(page, administrator, f"/desk/projects/{project}/")
    me = Traveller(page)
    me.go("To decide")
    me.click(page.locator("main").get_by_role("link", name="Open the first"))
    current = page.locator("[data-answer].is-current")
    expect(current).to_be_visible()
    me.strike("m")
    page.keyboard.type("The same as on the old map.")
    me.decide("Control+Enter")
    expect(current).to_contain_text("The same as on the old map.")
    undone = False
    for key, reason in _decisions():
        if reason and not undone:
            before = page.url
            me.decide("x", "A slip of the finger.")
            me.decide("u")
            expect(page.get_by_text("Undone.")).to_be_visible()
            assert page.url == before
            undone = True
        me.decide(key, reason)
    me.follow("All queries")
    me.tick("Choose all on this page")
    me.tick(f"Select all {_QUERIES - _BY_KEYS // _ANSWERS} queries that match this filter")
    me.press("Approve their answers without flags")
    me.press(f"Approve answers to {_QUERIES - _BY_KEYS // _ANSWERS} queries")
    expect(page.get_by_text("80 answers are approved.")).to_be_visible()
    expect(page.get_by_text("Every answer is decided.")).to_be_visible()
    states = [
        answer["state"] for query in annotating.queries(project).values() for answer in query["answers"]
    ]
    assert [states.count(state) for state in ("approved", "rewrite", "excluded")] == [98, 1, 1]
    sys.stdout.write(f"\nA day's review: {me.effort}\n")
    assert me.effort.clicks <= MOST_CLICKS
    assert me.effort.fields <= MOST_FIELDS
    assert me.effort.keys <= MOST_KEYS
    assert me.effort.pages <= MOST_PAGES
