"""Rating, writing, feedback, taking one's data and leaving, in a real browser on a real server."""

import io
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser import looking
from tests.browser.people import PASSWORD, sign_in

pytestmark = pytest.mark.browser
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def owner(lab, administrator, context_of):
    """A member of staff in front of the requester's pages."""
    page = context_of().new_page()
    sign_in(page, administrator, "/desk/")
    page.get_by_role("link", name=lab.account.name, exact=True).first.click()
    return page


def test_a_worker_writes_while_working_and_the_requester_answers(lab, newcomer, owner):
    group = lab.post()
    mira = newcomer(**PHONE)
    mira.accept(group)
    assert mira.page.locator(".work-bar").bounding_box()["height"] <= 844 / 7
    with mira.page.expect_popup() as opened:
        mira.page.get_by_role("link", name="Write to the requester").tap()
    letter = opened.value
    letter.get_by_label("Subject").fill("The page is empty")
    letter.get_by_label("Message").fill("I see nothing but white.")
    letter.get_by_role("button", name="Send").tap()
    expect(letter.get_by_text("Your message is sent.")).to_be_visible()
    expect(mira.page.get_by_role("timer")).to_be_visible()

    owner.get_by_role("link", name="Messages").click()
    looking.check(owner)
    owner.get_by_role("link", name="The page is empty").click()
    expect(owner.get_by_text("I see nothing but white.")).to_be_visible()
    looking.check(owner)
    owner.get_by_label("Your answer").fill("Mended, thank you.")
    owner.get_by_role("button", name="Send the answer").click()
    expect(owner.get_by_text("Your answer is in the inbox of the worker.")).to_be_visible()

    letter.goto("/inbox")
    looking.check(letter)
    letter.get_by_role("link", name="Reply: Re: The page is empty").click()
    expect(letter.get_by_text("Mended, thank you.")).to_be_visible()
    expect(letter.get_by_label("Subject")).to_have_value("Re: The page is empty")
    looking.check(letter)


def test_a_group_is_rated_with_the_keyboard(lab, newcomer):
    group = lab.post()
    mira = newcomer()
    mira.accept(group)
    mira.answer()
    page = mira.page
    page.get_by_role("link", name="Rate it").click()
    looking.check(page)
    page.get_by_role("radio", name="5, very good").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("Short and clear.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("your rating is kept")).to_be_visible()
    expect(page.get_by_role("link", name="Change your rating: Say what you see")).to_be_visible()
    looking.check(page)
    page.get_by_role("navigation", name="Your work").get_by_role("link", name="Feedback").click()
    expect(page.get_by_role("heading", name="By requester")).to_be_visible()
    looking.check(page)


def test_a_worker_takes_everything_along_and_leaves_for_ever(lab, newcomer):
    group = lab.post()
    mira = newcomer(accept_downloads=True)
    mira.accept(group)
    mira.answer("Blue, mostly.")
    page = mira.page
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    page.goto("/profile")
    looking.check(page)
    page.get_by_role("link", name="Close the account").click()
    looking.check(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download everything").click()
    with zipfile.ZipFile(io.BytesIO(download.value.path().read_bytes())) as archive:
        worker_id = archive.namelist()[0].split("/")[0]
        assert "Blue, mostly." in archive.read(f"{worker_id}/assignments.json").decode()

    page.get_by_label("Type your worker id").fill("not this")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Close the account for ever").click()
    expect(page.get_by_role("alert")).to_contain_text(f"Type {worker_id}, your worker id.")
    expect(page.get_by_role("alert")).to_be_focused()
    looking.check(page)
    page.get_by_label("Type your worker id").fill(worker_id.lower())
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Close the account for ever").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account is closed")
    expect(page.get_by_text(f"{worker_id}.")).to_be_visible()
    looking.check(page)

    page.goto("/accounts/login/")
    page.get_by_label("Username").fill(mira.name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    client = lab.account.client
    [hit] = client.list_hits()["HITs"]
    [done] = client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    client.approve_assignment(AssignmentId=done["AssignmentId"])
    assert client.get_account_balance()["AvailableBalance"] == "999.50"
