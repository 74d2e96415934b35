"""A worker's way through the site, in a real browser on a real server."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Person
from tests.browser.people import PASSWORD

pytestmark = pytest.mark.browser


def test_a_worker_signs_up_looks_accepts_answers_and_finds_it_in_the_history(lab, server, context_of):
    lab.post()
    invitation = server.console("marketplace", "invite", "Course", "--uses", "1", "--json")
    name = f"mira-of-{lab.account.name}"
    page = context_of().new_page()
    page.goto(invitation["url_path"])
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same once more").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.wait_for_url("**/")
    expect(page.get_by_text("Welcome.")).to_be_visible()
    page.get_by_role("link", name="Say what you see", exact=True).click()
    expect(page.get_by_text("Preview.", exact=True)).to_be_visible()
    expect(page.frame_locator("iframe").get_by_role("heading")).to_have_text("What colour is the sky?")
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"^(30:00|29:\d\d)$"))
    Person(page, "mira").answer("Blue, mostly.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    page.get_by_role("link", name="History").click()
    expect(page.get_by_role("listitem").filter(has_text="Say what you see")).to_contain_text("Waiting")
    hits = lab.account.client.list_hits()["HITs"]
    found = lab.account.client.list_assignments_for_hit(HITId=hits[0]["HITId"])["Assignments"]
    assert "Blue, mostly." in found[0]["Answer"]
    page.goto("/profile/country")
    page.get_by_label("State or province").fill("P")
    page.get_by_role("button", name="Save").click()
    summary = page.get_by_role("alert")
    expect(summary).to_be_focused()
    summary.get_by_role("link", name="State or province").click()
    expect(page.get_by_label("State or province")).to_be_focused()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in", exact=True).first).to_be_visible()
    page.goto("/history")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("History")


def test_nothing_is_sent_from_a_preview_and_a_hit_is_returned_and_offered_again(lab, newcomer):
    group = lab.post()
    mira = newcomer()
    mira.page.goto(f"/projects/{group}/tasks")
    mira.answer("Too early")
    mira.page.wait_for_timeout(300)
    expect(mira.page.frame_locator("iframe").get_by_role("heading")).to_have_text("What colour is the sky?")
    hit = lab.account.client.list_hits()["HITs"][0]
    assert hit["NumberOfAssignmentsAvailable"] == 2
    mira.accept(group)
    mira.page.get_by_role("button", name="Return").click()
    expect(mira.page.get_by_role("status")).to_contain_text("You returned the HIT.")
    expect(mira.page.get_by_role("heading", name="Say what you see")).to_be_visible()
    mira.page.goto("/history")
    expect(mira.page.get_by_text("Returned", exact=True)).to_be_visible()


def test_the_timer_speaks_at_five_minutes_at_one_and_when_the_time_is_over(lab, newcomer, server):
    page = (mira := newcomer()).page
    mira.accept(lab.post(AssignmentDurationInSeconds=302))
    expect(page.locator("#timer-says")).to_have_text("Five minutes left.")
    mira.accept(lab.post(Title="Short", AssignmentDurationInSeconds=62))
    expect(page.locator("#timer-says")).to_have_text("One minute left.")
    server.advance(58)
    page.reload()
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"^0:0[0-3]$"))
    expect(page.get_by_role("heading", name="The time is over")).to_be_visible()
    expect(page.locator("iframe")).to_be_hidden()


def test_the_next_hit_is_accepted_automatically_until_none_is_left_and_going_back_accepts_none(lab, newcomer):
    group = lab.post(count=3)
    mira = newcomer()
    page = mira.page
    mira.accept(group)
    page.get_by_label("Auto-accept next").check()
    expect(page.get_by_text("Saved")).to_be_visible()
    first = page.url
    mira.answer()
    page.wait_for_url(lambda url: "assignment_id=" in url and url != first)
    expect(page.get_by_label("Auto-accept next")).to_be_checked()
    second = page.url
    page.go_back()
    page.wait_for_timeout(500)
    page.goto("/tasks")
    expect(page.get_by_role("link", name="Continue")).to_have_count(1)
    page.goto(second)
    mira.answer()
    page.wait_for_url(lambda url: "assignment_id=" in url and url not in (first, second))
    mira.answer()
    expect(page.get_by_text("There is nothing left for you in this group.")).to_be_visible()


def test_a_frame_fits_the_window_or_has_its_height_and_a_page_that_lies_gets_neither_window_nor_belief(
    lab, newcomer
):
    fitting, tall = lab.post(height=0, path="/liar"), lab.post(Title="Tall", height=1500)
    mira = newcomer(viewport={"width": 1280, "height": 800})
    mira.accept(fitting)
    expect(mira.page.frame_locator("iframe").get_by_role("heading")).to_have_text("A liar")
    here = mira.page.url
    mira.page.wait_for_timeout(500)
    assert mira.page.url == here
    expect(mira.page.get_by_role("timer")).to_be_visible()
    box, foot = mira.page.locator("iframe").bounding_box(), mira.page.locator(".foot").bounding_box()
    assert box["y"] + box["height"] == pytest.approx(foot["y"], abs=2)
    assert foot["y"] + foot["height"] == pytest.approx(800, abs=2)
    assert mira.page.evaluate("document.documentElement.scrollHeight") <= 801
    mira.accept(tall)
    assert mira.page.locator("iframe").bounding_box()["height"] == pytest.approx(1500, abs=2)


def test_everything_works_on_a_phone(lab, newcomer):
    lab.post()
    mira = newcomer(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = mira.page
    page.goto("/")
    menu = page.get_by_role("navigation", name="Main")
    assert menu.bounding_box()["y"] + menu.bounding_box()["height"] == pytest.approx(844, abs=1)
    boxes = [item.bounding_box() for item in menu.get_by_role("listitem").all() if item.is_visible()]
    assert 4 <= len(boxes) <= 5
    assert all(box["height"] >= 44 and box["width"] >= 44 for box in boxes)
    page.get_by_role("link", name="Preview: Say what you see").tap()
    page.get_by_role("button", name="Accept", exact=True).tap()
    page.wait_for_url("**/tasks/*assignment_id=*")
    bar = page.locator(".work-bar").bounding_box()
    assert bar["height"] <= 844 / 7
    mira.answer()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    for name, heading in (("Queue", "Queue"), ("Earnings", "Earnings"), ("Inbox", "Inbox")):
        page.get_by_role("navigation", name="Main").get_by_role("link", name=name).tap()
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)


def test_everything_works_with_the_keyboard_alone(lab, newcomer):
    lab.post()
    page = newcomer().page
    page.goto("/")
    press = page.keyboard.press

    def tab_to(name):
        for _ in range(40):
            press("Tab")
            said = page.evaluate(
                "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent)"
            )
            if said.strip() == name:
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", f"{name} has the focus and does not show it"
                return
        raise AssertionError(f"{name} cannot be reached with the tab key")

    press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    tab_to("Say what you see")
    press("Enter")
    page.wait_for_url("**/projects/*/tasks")
    tab_to("Accept")
    press("Enter")
    page.wait_for_url("**/tasks/*assignment_id=*")
    expect(page.frame_locator("iframe").get_by_label("Your answer")).to_be_visible()
    tab_to("Skip to the task")
    press("Enter")
    press("Tab")
    page.keyboard.type("Blue.")
    press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")


def test_everything_works_without_javascript(lab, newcomer):
    group = lab.post(count=2)
    mira = newcomer(java_script_enabled=False)
    page = mira.page
    mira.accept(group)
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"^until \d\d:\d\d UTC$"))
    page.get_by_label("Auto-accept next").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Auto-accept next")).to_be_checked()
    mira.answer()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading")).to_have_text("Submitted")
    frame.get_by_role("link", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you, your work is submitted")
    page.get_by_role("button", name="Accept the next HIT").click()
    expect(page.get_by_role("timer")).to_be_visible()
    page.get_by_role("button", name="Return").click()
    expect(page.get_by_role("status")).to_contain_text("You returned the HIT.")
