"""A requester's study link: made on the page of a batch, and used by a person with a telephone."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.looking import DARK, LIGHT, LOADED, SMALL, check
from tests.browser.people import sign_in
from tests.server import RunningServer

pytestmark = pytest.mark.browser
_SET_UP = """
from django.contrib.auth.models import User
from marketplace.models import Requester
from tests.batches import making
from tests.site import world
lab = Requester.objects.filter(name="Phone lab").first() or world.make_requester("Phone lab")
html = '''<html lang="en"><head><title>Look</title></head><body><form><h1>${question}</h1>
<p><label for="answer">Answer</label> <input id="answer" name="answer"></p>
<p><button>Send</button></p></form></body></html>'''
batch = making.draft(lab, "question\\nWhat is this?\\nAnd that?\\n", html=html)
from marketplace.batches import publication
publication.publish(batch=batch)
making.run_jobs()
world.make_qualification(lab, f"Reader {batch.pk}")
print(lab.customer_id, batch.number)
"""
#: Resolves when the page has a draft of what was typed.
DRAFTED = """() => new Promise((done) => {
  const isDraft = ([name, text]) => /draft/.test(name) && /Cof/.test(text);
  const kept = () => Object.entries(localStorage).some(isDraft);
  const look = () => kept() ? done(true) : setTimeout(look, 20);
  look();
})"""
#: Where pictures go, for people who look at them.
_PICTURES = os.environ.get("PICTURES")


def picture(page: Page, name: str) -> None:
    if _PICTURES:
        page.screenshot(path=str(Path(_PICTURES) / f"{name}.png"), full_page=True)


def look(page: Page, name: str) -> None:
    """Axe, reflow and sizes of a page of the person, on the telephone it is open on."""
    page.evaluate(LOADED)
    picture(page, name)
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE_SCRIPT)
    for scheme, options in (("dark", DARK), ("light", LIGHT)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        results = AxeResults(page.evaluate("(options) => axe.run(options)", options))
        assert results.violations_count == 0, f"{name} {scheme}\n{results.generate_report()}"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    assert page.evaluate(SMALL, 44) == [], name


def do_task(page: Page, text: str) -> None:
    """Answer the HIT that is open; with the page that follows, the answer has arrived."""
    frame = page.frame_locator("iframe")
    frame.get_by_label("Answer").fill(text)
    with page.expect_navigation():
        frame.get_by_role("button", name="Send").click()


def make_link(page: Page, batch: str) -> str:
    """The address of a link that the requester makes on the page of the batch."""
    page.goto(batch)
    picture(page, "wide-batch")
    page.get_by_role("link", name="New study link").click()
    check(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_label("Title", exact=True).fill("Tea and coffee")
    page.get_by_label("People get").select_option(label="Course credit")
    page.get_by_text("Who may come").click()
    page.get_by_label("Granted on joining").select_option(index=1)
    page.get_by_text("Completion codes and the way back").click()
    page.get_by_label("Done: code").fill("C0DE")
    picture(page, "wide-new")
    page.get_by_role("button", name="Make the link").click()
    page.get_by_role("heading", name="Where people are").wait_for()
    check(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    return re.sub(r"\?.*", "", page.locator("#address").inner_text())


def test_from_the_page_of_a_batch_to_a_person_who_is_done(
    server: RunningServer, administrator: str, context_of: Callable[..., BrowserContext]
) -> None:
    server.reset(data=True)
    customer, number = server.console("shell", "--no-imports", "-c", _SET_UP).split()[-2:]
    desk = context_of().new_page()
    desk.set_viewport_size({"width": 1280, "height": 900})
    sign_in(desk, administrator)
    home = f"/requester/{customer}"
    address = make_link(desk, f"{home}/batches/{number}/")
    here = desk.url
    picture(desk, "wide-link")

    page = context_of(viewport={"width": 390, "height": 800}).new_page()
    page.goto(address)
    expect(page.get_by_role("heading", name="Tea and coffee")).to_be_visible()
    look(page, "1-consent")
    page.get_by_role("button", name="I am 18 or older and agree").click()
    page.wait_for_url("**/guest/**")
    expect(page.frame_locator("iframe").get_by_role("heading", name="What is this?")).to_be_visible()
    look(page, "2-task")
    assert page.get_by_text("Course credit").count() == 1
    do_task(page, "Tea")
    expect(page.frame_locator("iframe").get_by_role("heading", name="And that?")).to_be_visible()
    # What is typed is there again after the page was loaded anew, without a cookie of an account.
    page.frame_locator("iframe").get_by_label("Answer").fill("Cof")
    page.evaluate(DRAFTED)
    page.reload()
    expect(page.frame_locator("iframe").get_by_label("Answer")).to_have_value("Cof")
    do_task(page, "Coffee")
    expect(page.locator("#completion")).to_have_text("C0DE")
    look(page, "3-end")
    page.get_by_role("link", name="Your work here").click()
    expect(page.get_by_text("You have finished 2 tasks")).to_be_visible()
    look(page, "4-own-work")

    desk.goto(here)
    expect(desk.locator("dl.counts").first).to_contain_text("Done")
    picture(desk, "wide-link-after")
    for path, name in (("links/", "list"), ("links/consent/", "consent-text")):
        desk.goto(f"{home}/{path}")
        check(desk)
        desk.set_viewport_size({"width": 390, "height": 844})
        picture(desk, f"narrow-{name}")
        desk.set_viewport_size({"width": 1280, "height": 900})
        picture(desk, f"wide-{name}")
    desk.goto(f"{here}list/")
    check(desk)
    desk.set_viewport_size({"width": 390, "height": 844})
    desk.goto(here)
    picture(desk, "narrow-link")
    desk.goto(f"{home}/links/new/?from=prolific")
    picture(desk, "narrow-new")
