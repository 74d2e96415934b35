"""A worker's way to a qualification, in a real browser on a real server."""

import re
import uuid

import pytest
from playwright.sync_api import expect

from tests.browser.looking import check
from tests.questionforms import KEY, TEST

pytestmark = pytest.mark.browser


@pytest.fixture
def tested(lab):
    """Id of a qualification with a test, made by boto3: tested(TestDurationInSeconds=60)."""

    def make(**changes):
        said = lab.account.client.create_qualification_type(
            **{
                "Name": f"Chess {uuid.uuid4().hex[:6]}",
                "Description": "Shows that you can read a position.",
                "QualificationTypeStatus": "Active",
                "Test": TEST,
                "AnswerKey": KEY,
                "TestDurationInSeconds": 600,
                **changes,
            }
        )
        return said["QualificationType"]["QualificationTypeId"]

    return make


def test_a_worker_takes_the_test_that_work_asks_for_and_can_accept_it(lab, newcomer, tested):
    type_id = tested()
    wanted = {"QualificationTypeId": type_id, "Comparator": "GreaterThan", "IntegerValues": [80]}
    group = lab.post(QualificationRequirements=[wanted])
    mira = newcomer()
    page = mira.page
    page.goto(f"/projects/{group}/tasks")
    page.get_by_role("link", name=re.compile("Take the test for “Chess")).click()
    check(page)
    page.get_by_role("button", name="Begin the test").click()
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"^(10:00|9:\d\d)$"))
    check(page)
    page.get_by_label("Option d").check()
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_role("alert")).to_contain_text("One answer needs another look")
    check(page)
    expect(page.get_by_label("Option d")).to_be_checked()
    page.get_by_label("Option apple").check()
    page.get_by_label("Option pear").check()
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("status")).to_contain_text("Your value is 100.")
    expect(page.get_by_text("Open to you", exact=True)).to_be_visible()
    check(page)
    page.get_by_role("link", name="Say what you see").click()
    expect(page.get_by_role("button", name="Accept", exact=True)).to_be_visible()


def test_a_test_is_taken_by_keyboard_alone_and_lists_say_what_became_of_it(newcomer, tested):
    page = newcomer().page
    page.goto("/qualifications?show=held&q=nothing-like-this")
    check(page)
    held, asked = tested(), tested(AnswerKey="")
    page.goto("/qualifications?show=offered")
    check(page)
    for type_id in (held, asked):
        page.goto(f"/qualifications/{type_id}")
        page.get_by_role("button", name="Begin the test").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Option a", exact=True).focus()
        for key in (*["ArrowDown"] * 3, "Tab", "Space", *["Tab"] * 3, "Enter"):
            page.keyboard.press(key)
        expect(page.get_by_role("status")).to_contain_text("Your value is 60." if type_id == held else "")
    for tab in ("held", "asked"):
        page.goto(f"/qualifications?show={tab}")
        check(page)


def test_when_the_time_is_over_the_form_is_gone(newcomer, tested):
    type_id = tested(TestDurationInSeconds=3)
    page = newcomer().page
    page.goto(f"/qualifications/{type_id}")
    page.get_by_role("button", name="Begin the test").click()
    expect(page.get_by_role("heading", name="The time is over")).to_be_visible()
    expect(page.get_by_role("button", name="Hand in")).to_be_hidden()
    check(page)
    page.get_by_role("link", name="Back to the qualification").click()
    expect(page.get_by_text("This qualification can be asked for only once.")).to_be_visible()
    expect(page.get_by_text("Time ran out")).to_be_visible()


def test_a_test_works_without_scripts(lab, context_of, newcomer, tested):
    type_id = tested()
    page = newcomer(java_script_enabled=False).page
    page.goto(f"/qualifications/{type_id}")
    page.get_by_role("button", name="Begin the test").click()
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"^until \d\d:\d\d UTC$"))
    page.get_by_label("Option d").check()
    page.get_by_label("Option plum").check()
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("status")).to_contain_text("Your value is 27.")
