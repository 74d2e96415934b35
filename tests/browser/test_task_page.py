"""A worker in our own task page, inside the marketplace's frame, in a real browser."""

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.browser.campaign import Campaign
from tests.browser.looking import check
from tests.server import RunningServer

pytestmark = pytest.mark.browser
DONE = "Thank you, your work is submitted"


@pytest.fixture(scope="module")
def campaign(server: RunningServer) -> Campaign:
    return Campaign(server)


@pytest.fixture
def colours(campaign: Campaign) -> int:
    """A poll about two things in one HIT, open to workers."""
    campaign.begin()
    return campaign.open()


def begin(page: Page) -> FrameLocator:
    """Take the HIT on offer; the frame with our page."""
    page.goto("/")
    page.get_by_role("link", name="Preview: Say what colour it is").click()
    page.get_by_role("button", name="Accept", exact=True).click()
    page.wait_for_url("**/tasks/*assignment_id=*")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", level=1)).to_have_text("Say what colour it is")
    return frame


def choose(frame: FrameLocator, thing: str, colour: str) -> None:
    unit = frame.locator(".unit").filter(has_text=thing)
    unit.get_by_text(colour, exact=True).click()


def answers(campaign: Campaign, stage: int) -> list[dict[str, str]]:
    return [
        {unit: answer["choice"] for unit, answer in row["response"].items()}
        for row in campaign.work(stage)
        if row["response"]
    ]


def test_a_worker_looks_accepts_answers_and_is_paid_although_the_line_was_down(colours, campaign, newcomer):
    page = newcomer().page
    page.goto("/")
    page.get_by_role("link", name="Preview: Say what colour it is").click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Preview.", exact=True)).to_be_visible()
    expect(frame.get_by_role("radio").first).to_be_disabled()
    expect(frame.get_by_role("button", name="Submit")).to_have_count(0)
    frame = begin(page)
    choose(frame, "The sky at noon", "Blue")
    choose(frame, "A ripe lemon", "Yellow")
    page.context.set_offline(True)
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_text("Your answer stays here and is sent")).to_be_visible()
    assert answers(campaign, colours) == []
    page.context.set_offline(False)
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)
    assert answers(campaign, colours) == [{"item:0": "Blue", "item:1": "Yellow"}]
    campaign.tick()
    assert [row["state"] for row in campaign.work(colours)] == ["approved"]
    page.goto("/history")
    expect(page.get_by_role("listitem").filter(has_text="Say what colour it is")).to_contain_text("Approved")


def test_on_a_phone_what_is_forgotten_is_named_on_top_and_going_back_sends_nothing_twice(
    colours, campaign, newcomer
):
    page = newcomer(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).page
    frame = begin(page)
    for thing, colour in (("The sky at noon", "Blue"), ("A ripe lemon", "Yellow")):
        frame.locator(".unit").filter(has_text=thing).get_by_text(colour, exact=True).tap()
        frame.get_by_role("button", name="Submit").tap()
        if colour == "Blue":
            expect(frame.get_by_role("alert")).to_contain_text("One answer needs another look")
            expect(frame.get_by_role("alert")).to_be_focused()
            frame.get_by_role("link", name="Choose one of the options.").tap()
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)
    page.go_back()
    page.wait_for_timeout(500)
    assert answers(campaign, colours) == [{"item:0": "Blue", "item:1": "Yellow"}]
    assert len(campaign.work(colours)) == 1


def test_a_draft_is_saved_by_itself_survives_a_reload_and_is_not_kept_in_the_browser(
    colours, campaign, newcomer
):
    page = newcomer().page
    page.on("dialog", lambda dialog: pytest.fail(f"the page asks: {dialog.message}"))
    frame = begin(page)
    before = page.context.cookies()
    page.context.set_offline(True)
    choose(frame, "A ripe lemon", "Yellow")
    expect(frame.get_by_text("Not saved yet; trying again.")).to_be_visible()
    page.context.set_offline(False)
    expect(frame.get_by_text("saved", exact=True)).to_be_visible()
    assert page.context.cookies() == before
    kept = "Object.keys(localStorage).concat(Object.keys(sessionStorage))"
    assert page.frames[1].evaluate(kept) == []
    page.reload()
    expect(frame.get_by_role("radio", name="Yellow", checked=True)).to_have_count(1)
    here = page.url
    choose(frame, "The sky at noon", "Red")
    page.goto("/tasks")
    expect(page.get_by_role("heading", level=1)).to_have_text("Queue")
    page.wait_for_timeout(500)
    drafts = [value for row in campaign.work(colours) for value in row["draft"].values()]
    assert sorted(drafts) == ["Red", "Yellow"]
    page.goto(here)
    choose(frame, "The sky at noon", "Blue")
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)
    (row,) = campaign.work(colours)
    assert row["telemetry"]["edits"] == 1
    assert row["telemetry"]["active_ms"] > 1000
    assert len(row["telemetry"]["visits"]) == 3


def test_the_keyboard_is_enough_and_its_shortcuts_can_be_switched_off(colours, campaign, newcomer):
    page = newcomer().page
    frame = begin(page)
    press = page.keyboard.press
    frame.locator("summary").click()
    expect(frame.get_by_text("most people would name first")).to_be_hidden()
    frame.get_by_role("radio").first.focus()
    press("?")
    expect(frame.get_by_text("most people would name first")).to_be_visible()
    expect(frame.locator("summary")).to_be_focused()
    press("?")
    expect(frame.get_by_role("radio").first).to_be_focused()
    switch = frame.get_by_label("Shortcuts")
    expect(frame.locator("kbd").first).to_be_visible()
    switch.uncheck()
    expect(frame.get_by_text("saved", exact=True)).to_be_visible()
    frame.locator("summary").focus()
    press("1")
    expect(frame.get_by_role("radio", checked=True)).to_have_count(0)
    expect(frame.locator(".choice kbd").first).to_be_hidden()
    page.reload()
    expect(switch).not_to_be_checked()
    switch.check()
    things = frame.locator(".unit .item").all_text_contents()
    right = {"The sky at noon": "3", "A ripe lemon": "2"}
    frame.locator("summary").focus()
    for key in (right[things[0]], "Enter", "1", right[things[1]], "Enter"):
        press(key)
    expect(frame.get_by_role("button", name="Submit")).to_be_focused()
    press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)
    assert answers(campaign, colours) == [{"item:0": "Blue", "item:1": "Yellow"}]
    (row,) = campaign.work(colours)
    assert row["telemetry"]["keystrokes"] >= 6
    assert row["telemetry"]["edits"] == 1
    assert row["telemetry"]["first_key_ms"] > 0


def test_everything_works_without_javascript(colours, campaign, newcomer):
    page = newcomer(java_script_enabled=False).page
    frame = begin(page)
    expect(frame.get_by_text("Shortcuts")).to_be_hidden()
    choose(frame, "The sky at noon", "Blue")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("alert")).to_contain_text("One answer needs another look")
    choose(frame, "A ripe lemon", "Yellow")
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("button", name="Tell the marketplace").click()
    expect(frame.get_by_role("heading")).to_have_text("Submitted")
    assert answers(campaign, colours) == [{"item:0": "Blue", "item:1": "Yellow"}]


def test_a_worker_whom_we_refuse_reads_why_and_finds_the_way_back(colours, campaign, newcomer, server):
    page = newcomer().page
    campaign.close(colours)
    page.goto("/")
    page.get_by_role("link", name="Preview: Say what colour it is").click()
    page.get_by_role("button", name="Accept", exact=True).click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("This HIT is over")).to_be_visible()
    frame.get_by_role("link", name="Back to the marketplace").click()
    expect(page).to_have_url(f"{server.url}/")


def test_every_page_of_ours_in_the_frame_is_for_everybody(colours, campaign, newcomer, context_of):
    mira = newcomer(java_script_enabled=False)
    begin(mira.page)
    address = mira.page.locator("iframe").get_attribute("src")
    page = context_of().new_page()
    page.goto(address)
    check(page)
    page.goto(address.partition("?")[0])
    check(page)
    page.goto(address)
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("alert").wait_for()
    check(page)
    page.goto(address.replace("turkSubmitTo=", "turkSubmitTo=x"))
    page.get_by_role("heading", name="You cannot do this one").wait_for()
    check(page)
    page.route("**/externalSubmit", lambda route: route.fulfill(status=204))
    page.goto(address)
    for unit in page.locator(".unit").all():
        unit.get_by_text("Blue", exact=True).click()
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("heading", name="Your answer is stored").wait_for()
    check(page)
