"""A requester makes a batch in the browser, people work on it, and the answers come back as a table."""

import csv
import re

import pytest
from playwright.sync_api import expect

from tests.browser.asking import task
from tests.browser.batching import Desk
from tests.browser.campaign import customer_id
from tests.browser.looking import check
from tests.browser.people import sign_in

pytestmark = pytest.mark.browser


@pytest.fixture
def desk(lab, server, administrator, context_of) -> Desk:
    page = context_of().new_page()
    sign_in(page, administrator)
    return Desk(page, server, customer_id(server, lab.account.name))


def test_from_a_sample_to_reviewed_answers(desk, newcomer, tmp_path):
    page = desk.page
    desk.go("batches/")
    page.get_by_role("link", name="See the samples").click()
    page.get_by_role("button", name=re.compile("^Use it.*Mood of a text, an ordinary form")).click()
    page.get_by_role("link", name="New batch").click()
    table = 'id,product,review\nr1,the kettle,"Loud, but quick."\nr2,the lamp,=HYPERLINK(x)\n'
    desk.upload("Table", "reviews.csv", table)
    page.get_by_role("button", name="Read the table").click()
    expect(page.get_by_text("2 tasks read.")).to_be_visible()
    check(page)
    page.get_by_role("link", name="Look at the tasks").click()
    expect(desk.task.get_by_text("Loud, but quick.")).to_be_visible()
    page.get_by_role("link", name="Next").click()
    expect(desk.task.get_by_text("=HYPERLINK(x)")).to_be_visible()
    check(page)
    page.get_by_role("link", name="Back to the batch").click()
    desk.publish("0.30")
    expect(page.get_by_text("0 of 6 answered")).to_be_visible()
    page.reload()
    check(page)

    mira = newcomer()
    mira.page.goto("/")
    mira.page.get_by_role("link", name="How does this review sound?", exact=True).click()
    mira.page.get_by_role("button", name="Accept", exact=True).click()
    mira.page.wait_for_url("**/tasks/*assignment_id=*")
    task(mira).get_by_label("neither pleased nor displeased").check()
    task(mira).get_by_label("Was anything unclear?").fill("=1+1")
    task(mira).get_by_role("button", name="Submit").click()
    expect(mira.page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")

    page.reload()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download all").click()
    file = tmp_path / "results.csv"
    download.value.save_as(file)
    [row] = list(csv.DictReader(file.read_text().splitlines()))
    assert (row["Answer.mood"], row["Answer.doubt"], row["Input.id"]) == ("neither", "'=1+1", "r1")
    page.get_by_role("link", name="Upload reviewed results").click()
    check(page)
    desk.upload("Reviewed results", "r.csv", f"AssignmentId,Approve,Reject\n{row['AssignmentId']},x,\n")
    page.get_by_role("button", name="Approve and reject").click()
    expect(page.get_by_text("Starting")).to_be_visible()
    desk.run_jobs()
    page.get_by_role("link", name="See the report").click()
    expect(page.get_by_role("row", name="Approved")).to_be_visible()
    check(page)


@pytest.mark.long
def test_lists_forms_and_a_batch_that_runs_hold_what_holds_for_every_page(desk):
    page = desk.page
    desk.make_template("<p>${thing}</p><input name=a>")
    expect(page.get_by_text("The template is stored.")).to_be_visible()
    check(page)
    page.get_by_role("link", name="Look at it").click()
    check(page)
    desk.make_batch("thing\none\ntwo\n")
    batch = page.url.rstrip("/").rpartition("/")[2]
    page.get_by_role("link", name="Change").click()
    check(page)
    desk.go(f"batches/{batch}/")
    desk.publish("0.20")
    paths = ("", "rows/", "extend/", "schedule/")
    for path in (
        *(f"batches/{batch}/{each}" for each in paths),
        "bonuses/", "batches/", "templates/", "batches/new/", "templates/new/",
    ):  # fmt: skip
        desk.go(path)
        check(page)


def test_previews_stand_beside_the_editor_are_walked_through_by_keyboard_and_mistakes_get_the_focus(desk):
    page = desk.page
    page.set_viewport_size({"width": 390, "height": 844})
    desk.go("templates/new/")
    editor = page.get_by_label("Task page")
    editor.fill("<p>Look at ${thing}</p>\n<input name=a>")
    expect(desk.task.get_by_text("Look at [thing]")).to_be_visible()
    page.get_by_text("Sample rows").click()
    page.get_by_label("Rows to look at it with").fill("thing\n<b>this</b>\nthat\n")
    expect(desk.task.locator("b")).to_have_text("this")
    page.get_by_role("button", name="Next row").click()
    expect(desk.task.get_by_text("Look at that")).to_be_visible()
    editor.fill("<p>${thing}</p>\n<crowd-unheard-of></crowd-unheard-of>")
    expect(page.get_by_text("Line 2: ").first).to_be_visible()
    check(page)

    desk.go(desk.make_draft("<h1>${a}</h1>", "a\nfirst\nsecond\nthird\n"))
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("link", name="Look at the tasks").press("Enter")
    expect(desk.task.get_by_role("heading")).to_have_text("first")
    page.get_by_label("Task", exact=True).fill("3")
    page.keyboard.press("Enter")
    expect(desk.task.get_by_role("heading")).to_have_text("third")
    page.get_by_role("link", name="Previous").press("Enter")
    expect(desk.task.get_by_role("heading")).to_have_text("second")

    desk.make_template("<h1>${a}</h1>")
    desk.make_batch(",".join(f"c{n}" for n in range(10_000)) + "\n" + "," * 9_999 + "\n")
    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    expect(summary).to_contain_text("tasks.csv, line 1: it has 10,000 columns; at most 500 are taken.")
    check(page)
