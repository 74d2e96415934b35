"""Scales with halves, sliders and numbers of one's own: by keyboard, by touch and without a script."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.keyboard import name_in_focus, tab_to, take_with_keys
from tests.browser.looking import check
from tests.browser.people import take, take_address
from tests.browser.test_judging import DONE, KPQA, in_view, judgers
from tests.scale import TEST_ALL

__all__ = ["judgers"]
pytestmark = pytest.mark.browser
ASKED = "How correct is the predicted answer?"
SLIDER = {"scale": "slider"}
WIDE, PHONE = (1280, 800), (390, 844)
SCALES = {
    "slider": SLIDER,
    "halves": {"scale": "halves"},
    "numbers": {"scale": "numbers", "scale_most": 10.0},
}


def opened(judgers, newcomer, context_of, config, **options) -> tuple[str, Page]:
    """The task of an accepted HIT as a page of its own."""
    title = judgers.stage([KPQA], config=config)
    page = context_of(**options).new_page()
    page.goto(take_address(newcomer().page, title))
    return title, page


def test_a_slider_is_moved_with_the_keyboard_and_untouched_it_is_no_answer(judgers, newcomer):
    title = judgers.stage([KPQA], config=SLIDER)
    page = newcomer().page
    take_with_keys(page, title)
    frame = page.frames[1]
    slider, number = frame.get_by_role("slider", name=ASKED), frame.get_by_label("Score", exact=True)
    expect(slider).to_have_attribute("aria-valuetext", "no score yet")
    expect(number).to_have_value("")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("alert")).to_contain_text(
        "You gave no score yet. Move the slider, or type a number from 0, completely wrong, to 100"
    )
    expect(number).to_have_value("")
    slider.focus()
    page.keyboard.press(" ")
    expect(number).to_have_value("50")
    for key in ("ArrowRight", "ArrowRight", "PageUp", "ArrowLeft"):
        page.keyboard.press(key)
    expect(number).to_have_value("61")
    expect(slider).to_have_attribute("aria-valuetext", "61")
    page.keyboard.press("End")
    expect(number).to_have_value("100")
    page.keyboard.press("Tab")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("73")
    expect(slider).to_have_js_property("value", "73")
    page.keyboard.press("Enter")
    assert name_in_focus(page) == "Submit"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)
    assert judgers.judged(title)["judgments"] == [["query-0", "unilm", 73, {}]]


def test_a_tap_on_the_middle_of_the_slider_is_an_answer_and_a_draft_keeps_it(judgers, newcomer, context_of):
    """Where the slider begins, a tap changes no value."""
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    title, page = opened(judgers, newcomer, context_of, SLIDER, **phone)
    slider, number = page.get_by_role("slider", name=ASKED), page.get_by_label("Score", exact=True)
    expect(number).to_have_value("")
    box = slider.bounding_box()
    assert box["height"] >= 44
    slider.tap(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(number).to_have_value("50")
    slider.tap(position={"x": box["width"] * 0.9, "y": box["height"] / 2})
    at = float(number.input_value())
    assert 85 <= at <= 95
    expect(page.locator(".saved")).to_have_text("saved")
    page.reload()
    expect(number).to_have_value(f"{at:g}")
    expect(slider).to_have_js_property("value", f"{at:g}")
    assert judgers.judged(title)["judgments"] == []


def test_without_a_script_a_score_is_typed_and_must_lie_on_the_scale(judgers, newcomer):
    title = judgers.stage([KPQA], config={"scale": "slider", "scale_step": 0.5})
    frame = take(newcomer(java_script_enabled=False).page, title)
    expect(frame.get_by_role("slider")).to_have_count(0)
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("alert")).to_contain_text("You gave no score yet")
    frame.get_by_label("Score", exact=True).fill("37.25")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("alert")).to_contain_text("“37.25” is no score from 0 to 100 in steps of 0.5")
    frame.get_by_label("Score", exact=True).fill("37.5")
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("button", name="Tell the marketplace").click()
    expect(frame.get_by_role("heading")).to_have_text("Submitted")
    assert judgers.judged(title)["judgments"] == [["query-0", "unilm", 37.5, {}]]


def test_half_points_and_whole_ones_are_chosen_with_keys(judgers, newcomer):
    title = judgers.stage([KPQA], config={"scale": "halves"})
    page = newcomer().page
    take_with_keys(page, title)
    tab_to(page, "Instructions")
    page.keyboard.press("4")
    expect(page.frames[1].get_by_role("radio", name="4 minor error")).to_be_checked()
    page.keyboard.press("ArrowRight")
    expect(page.frames[1].get_by_role("radio", name="4.5")).to_be_checked()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)
    assert judgers.judged(title)["judgments"] == [["query-0", "unilm", 4.5, {}]]


def test_every_scale_is_in_view_and_for_everybody(judgers, newcomer, context_of, subtests):
    sizes = [("slider", PHONE), ("halves", PHONE), ("numbers", WIDE)]
    sizes += [("slider", WIDE), ("halves", WIDE), ("numbers", PHONE)] if TEST_ALL else []
    mira, page = newcomer().page, context_of().new_page()
    for scale, size in sizes:
        with subtests.test(scale=scale, size=size):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.goto(take_address(mira, judgers.stage([KPQA], config=SCALES[scale])))
            look_at_scale(page, size)


def look_at_scale(page: Page, size: tuple[int, int]) -> None:
    """The scale is in view beside the answers, its choices fit a finger, and it is for everybody."""
    group = page.get_by_role("group", name=ASKED)
    assert all(in_view(page, part) for part in (page.locator(".predicted"), page.locator(".correct"), group))
    assert page.evaluate("document.scrollingElement.scrollWidth") <= size[0]
    for box in (each.bounding_box() for each in group.locator("label.choice").all()):
        assert box["height"] >= 44
        assert box["width"] >= 44
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_be_visible()
    check(page)
