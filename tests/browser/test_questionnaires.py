"""Questionnaires at a worker's page: one unit at a time, fields that depend on others, marks of words."""

import re

import pytest
from playwright.sync_api import FrameLocator, expect

from tests.browser.judging import Judgers
from tests.browser.looking import check
from tests.browser.people import take, take_address
from tests.judgments.judging_world import CORRECT, GAS, PASSAGE, TOPICS
from tests.server import RunningServer

pytestmark = pytest.mark.browser
DONE = "Thank you, your work is submitted"
#: One astral character and a combining one before the words that are marked.
TEXT = "Cafe\u0301 \U0001f600: natural gas comes from Canada."
FIELDS = [
    {"name": "clear", "type": "yesno", "label": "Is it clear?"},
    {
        "name": "kind",
        "type": "choice",
        "label": "Of what kind is it?",
        "options": ["long", "short"],
        "show_if": {"clear": ["yes"]},
    },
    {
        "name": "errors",
        "type": "spans",
        "label": "What is wrong?",
        "options": ["error"],
        "severities": ["minor", "major"],
        "required": False,
    },
    {"name": "why", "type": "choices", "label": "Why?", "options": ["tone", "facts"], "required": False},
    {"name": "best", "type": "rank", "label": "What matters?", "options": ["speed", "truth"]},
    {"name": "score", "type": "slider", "label": "How good?"},
]


@pytest.fixture
def judgers(server: RunningServer) -> Judgers:
    projects = Judgers(server)
    projects.begin()
    return projects


def questions(count: int, *systems: str) -> list[dict]:
    return [
        {
            "query": text,
            "references": [right],
            "passages": [f"A page about topic {number}."],
            "answers": {system: f"{system} says of {number}: {right}" for system in systems},
        }
        for number, (text, right) in enumerate(TOPICS[:count], 1)
    ]


def choose(frame: FrameLocator, group: str, label: str) -> None:
    choices = frame.get_by_role("group", name=re.compile(re.escape(group)))
    choices.get_by_role("radio", name=label, exact=True).check()


def test_pairs_come_one_at_a_time_and_what_is_missing_is_shown(judgers, newcomer):
    config = {"preset": "pairs", "passages": False}
    title = judgers.stage(questions(3, "one", "two"), kind="questionnaire", units_per_hit=3, config=config)
    page = newcomer().page
    frame = take(page, title)
    units = frame.locator(".unit:visible")
    expect(units).to_have_count(1)
    expect(frame.get_by_text("0 of 3 answered")).to_be_visible()
    choose(frame, "Which answer is better?", "Answer 1")
    frame.get_by_role("button", name="Next").click()
    expect(units.locator(".count")).to_have_text("2 of 3")
    frame.get_by_role("button", name="Next").click()
    choose(frame, "Which answer is better?", "No difference")
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("heading", name="One answer needs another look")).to_be_visible()
    expect(units.locator(".count")).to_have_text("2 of 3")
    expect(units.locator(".error")).to_have_text("Please answer: Which answer is better?")
    frame.get_by_role("button", name="Back").click()
    expect(units.get_by_role("radio", name="Answer 1", exact=True)).to_be_checked()
    frame.get_by_role("button", name="Next").click()
    choose(frame, "Which answer is better?", "Answer 2")
    frame.get_by_role("button", name="Next").click()
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)
    rows = judgers.answered(title)
    assert sorted(values["preference"] == "tie" for _, values, _ in rows) == [False, False, True]
    assert sum(flipped for *_, flipped in rows) in (1, 2)


def test_fields_come_and_go_and_marks_are_where_they_were_made(judgers, newcomer):
    question = {"query": GAS, "references": [CORRECT], "passages": [PASSAGE], "answers": {"unilm": TEXT}}
    title = judgers.stage([question], kind="questionnaire", config={"fields": FIELDS})
    person = newcomer()
    page = person.page
    page.goto(take_address(page, title))
    kind = page.get_by_role("group", name="Of what kind is it?")
    expect(kind).to_be_hidden()
    page.get_by_role("group", name="Is it clear?").get_by_label("Yes").check()
    expect(kind).to_be_visible()
    kind.get_by_label("short").check()
    page.evaluate(
        """() => {
          const text = document.querySelector(".marked");
          const at = text.textContent.indexOf("Canada");
          const range = document.createRange();
          const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
          const node = walker.nextNode();
          range.setStart(node, at);
          range.setEnd(node, at + 6);
          const selection = document.getSelection();
          selection.removeAllRanges();
          selection.addRange(range);
        }"""
    )
    page.get_by_role("button", name="error: major").click()
    expect(page.locator("mark")).to_have_text("Canada")
    page.get_by_role("button", name=re.compile("Remove this mark")).click()
    expect(page.locator("mark")).to_have_count(0)
    page.locator(".marked").dblclick(position={"x": 12, "y": 12})
    page.get_by_role("button", name="error: minor").click()
    word = page.locator("mark").inner_text()
    page.get_by_label("facts").check()
    page.get_by_label("speed").select_option("2")
    page.get_by_label("truth").select_option("1")
    page.get_by_role("spinbutton").fill("64")
    check(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Submitted")
    [[_, values, _]] = judgers.answered(title)
    [mark] = values.pop("errors")
    assert TEXT[mark["start"] : mark["end"]] == mark["text"] == word
    assert (mark["label"], mark["severity"]) == ("error", "minor")
    assert values == {
        "clear": "yes",
        "kind": "short",
        "why": ["facts"],
        "best": {"speed": 2, "truth": 1},
        "score": 64,
    }
