"""Keys and money of a requester in a real browser, with and without script: axe, reflow, targets."""

import re
from collections.abc import Callable

import boto3
import pytest
from botocore.config import Config
from playwright.sync_api import BrowserContext, expect

from tests.browser.looking import check
from tests.browser.people import sign_in
from tests.clients import external_question
from tests.server import RunningServer

pytestmark = pytest.mark.browser


def snippet_client(text: str):
    """The client that the page's own lines make."""
    given = dict(re.findall(r'(\w+)="([^"]+)"', text))
    return boto3.client("mturk", config=Config(proxies={}, retries={"total_max_attempts": 1}), **given)


@pytest.mark.parametrize(
    "script", [True, pytest.param(False, marks=pytest.mark.long)], ids=["script", "no script"]
)
def test_from_a_new_requester_to_a_report_that_is_paid_out(
    server: RunningServer,
    administrator: str,
    context_of: Callable[..., BrowserContext],
    script: bool,
) -> None:
    page = context_of(java_script_enabled=script).new_page()
    sign_in(page, administrator, "/desk/")

    def look() -> None:
        if script:
            check(page)
            page.set_viewport_size({"width": 1280, "height": 900})

    page.get_by_role("link", name="New requester").click()
    look()
    page.get_by_label("Name").fill(f"Browser lab {script}")
    page.get_by_role("button", name="Make the requester").click()
    page.get_by_role("heading", name="Your new key").wait_for()
    look()
    client = snippet_client(page.locator("#snippet").inner_text())
    assert client.get_account_balance()["AvailableBalance"] == "0.00"
    page.reload()
    expect(page.get_by_role("heading", name="Your new key")).to_have_count(0)

    page.get_by_role("link", name="Money").first.click()
    look()
    page.get_by_role("link", name="Deposit", exact=True).click()
    page.get_by_label("Amount").fill("ten")
    page.get_by_role("button", name="Deposit play money").click()
    expect(page.get_by_role("alert")).to_contain_text("Write an amount with two decimals")
    look()
    page.get_by_label("Amount").fill("20.00")
    page.get_by_label("Reference").fill("PO-17")
    page.get_by_role("button", name="Deposit play money").click()
    page.get_by_text("$20.00 deposited.").wait_for()

    hit = client.create_hit(
        Title="Say what you see",
        Description="One short answer.",
        Reward="0.25",
        LifetimeInSeconds=3600,
        AssignmentDurationInSeconds=600,
        Question=external_question(),
    )["HIT"]
    taken = server.worker().do(hit["HITId"])
    client.approve_assignment(AssignmentId=taken["assignment_id"])
    page.reload()
    expect(page.get_by_role("row").filter(has_text="Reward")).to_contain_text("$0.25")
    look()

    page.get_by_role("link", name="To pay out", exact=True).click()
    page.get_by_label("With those to simulated workers").check()
    page.get_by_role("button", name="Make a report").click()
    page.get_by_role("heading", name="Report 1").wait_for()
    look()
    page.get_by_role("button", name="Mark as paid out").click()
    page.get_by_text("Noted as paid out.").wait_for()
    page.get_by_role("link", name="To pay out", exact=True).click()
    look()

    server.advance(40 * 86_400)
    page.get_by_role("link", name="Invoices", exact=True).click()
    look()
    page.get_by_role("link", name="New invoice").click()
    page.get_by_role("button", name="Look at it first").click()
    page.get_by_role("heading", name="What it would say").wait_for()
    look()
    server.reset()


def test_an_old_key_is_ended_and_faults_are_set(
    server: RunningServer, administrator: str, context_of: Callable[..., BrowserContext]
) -> None:
    account = server.requester("1.00")
    page = context_of().new_page()
    sign_in(page, administrator, "/desk/")
    page.get_by_role("link", name=account.name).click()
    page.get_by_role("link", name="Keys").first.click()
    page.get_by_label("What it is for").fill("notebook")
    page.get_by_label("The keys that are valid now").select_option(label="end in 7 days")
    page.get_by_role("button", name="Make a key").click()
    page.get_by_role("heading", name="Your new key").wait_for()
    new = snippet_client(page.locator("#snippet").inner_text())
    row = page.get_by_role("row").filter(has_text=account.access_key)
    expect(row.first).to_contain_text("in 7 days")
    assert account.client.get_account_balance()["AvailableBalance"] == "1.00"
    page.locator("summary").filter(has_text=account.access_key).click()
    check(page)
    page.locator("details[open]").get_by_role("button", name="End it").click()
    page.get_by_text(f"The key {account.access_key} has ended.").wait_for()
    with pytest.raises(account.client.exceptions.ClientError, match="UnrecognizedClient"):
        account.client.get_account_balance()
    page.get_by_role("link", name="Test controls").click()
    page.get_by_label("Throttle the next calls").fill("1")
    page.get_by_role("button", name="Set these faults").click()
    page.get_by_text("The faults are set.").wait_for()
    check(page)
    with pytest.raises(new.exceptions.ClientError, match="Throttling"):
        new.get_account_balance()
    assert new.get_account_balance()["AvailableBalance"] == "1.00"
