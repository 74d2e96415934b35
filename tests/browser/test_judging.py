"""Judging without a mouse, without a script, and for everybody."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.annotating import take
from tests.browser.judging import Judgers
from tests.browser.keyboard import name_in_focus, tab_to, take_with_keys
from tests.browser.looking import check
from tests.browser.test_desk import sign_in
from tests.judgments.judging_world import CORRECT, GAS, PASSAGE, PREDICTED, TOPICS
from tests.server import RunningServer

pytestmark = pytest.mark.browser
KPQA = {"query": GAS, "references": [CORRECT], "passages": [PASSAGE], "answers": {"unilm": PREDICTED}}
DONE = "Thank you, your work is submitted"
LABELS = ["completely wrong", "vital error", "ambiguous", "minor error", "completely correct"]
HOSTILE = "<img src=x onerror=alert(1)> \u202e" + "\u05d9\u05d5\u05dd " + "w" * 300


@pytest.fixture(scope="session")
def judgers_process(server: RunningServer) -> Iterator[Judgers]:
    with Judgers(server) as running:
        yield running


@pytest.fixture
def judgers(server: RunningServer, judgers_process: Judgers) -> Judgers:
    server.reset(data=True)
    return judgers_process


def survey() -> list[dict[str, Any]]:
    """Six queries, each with the answers of two systems."""
    return [
        {
            "query": text,
            "references": [right],
            "passages": [f"A page about topic {number}."],
            "answers": {
                "unilm": f"{right} Surely {number}.",
                "mhpgm": f"Nothing is known about topic {number}.",
            },
        }
        for number, (text, right) in enumerate(TOPICS, 1)
    ]


def test_an_answer_is_judged_with_the_number_keys(judgers, newcomer):
    title = judgers.stage([KPQA])
    page = newcomer().page
    take_with_keys(page, title)
    frame = page.frames[1]
    assert frame.locator("input[type=radio]:checked").count() == 0
    tab_to(page, "Instructions")
    for key in ("2", "4", "Enter"):
        page.keyboard.press(key)
    assert name_in_focus(page) == "Submit"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)
    assert judgers.judged(title)["judgments"] == [["query-0", "unilm", 4, {}]]


def test_a_whole_survey_is_done_with_the_keyboard_alone(judgers, newcomer):
    """Twelve answers and two checks, everything about one query side by side, each choice by its number."""
    title = judgers.stage(
        survey(),
        units_per_hit=10,
        checks_per_hit=2,
        config={"shared_queries": 1, "foreign_checks": 1, "reference_checks": 1, "passages": False},
    )
    page = newcomer().page
    take_with_keys(page, title)
    frame = page.frames[1]
    questions = frame.locator(".question").all_text_contents()
    assert len(questions) == 14
    runs = [text for place, text in enumerate(questions) if place == 0 or questions[place - 1] != text]
    assert sorted(runs) == sorted(set(questions))
    tab_to(page, "Instructions")
    predicted = frame.locator(".predicted p").all_text_contents()
    corrects = frame.locator(".correct").all_text_contents()
    for text, correct in zip(predicted, corrects, strict=True):
        right = set(re.findall(r"\w+", correct)) & set(re.findall(r"\w+", text))
        page.keyboard.press("5" if len(right) > 3 else "1")
        page.keyboard.press("Enter")
    assert name_in_focus(page) == "Submit"
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)
    found = judgers.judged(title)
    assert len(found["judgments"]) == 12
    assert {(system, score) for _, system, score, _ in found["judgments"]} == {("unilm", 5), ("mhpgm", 1)}
    assert found["checks"] == [["foreign", True], ["reference", True]]


def test_it_works_without_a_script_and_says_what_is_missing(judgers, newcomer):
    aspect = {
        "name": "topicality",
        "question": "Is it about the question?",
        "labels": ["no", "partly", "yes"],
    }
    title = judgers.stage([KPQA], config={"aspects": [aspect], "comment": True})
    mira = newcomer(java_script_enabled=False).page
    frame = take(mira, title)
    frame.get_by_role("group", name="Is it about the question?").get_by_label("yes").check()
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("alert")).to_contain_text("Choose a score from 1, completely wrong")
    frame.get_by_role("group", name="How correct is the predicted answer?").get_by_label(
        "minor error"
    ).check()
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("button", name="Tell the marketplace").click()
    expect(frame.get_by_role("heading")).to_have_text("Submitted")
    assert judgers.judged(title)["judgments"] == [["query-0", "unilm", 4, {"topicality": 3}]]


def look(page: Page) -> None:
    """What holds for every page."""
    check(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390


def test_the_page_is_for_everybody(judgers, newcomer, context_of):
    turns = [{"text": "tell me about fuels", "answer": "They burn."}, {"text": HOSTILE}]
    hostile = {
        "query": f"what is {HOSTILE}",
        "references": [f"It is {HOSTILE}", "ما هي عاصمة إيطاليا"],
        "passages": [PASSAGE * 20, HOSTILE],
        "context": turns,
        "answers": {"unilm": HOSTILE, "mhpgm": "水的沸点是多少"},
    }
    aspect = {"name": "topicality", "question": "Is it about the question?", "labels": ["no", HOSTILE[:100]]}
    title = judgers.stage(
        [KPQA, hostile],
        units_per_hit=3,
        config={"aspects": [aspect], "comment": True, "reference": "all"},
    )
    mira = newcomer(java_script_enabled=False).page
    take(mira, title)
    address = mira.locator("iframe").get_attribute("src")
    page = context_of().new_page()
    page.goto(address.partition("?")[0])
    expect(page.get_by_text("Preview.", exact=True)).to_be_visible()
    look(page)
    page.goto(address)
    look(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("need another look")
    look(page)


def test_a_training_says_why_and_asks_again(judgers, newcomer, context_of):
    lesson = {"question": GAS, "answer": PREDICTED, "correct": CORRECT, "passage": PASSAGE}
    lessons = [
        {**lesson, "accepted": [1, 2], "reason": "The passage says nothing of Canada."},
        {**lesson, "answer": CORRECT, "accepted": [5], "reason": "It is the correct answer itself."},
    ]
    title = judgers.stage([], kind="judge-training", units_per_hit=2, config={"lessons": lessons})
    mira = newcomer(java_script_enabled=False).page
    frame = take(mira, title)
    for choice in frame.get_by_label("completely correct").all():
        choice.check()
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("alert")).to_contain_text("Not quite. The passage says nothing of Canada.")
    expect(frame.get_by_text("This one is right.")).to_be_visible()
    page = context_of().new_page()
    page.goto(mira.locator("iframe").get_attribute("src"))
    look(page)
    wrong = frame.locator(".unit", has_text=PREDICTED)
    wrong.get_by_label("vital error").check()
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("button", name="Tell the marketplace").click()
    expect(frame.get_by_role("heading")).to_have_text("Submitted")


def test_wide_windows_show_the_scale_beside_the_texts_which_keep_their_order(judgers, newcomer, context_of):
    title = judgers.stage([KPQA])
    mira = newcomer(java_script_enabled=False).page
    take(mira, title)
    page = context_of().new_page()
    page.goto(mira.locator("iframe").get_attribute("src"))
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        parts = [page.get_by_text(text, exact=True) for text in (PASSAGE, GAS, PREDICTED, CORRECT)]
        boxes = [part.bounding_box() for part in parts]
        assert [box["y"] for box in boxes] == sorted(box["y"] for box in boxes)
        scale = page.get_by_role("group", name="How correct is the predicted answer?").bounding_box()
        beside = scale["x"] > boxes[0]["x"] + boxes[0]["width"]
        assert beside == (width == 1280)
        assert beside or scale["y"] > boxes[-1]["y"]
    assert page.locator("label.choice b").all_text_contents() == list("12345")
    assert page.locator("label.choice bdi").all_text_contents() == LABELS


def test_pages_of_researchers_about_judging(judgers, administrator, context_of):
    page = context_of().new_page()
    sign_in(page, administrator)
    for path in judgers.measured().values():
        page.goto(path)
        expect(page.locator("main")).to_be_visible()
        page.evaluate("document.querySelectorAll('main details').forEach((each) => each.open = true)")
        check(page)
