"""How a person is paid, and payout files, in a real browser: axe, reflow, targets."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.looking import check
from tests.browser.people import sign_in
from tests.server import RunningServer

pytestmark = pytest.mark.browser


def test_a_worker_says_how_they_are_paid(lab, newcomer) -> None:
    page = newcomer().page
    page.goto("/profile/payment")
    check(page)
    # Sums are in dollars here, which SEPA does not carry.
    expect(page.get_by_role("link", name="Transfer in the euro area (SEPA)")).to_have_count(0)
    page.get_by_role("link", name="Wise, to an account with an IBAN").click()
    page.get_by_label("Name on the account").fill("Rosa Lind")
    page.get_by_label("IBAN").fill("DE89 3704 0044 0532 0130 01")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("check digits")
    check(page)
    page.get_by_label("IBAN").fill("DE89 3704 0044 0532 0130 00")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("not confirmed", exact=True).wait_for()
    check(page)


def test_staff_pay_with_files(
    server: RunningServer, administrator: str, context_of: Callable[..., BrowserContext]
) -> None:
    server.call("tests.browser.paying", "fill")
    page = context_of().new_page()
    sign_in(page, administrator, "/desk/")
    page.get_by_role("link", name="Real Lab").first.click()
    page.get_by_role("link", name="Money").first.click()
    page.get_by_role("link", name="To pay out", exact=True).click()
    page.get_by_role("link", name="Report 2").click()
    check(page)
    page.get_by_role("link", name="Pay with files").click()
    expect(page.get_by_role("row").filter(has_text="The account is closed")).to_contain_text("ready")
    check(page)
    page.get_by_role("button", name="Make the file").first.click()
    page.get_by_role("heading", name="Payout 2").wait_for()
    check(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    assert download.value.suggested_filename.endswith("-2-paypal.csv")
    page.get_by_role("link", name="Payout files").first.click()
    check(page)
    page.locator("input[type=file]").set_input_files(
        [{"name": "back.csv", "mimeType": "text/csv", "buffer": b"reference,status\nD0P0L0,paid\n"}]
    )
    page.get_by_role("button", name="Book them").click()
    page.get_by_text("back.csv, line 2, reference D0P0L0").wait_for()
    page.get_by_role("link", name="People and years").click()
    page.get_by_text("Release").first.click()
    check(page)
