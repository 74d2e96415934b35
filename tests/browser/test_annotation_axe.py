"""Every page of the annotation app for everybody: those of workers and those of the desk."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import check
from tests.browser.people import sign_in, take_address
from tests.scale import TEST_ALL

pytestmark = pytest.mark.browser
PASSAGES = [
    "The old harbour is in the north of the town, where the river meets the sea. " * 40,
    "The harbour moved to the south after the flood.",
]
ANSWERS = [
    "In the north.",
    "In the north of the town, where the river meets the sea.",
    "The old harbour is in the north of the town, where the river meets the sea.",
]
LINES = [
    {
        "id": f"harbour-{number}",
        "query": f"where is harbour number {number}",
        "type": "LOCATION",
        "yes_no": "yes",
        "history": ["which towns have a harbour", "and a river"],
        "passages": [
            {"id": "old", "text": PASSAGES[0], "title": "Harbours", "url": "https://example.org/harbours"},
            {"id": "new", "text": PASSAGES[1], "title": "Floods", "is_selected": 1},
        ],
    }
    for number in (1, 2)
]
DESK_PAGES = (
    "project", "queries", "disputed query", "answered query", "import", "adjudication", "metrics",
    "case of the tied", "case of the disputed", "agreement of curation", "answers", "review", "writers",
    "writer", "spread",
)  # fmt: skip


def look(page: Page) -> None:
    """What holds for every page, with everything unfolded that can be."""
    page.evaluate("document.querySelectorAll('main details').forEach((each) => each.open = true)")
    check(page)


def test_pages_of_workers(annotating, newcomer, context_of, subtests):
    kinds = [
        ("screening", "screening", {"instructions": "Take your time."}),
        ("distillation", "distillation", {"canary": True}),
    ]
    if TEST_ALL:
        kinds += [
            ("curation", "curation", {"instructions": "Take your time.", "highlights": True}),
            ("continuation", "screening", {"canary": True}),
        ]
    mira, page = newcomer().page, context_of().new_page()
    for kind, start_at, config in kinds:
        with subtests.test(kind=kind):
            project = annotating.project(*LINES, start_at=start_at)
            address = take_address(mira, annotating.stage(project, kind, units_per_hit=2, config=config))
            page.goto(address.partition("?")[0])
            expect(page.get_by_text("Preview.", exact=True)).to_be_visible()
            look(page)
            page.goto(address)
            page.get_by_role("button", name="Submit").click()
            expect(page.get_by_role("alert")).to_contain_text("need another look")
            look(page)


def test_the_page_of_a_rewrite(annotating, administrator, context_of):
    pages = annotating.answered("where is the harbour", PASSAGES, ANSWERS[:1])
    reviewer = context_of().new_page()
    sign_in(reviewer, administrator)
    reviewer.goto(pages["review"])
    reviewer.get_by_text("Ask for a rewrite", exact=True).click()
    reviewer.get_by_label("What to change").fill("Say of which town.")
    reviewer.get_by_role("button", name="Send the request").click()
    expect(reviewer.get_by_text("Its author is asked to write it again.")).to_be_visible()
    look(reviewer)
    page = context_of().new_page()
    page.goto(annotating.rewrite_path(ANSWERS[0]))
    look(page)
    page.get_by_role("button", name="Send the new answer").click()
    expect(page.get_by_role("alert")).to_contain_text("This is your earlier answer.")
    look(page)
    page.get_by_label("Your answer", exact=True).fill("In the north of it.")
    page.get_by_label("People, places or things").fill("")
    page.get_by_role("button", name="Send the new answer").click()
    expect(page.get_by_role("heading")).to_have_text("Thank you")
    look(page)


def test_pages_of_the_desk_and_of_an_import(annotating, administrator, context_of, tmp_path: Path):
    page = context_of().new_page()
    sign_in(page, administrator)
    project = annotating.project()
    for path in ("", "queries/", "adjudication/"):  # without queries
        page.goto(f"/desk/projects/{project}/{path}")
        look(page)
    pages = annotating.answered("where is the harbour", PASSAGES, ANSWERS)
    for name in DESK_PAGES:
        page.goto(pages[name])
        look(page)
    log, empty = tmp_path / "log.jsonl", tmp_path / "empty.jsonl"
    lines = [*LINES, {"query": "www.example.org"}, {"query": ""}]
    log.write_text("\n".join(json.dumps(line) for line in lines))
    empty.touch()
    page.goto(pages["import"])
    page.get_by_label("File").set_input_files(empty)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_role("alert")).to_contain_text("empty")
    page.get_by_label("File").set_input_files(log)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_role("heading", name="Look before you import")).to_be_visible()
    look(page)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Starting")).to_be_visible()
    look(page)
    annotating.run_jobs()
    expect(page.get_by_text("Records read")).to_be_visible()
    look(page)
