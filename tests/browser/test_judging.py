"""Judging without a mouse, without a script, and for everybody."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.judging import Judgers
from tests.browser.keyboard import name_in_focus, tab_to, take_with_keys
from tests.browser.looking import check
from tests.browser.people import sign_in, take, take_address
from tests.judgments.judging_world import CORRECT, GAS, PASSAGE, PREDICTED, TOPICS
from tests.scale import TEST_ALL
from tests.server import RunningServer

pytestmark = pytest.mark.browser
KPQA = {"query": GAS, "references": [CORRECT], "passages": [PASSAGE], "answers": {"unilm": PREDICTED}}
DONE = "Thank you, your work is submitted"
LABELS = ["completely wrong", "vital error", "ambiguous", "minor error", "completely correct"]
HOSTILE = "<img src=x onerror=alert(1)> \u202e" + "\u05d9\u05d5\u05dd " + "w" * 300


@pytest.fixture
def judgers(server: RunningServer) -> Judgers:
    projects = Judgers(server)
    projects.begin()
    return projects


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


def test_without_a_script_it_says_what_is_missing_or_too_long_and_the_browser_does_before(
    judgers, newcomer, context_of
):
    aspect = {"name": "topicality", "question": "Is it about it?", "labels": ["no", "partly", "yes"]}
    title = judgers.stage([KPQA], config={"aspects": [aspect], "comment": True})
    mira = newcomer(java_script_enabled=False).page
    frame = take(mira, title)
    long = "w" * 2_100
    page = context_of().new_page()
    page.goto(mira.locator("iframe").get_attribute("src"))
    page.get_by_label("minor error").check()
    page.get_by_label("partly").check()
    comment = page.get_by_label("Comment, if you like")
    counter = page.locator(".counter")
    expect(counter).to_be_hidden()
    comment.fill("w" * 1_700)
    expect(counter).to_have_text("1,700 of 2,000 characters")
    comment.fill(long)
    expect(counter).to_have_text("2,100 of 2,000 characters: 100 too many. Shorten it, please.")
    check(page)
    page.get_by_role("button", name="Submit").click()
    expect(comment).to_be_focused()
    assert comment.input_value() == long
    page.close()

    submit = frame.get_by_role("button", name="Submit")
    frame.get_by_role("group", name="Is it about it?").get_by_label("yes").check()
    submit.click()
    expect(frame.get_by_role("alert")).to_contain_text("Choose a score from 1, completely wrong")
    scores = frame.get_by_role("group", name="How correct is the predicted answer?")
    scores.get_by_label("minor error").check()
    frame.get_by_label("Comment, if you like").fill(long)
    submit.click()
    too_long = "Your comment has 2,100 characters; at most 2,000 fit."
    expect(frame.get_by_role("alert")).to_contain_text(too_long)
    assert frame.get_by_label("Comment, if you like").input_value() == long
    assert judgers.judged(title)["judgments"] == []
    frame.get_by_label("Comment, if you like").fill("short")
    submit.click()
    frame.get_by_role("button", name="Tell the marketplace").click()
    expect(frame.get_by_role("heading")).to_have_text("Submitted")
    assert judgers.judged(title)["judgments"] == [["query-0", "unilm", 4, {"topicality": 3}]]


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
    address = take_address(newcomer().page, title)
    page = context_of().new_page()
    page.goto(address.partition("?")[0])
    expect(page.get_by_text("Preview.", exact=True)).to_be_visible()
    check(page)
    page.goto(address)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_contain_text("need another look")
    check(page)


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
    check(page)
    wrong = frame.locator(".unit", has_text=PREDICTED)
    wrong.get_by_label("vital error").check()
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("button", name="Tell the marketplace").click()
    expect(frame.get_by_role("heading")).to_have_text("Submitted")


#: Longer than any window, and answers longer than their share of one.
LONG = " ".join([PASSAGE] * 313)
VERBOSE = " ".join([PREDICTED] * 60)


def in_view(page: Page, locator: Locator) -> bool:
    """The whole of it is inside the window as it is."""
    box, window = locator.bounding_box(), page.viewport_size
    assert box is not None
    assert window is not None
    return (
        box["x"] >= 0
        and box["y"] >= 0
        and box["x"] + box["width"] <= window["width"]
        and box["y"] + box["height"] <= window["height"]
    )


def test_question_answers_and_scale_are_in_view_together_however_long_the_passages_are(
    judgers, newcomer, context_of, subtests
):
    cases = [((1280, 800), PREDICTED), ((390, 844), VERBOSE)]
    cases += [((1280, 800), VERBOSE), ((390, 844), PREDICTED)] if TEST_ALL else []
    others = ["Natural gas is made up of methane and lies in the ground.", "Methane makes natural gas."]
    passages = [LONG, PASSAGE]
    mira, page = newcomer().page, context_of().new_page()
    for size, predicted in cases:
        with subtests.test(size=size, words=len(predicted.split())):
            query = {"references": [CORRECT, *others], "passages": passages, "answers": {"unilm": predicted}}
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.goto(take_address(mira, judgers.stage([KPQA | query])))
            look_at_question(page, size)


def look_at_question(page: Page, size: tuple[int, int]) -> None:
    """Everything but the passages is in view; they scroll by themselves; order, words and keys are right."""
    scale = page.get_by_role("group", name="How correct is the predicted answer?")
    parts = [page.locator(f".{part}") for part in ("question", "predicted", "correct")]
    assert all(in_view(page, part) for part in (*parts, scale))
    passages = page.get_by_role("group", name="Passages")
    beside = passages.bounding_box()["x"] < scale.bounding_box()["x"] - 100
    assert beside == (size[0] == 1280)
    assert passages.evaluate("each => each.scrollHeight > 3 * each.clientHeight")
    passages.press("End")
    assert passages.evaluate(
        "async (each) => { for (let n = 0; n < 300 && each.scrollTop < 100; n++)"
        " await new Promise(requestAnimationFrame); return each.scrollTop >= 100; }"
    )
    assert all(in_view(page, part) for part in (*parts, scale))
    order = [
        *page.locator(".part h2").all_text_contents(),
        *page.locator(".scale legend").all_text_contents(),
    ]
    words = ["Passages", "Question", "Predicted answer", "Correct answer"]
    assert order == [*words, "How correct is the predicted answer?"]
    assert page.locator("label.choice b").all_text_contents() == list("12345")
    assert page.locator("label.choice bdi").all_text_contents() == LABELS
    assert page.locator("input[type=radio]:checked").count() == 0
    page.get_by_text("All correct answers").press("Enter")
    expect(page.get_by_text("Methane makes natural gas.", exact=True).last).to_be_visible()
    page.keyboard.press("4")
    expect(page.get_by_role("radio", name="4 minor error")).to_be_checked()
    check(page)


def test_a_researcher_tries_the_task_wide_and_on_a_phone_and_pages_about_judging_are_for_everybody(
    judgers, administrator, context_of
):
    title = judgers.stage([KPQA])
    page = context_of(viewport={"width": 1280, "height": 900}).new_page()
    sign_in(page, administrator)
    page.goto(judgers.trial(title))
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text(PREDICTED, exact=True)).to_be_visible()
    check(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_label("Phone, 390 pixels").check()
    assert page.locator("iframe").evaluate("each => each.clientWidth") == 390
    frame.get_by_label("minor error").check()
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("heading", name="That would be all")).to_be_visible()
    assert judgers.judged(title)["judgments"] == []
    for path in judgers.measured(administrator).values():
        page.goto(path)
        expect(page.locator("main")).to_be_visible()
        page.evaluate("document.querySelectorAll('main details').forEach((each) => each.open = true)")
        check(page)
