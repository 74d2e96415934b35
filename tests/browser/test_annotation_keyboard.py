"""Screening, curating, answering and reviewing without a mouse."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.keyboard import name_in_focus, tab_to, take_with_keys
from tests.browser.people import sign_in

pytestmark = pytest.mark.browser
DONE = "Thank you, your work is submitted"
LINE = {
    "id": "roof",
    "query": "is a flat roof ever quite flat",
    "type": "yes_no",
    "passages": [
        {"id": "slope", "text": "A flat roof has a slope of one or two degrees, so that the rain runs off."},
        {"id": "level", "text": "A flat roof is level in every direction."},
        {"id": "green", "text": "Grass grows on many roofs of the town."},
    ],
}


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def done(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)


def screen(page: Page, title: str) -> None:
    """Numbers, arrows and space choose; Enter goes on, Shift-Tab goes back."""
    take_with_keys(page, title)
    tab_to(page, "Instructions")
    press(page, "1", "Enter")
    press(page, "Space", "ArrowDown", "ArrowUp")
    tab_to(page, "Yes")
    tab_to(page, "Yes", key="Shift+Tab")
    tab_to(page, "Yes")
    press(page, "Space", "Enter")
    press(page, "ArrowDown", "Enter")
    press(page, "2", "Enter")
    assert name_in_focus(page) == "Submit"
    press(page, "Enter")
    done(page)


def curate(page: Page, title: str) -> None:
    """The first passage, taken back and chosen again, against the second, which contradicts it."""
    take_with_keys(page, title)
    tab_to(page, "Instructions")
    press(page, "1", "2", "2", "Space", "Space")
    tab_to(page, "Passage 1", key="Shift+Tab")
    press(page, "Space", "Space")
    tab_to(page, "Do some of them contradict each other?")
    press(page, "Enter")
    tab_to(page, "The first passage")
    press(page, "ArrowDown")
    tab_to(page, "The second")
    press(page, "ArrowDown", "ArrowDown")
    tab_to(page, "I trust")
    press(page, "ArrowDown")
    tab_to(page, "Submit")
    press(page, "Enter")
    done(page)


def distil(page: Page, title: str, text: str) -> None:
    take_with_keys(page, title)
    tab_to(page, "Your answer")
    page.keyboard.type(text)
    tab_to(page, "Yes")
    press(page, "Space", "ArrowDown", "Enter")
    assert name_in_focus(page) == "Submit"
    press(page, "Enter")
    done(page)


def test_workers_screen_curate_and_distil_with_the_keyboard_alone(annotating, newcomer):
    project = annotating.project(LINE)
    title = annotating.stage(project, "screening")
    mira = newcomer().page
    screen(mira, title)
    annotating.tick()
    assert annotating.queries(project)["roof"]["status"] == "accepted"
    curate(mira, annotating.stage(project, "curation"))
    annotating.tick()
    found = annotating.queries(project)["roof"]
    assert (found["votes"], found["status"]) == (["informational"], "curated")
    conflict = {"a": "slope", "b": "level", "trusted": "slope"}
    assert found["selections"] == [{"passages": ["slope"], "conflicts": [conflict]}]
    distil(newcomer().page, annotating.stage(project, "distillation"), "No, it slopes a little.")
    annotating.tick()
    found = annotating.queries(project)["roof"]
    assert found["status"] == "answered"
    assert [(answer["text"], answer["opinion"]) for answer in found["answers"]] == [
        ("No, it slopes a little.", "No")
    ]


def test_a_reviewer_decides_with_the_keys_that_the_page_names(annotating, administrator, context_of):
    texts = ["In the north.", "By the sea, I think.", "Somewhere.", "On the coast of the north."]
    pages = annotating.answered("where is the harbour", ["The harbour is in the north.", "It moved."], texts)
    page = context_of().new_page()
    sign_in(page, administrator)
    page.goto(pages["review"])
    for key in ("j", "k", "a", "r", "x"):
        expect(page.locator(".keys kbd").get_by_text(key, exact=True)).to_be_visible()
    answers = page.locator("[data-answer]")
    press(page, "j", "j")
    expect(answers.nth(1)).to_be_focused()
    press(page, "k")
    expect(answers.nth(0)).to_be_focused()
    press(page, "a")
    expect(page.get_by_text("Approved.", exact=True)).to_be_visible()
    expect(answers.nth(1)).to_be_focused()
    press(page, "r")
    page.keyboard.type("Please say it without a doubt: a, r and x are letters here.")
    tab_to(page, "Send the request")
    press(page, "Enter")
    expect(page.get_by_text("Its author is asked to write it again.")).to_be_visible()
    expect(answers.nth(2)).to_be_focused()
    press(page, "x")
    page.keyboard.type("Too vague.")
    tab_to(page, "Exclude")
    press(page, "Enter")
    expect(page.get_by_text("Excluded.")).to_be_visible()
    expect(answers.nth(3)).to_be_focused()
    found = annotating.queries(pages["name"])["answered"]
    assert [answer["state"] for answer in found["answers"]] == [
        "approved",
        "rewrite",
        "excluded",
        "undecided",
    ]
    assert [answer["reasons"] for answer in found["answers"]][1:3] == [
        ["Please say it without a doubt: a, r and x are letters here."],
        ["Too vague."],
    ]


def test_the_keys_of_the_review_are_shown_by_a_question_mark_and_can_be_switched_off(
    annotating, administrator, context_of
):
    pages = annotating.answered("where is the harbour", ["In the north.", "It moved."], ["In the north."])
    page = context_of().new_page()
    sign_in(page, administrator)
    page.goto(pages["review"])
    keys = page.get_by_role("dialog", name="Keys of this page")
    expect(keys).to_be_hidden()
    press(page, "?")
    expect(keys.get_by_text("Approve the answer")).to_be_visible()
    press(page, "a")
    expect(page.get_by_text("Approved.", exact=True)).to_be_hidden()
    keys.get_by_label("Keys are on").uncheck()
    press(page, "Escape")
    expect(keys).to_be_hidden()
    expect(page.get_by_label("Shortcuts")).not_to_be_checked()
    press(page, "?")
    expect(keys).to_be_hidden()
    tab_to(page, "AWRITER0")
    press(page, "a", "x", "j")
    assert name_in_focus(page) == "AWRITER0"
    page.reload()
    expect(page.get_by_label("Shortcuts")).not_to_be_checked()


def test_an_answer_is_written_again_with_the_keyboard_alone(annotating, administrator, context_of):
    pages = annotating.answered("where is the harbour", ["In the north.", "It moved."], ["Somewhere."])
    page = context_of().new_page()
    sign_in(page, administrator)
    page.goto(pages["review"])
    press(page, "j", "r")
    page.keyboard.type("Say where.")
    tab_to(page, "Send the request")
    press(page, "Enter")
    expect(page.get_by_text("Its author is asked to write it again.")).to_be_visible()
    author = context_of().new_page()
    author.goto(annotating.rewrite_path("Somewhere."))
    expect(author.get_by_text("Say where.")).to_be_visible()
    tab_to(author, "Your answer")
    press(author, "Control+A", "Delete")
    author.keyboard.type("In the north.")
    tab_to(author, "People, places or things in your answer")
    press(author, "Control+A", "Delete")
    tab_to(author, "Send the new answer")
    press(author, "Enter")
    expect(author.get_by_role("heading")).to_have_text("Thank you")
    answers = annotating.queries(pages["name"])["answered"]["answers"]
    assert [(answer["text"], answer["state"]) for answer in answers] == [
        ("Somewhere.", "replaced"),
        ("In the north.", "undecided"),
    ]
