"""A paid batch by its requester: from a template and a table to the money on a worker's account.

The requester's side is done on pages, by what is seen on them, and counted. The worker answers on the page
and reads there what is owed; they sign up by requests, and how they are paid is known.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.asking import task
from tests.browser.campaign import Campaign, customer_id
from tests.browser.conftest import Lab, Person
from tests.browser.journeys.counting import Traveller
from tests.browser.people import sign_in
from tests.server import RunningServer

pytestmark = pytest.mark.browser

MOST_CLICKS, MOST_FIELDS, MOST_PAGES = 20, 4, 20
_TITLE = "How does this review sound?"


def make_batch(me: Traveller, folder: Path) -> None:
    """A batch of one task for one person, from a sample."""
    table = folder / "reviews.csv"
    table.write_text('id,product,review\nr1,the kettle,"Loud, but quick."\n', encoding="utf-8")
    me.go("Batches")
    me.follow("See the samples", within="main")
    me.click(me.page.get_by_role("button", name="Mood of a text, an ordinary form"))
    me.follow("New batch", within="main")
    me.bring("Table", table)
    me.press("Read the table")


def publish(me: Traveller) -> None:
    """Type the total, and let it go out."""
    me.fill("Type the total to publish", "0.15")
    me.press("Publish")


def work(mira: Person) -> None:
    """The worker finds the task, and answers it."""
    page = mira.page
    page.goto("/")
    page.get_by_role("link", name=_TITLE, exact=True).click()
    page.get_by_role("button", name="Accept", exact=True).click()
    task(mira).get_by_label("neither pleased nor displeased").check()
    task(mira).get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")


def review(me: Traveller) -> None:
    """What came in is read and approved, from the page of the batch."""
    me.page.reload()
    me.follow("Review what waits, answer by answer", within="main")
    me.follow(_TITLE, within="main")
    me.press("Approve, pay $0.05")
    expect(me.page.locator("main")).to_contain_text("gets $0.05")


def pay(me: Traveller) -> None:
    """A report of what is owed, the file for the bank, and that it was paid."""
    me.go("Money")
    me.follow("To pay out", within="main")
    me.press("Make a report")
    me.follow("Pay with files", within="main")
    me.press("Make the file")
    with me.page.expect_download():
        me.press("Download the file")
    me.follow("go on", within="main")
    me.press("Mark 1 on the way as arrived")
    expect(me.page.get_by_text("1 booked as paid.")).to_be_visible()


def owed(mira: Person) -> bool:
    """Whether the worker reads that something is not paid out yet."""
    mira.page.goto("/dashboard")
    expect(mira.page.locator("main")).to_contain_text("$0.05 since you joined")
    return "$0.05 of it is not paid out yet" in mira.page.locator("main").inner_text()


def test_from_a_template_to_a_payout(
    lab: Lab,
    server: RunningServer,
    administrator: str,
    context_of: Callable[..., BrowserContext],
    newcomer: Callable[..., Person],
    tmp_path: Path,
) -> None:
    page = context_of(viewport={"width": 1280, "height": 800}).new_page()
    sign_in(page, administrator, f"/requester/{customer_id(server, lab.account.name)}/")
    me = Traveller(page)
    mira = newcomer()
    server.call("tests.browser.paying", "prepare", requester=lab.account.name, worker=mira.name)
    make_batch(me, tmp_path)
    publish(me)
    Campaign(server).run_jobs()
    work(mira)
    review(me)
    assert owed(mira)
    pay(me)
    assert not owed(mira)
    sys.stdout.write(f"\nA paid batch: {me.effort}\n")
    assert me.effort.clicks <= MOST_CLICKS
    assert me.effort.fields <= MOST_FIELDS
    assert me.effort.pages <= MOST_PAGES
