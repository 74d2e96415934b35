"""A requester reviews without a mouse, and its pages are for everybody."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import check
from tests.browser.people import sign_in
from tests.clients import external_question

pytestmark = pytest.mark.browser
HOSTILE = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"


@pytest.fixture
def reviewing(server, task_url, administrator, context_of):
    """Two HITs, of which the first has two answers and the second one; and the browser of who may review."""
    server.reset(data=True)
    account = server.requester()
    hits = []
    for places in (2, 1):
        hit = account.client.create_hit(
            Title="Say what you see",
            Description="One short answer.",
            Reward="0.25",
            AssignmentDurationInSeconds=1800,
            LifetimeInSeconds=86_400,
            MaxAssignments=places,
            Question=external_question(f"{task_url}/task"),
        )["HIT"]["HITId"]
        hits.append(hit)
        for _ in range(places):
            server.worker().do(hit, answer=HOSTILE, data='{"a": [1, 2]}')
    page = context_of().new_page()
    sign_in(page, administrator)
    page.goto("/desk/")
    page.get_by_role("link", name=account.name).first.click()
    page.wait_for_url("**/requester/*/")
    return account, hits, page


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_keys_approve_reject_pay_and_go_on_from_sheet_to_sheet(reviewing):
    account, hits, page = reviewing
    page.get_by_role("link", name="Review", exact=True).click()
    page.get_by_role("link", name="Begin reviewing").click()
    page.wait_for_url(f"**/review/hits/{hits[0]}/")
    answers = page.locator("[data-answer]")
    expect(answers).to_have_count(2)
    assert page.title() != "owned"
    press(page, "j", "j", "k")
    expect(answers.nth(0)).to_be_focused()
    press(page, "b")
    page.keyboard.type("1.50")
    press(page, "Tab")
    page.keyboard.type("Very careful: a, r and n are letters here.")
    press(page, "Tab", "Enter")
    expect(page.get_by_text(re.compile("A bonus of .1.50 for A.* is paid."))).to_be_visible()
    expect(answers.nth(0)).to_be_focused()
    press(page, "a")
    expect(page.get_by_text("Approved: ")).to_be_visible()
    expect(answers).to_have_count(1)
    expect(answers.nth(0)).to_be_focused()
    press(page, "r")
    page.keyboard.type("Nothing was answered.")
    press(page, "Control+Enter")
    page.wait_for_url(f"**/review/hits/{hits[1]}/")
    expect(page.get_by_text("Rejected: ")).to_be_visible()
    press(page, "?")
    keys = page.get_by_role("heading", name="Keys of this page")
    expect(keys).to_be_visible()
    press(page, "Escape")
    expect(keys).to_be_hidden()
    expect(answers.nth(0)).to_have_class(re.compile("is-current"))
    press(page, "a")
    expect(page.get_by_role("heading", name="Nothing to review")).to_be_visible()
    work = account.client.list_assignments_for_hit(HITId=hits[0])["Assignments"]
    assert sorted(each["AssignmentStatus"] for each in work) == ["Approved", "Rejected"]
    assert len(account.client.list_bonus_payments(HITId=hits[0])["BonusPayments"]) == 1


@pytest.mark.long
def test_the_pages_are_for_everybody(reviewing):
    _, hits, page = reviewing
    base = page.url
    check(page)
    page.goto(f"{base}review/hits/{hits[0]}/")
    worker = page.locator("[data-answer] h2 a").first.inner_text()
    paths = ("hits/", f"hits/{hits[0]}/", "review/", "review/workers/", "review/work/", "workers/",
             f"workers/{worker}/", f"message/?worker={worker}", "qualifications/", "qualifications/new/",
             "requests/", f"review/hits/{hits[0]}/")  # fmt: skip
    for path in paths:
        page.goto(base + path)
        check(page)
