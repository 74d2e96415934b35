"""A reference set from the query log to the review: the example of Mitra et al. (2016), Table 1."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import sign_in, take

pytestmark = pytest.mark.browser
DONE = "Thank you, your work is submitted"
QUERY = "law for ages for children allowed to sit in front seat"
PASSAGE = (
    "The law requires all children traveling in the front or rear seat of any car, van or goods vehicle must "
    "use the correct child car seat until they are either 135cm in height or 12 years old (which ever they "
    "reach first). After this they must use an adult seat belt. There are very few exceptions. It is the "
    "driver\u2019s responsibility to ensure that children under the age of 14 years are restrained "
    "correctly in accordance with the law."
)
OTHERS = (
    "Front seats of most cars can be heated. The switch is on the door or between the seats.",
    "A school bus has more seats than a car, and children who live far away ride in it every day.",
)
#: Five of the editorial answers; the last one is the passage word for word.
ANSWERS = (
    "Children under the age of 12 need a child seat, unless more than 135cm tall.",
    "All children can travel in the front or the rear seat of a car.",
    "Children under the age of 12 can travel in the front seat if they use the correct child seat.",
    "Children can travel in the front seat of a car.",
    "The law requires all children traveling in the front or rear seat of any car, van or goods vehicle must "
    "use the correct child car seat until they are either 135cm in height or 12 years old.",
)
LINE = {
    "id": "front-seat",
    "query": QUERY,
    "passages": [
        {"id": "heated", "text": OTHERS[0]},
        {"id": "law", "text": PASSAGE},
        {"id": "bus", "text": OTHERS[1]},
    ],
}


def choose_passage(page: Page, title: str) -> None:
    frame = take(page, title)
    expect(frame.get_by_text(QUERY)).to_be_visible()
    expect(frame.get_by_text(PASSAGE)).to_be_visible()
    frame.get_by_role("checkbox", name="Passage 2").check()
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)


def type_answer(page: Page, title: str, text: str) -> None:
    frame = take(page, title)
    expect(frame.get_by_text(PASSAGE)).to_be_visible()
    expect(frame.get_by_text(OTHERS[0])).to_have_count(0)
    frame.get_by_label("Your answer", exact=True).click()
    page.keyboard.type(text)
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(DONE)


@pytest.mark.long
def test_the_example_of_the_paper_becomes_a_reference_set(annotating, newcomer, administrator, context_of):
    project = annotating.project(LINE, start_at="curation")
    curation = annotating.stage(project, "curation")
    curator = newcomer().page
    choose_passage(curator, curation)
    annotating.tick()
    assert annotating.queries(project)["front-seat"]["status"] == "curated"

    distillation = annotating.stage(project, "distillation", redundancy=5)
    refusal = take(curator, distillation)
    expect(refusal.get_by_role("heading")).to_have_text("You cannot do this one")
    expect(refusal.get_by_text("because of other work of yours here")).to_be_visible()
    curator.get_by_role("button", name="Return").click()
    for text in ANSWERS:
        type_answer(newcomer().page, distillation, text)
    annotating.tick()

    found = annotating.queries(project)["front-seat"]
    assert found["status"] == "answered"
    assert found["selections"] == [{"passages": ["law"], "conflicts": []}]
    assert [answer["text"] for answer in found["answers"]] == list(ANSWERS)
    assert len({answer["worker"] for answer in found["answers"]}) == 5
    for answer in found["answers"]:
        measured = answer["telemetry"]
        assert measured["keystrokes"] >= len(answer["text"])
        assert (measured["pastes"], measured["pasted_characters"]) == (0, 0)
        assert measured["first_key_ms"] > 0
        assert measured["active_ms"] > 0
        assert "pasted" not in answer["flags"]
    copied = [{"copy-run", "copy-share"} & set(answer["flags"]) for answer in found["answers"]]
    assert copied == [set(), set(), set(), set(), {"copy-run", "copy-share"}]

    reviewer = context_of().new_page()
    sign_in(reviewer, administrator)
    reviewer.goto(f"/desk/projects/{project}/stages/distillation/answers/")
    expect(reviewer.get_by_role("row").filter(has_text=QUERY)).to_contain_text("5 of 5")
    reviewer.get_by_role("link", name=QUERY).click()
    expect(reviewer.get_by_role("heading", name="5 answers")).to_be_visible()
    expect(reviewer.get_by_role("complementary").get_by_text(PASSAGE)).to_be_visible()
    expect(reviewer.locator("[data-answer] > .text")).to_have_text(list(ANSWERS))
    expect(reviewer.get_by_role("article").last.get_by_role("list", name="Flags")).to_contain_text("copied")
