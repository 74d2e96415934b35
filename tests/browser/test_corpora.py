"""A corpus from an upload to its removal, in a browser, and every page of it for everybody."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.looking import check
from tests.browser.people import sign_in

pytestmark = pytest.mark.browser
TEXT = (
    "The old harbour is in the north of the town. The river meets the sea there. Ships came until the flood."
)


@pytest.mark.long
def test_a_corpus_is_filled_built_and_removed(annotating, administrator, context_of, tmp_path: Path):
    project = annotating.project()
    page = context_of().new_page()
    sign_in(page, administrator)
    page.goto(f"/desk/projects/{project}/corpora/")
    check(page)
    page.get_by_role("link", name="Add passages").click()
    bad, good = tmp_path / "bad.jsonl", tmp_path / "harbours.jsonl"
    bad.write_text('{"id": "a"}\n')
    good.write_text("".join(json.dumps({"id": f"h{number}", "text": TEXT}) + "\n" for number in range(2)))
    page.get_by_label("File", exact=True).set_input_files(good)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_role("region", name="First rows").get_by_text("h0")).to_be_visible()
    check(page)
    page.get_by_label("Split documents into passages").select_option("words")
    page.get_by_label("Length of a passage").fill("9999")
    page.get_by_role("button", name="Add the passages").click()
    expect(page.get_by_role("alert")).to_contain_text("A window has 1 to 2,000 words, not 9,999")
    check(page)
    page.get_by_label("Split documents into passages").select_option("sentences")
    page.get_by_label("Length of a passage").fill("2")
    page.get_by_label("The next one begins after").fill("1")
    page.get_by_role("button", name="Add the passages").click()
    expect(page.get_by_text("Starting")).to_be_visible()
    check(page)
    annotating.run_jobs()
    expect(page.get_by_text("4 passages added.")).to_be_visible()
    expect(page.get_by_text("h1#1 has the words of h0#1")).to_be_visible()
    check(page)
    page.get_by_role("link", name="To the corpus", exact=True).click()
    for name, words in (
        ("Bring the index up to date", "The index holds 4 passages"),
        ("Build the network", "The network counts 4"),
    ):
        page.get_by_role("button", name=name).click()
        expect(page.get_by_text("Starting")).to_be_visible()
        annotating.run_jobs()
        expect(page.get_by_text(words)).to_be_visible()
        check(page)
        page.get_by_role("link", name="To the corpus", exact=True).click()
    expect(page.get_by_text("ready")).to_have_count(2)
    check(page)
    page.get_by_role("link", name="Add a file").click()
    page.get_by_label("File", exact=True).set_input_files(bad)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_role("alert")).to_contain_text("the file would be refused")
    page.get_by_role("button", name="Add the passages").click()
    annotating.run_jobs()
    expect(page.get_by_role("alert")).to_contain_text("line 1 [text]: it is missing or empty")
    check(page)
    page.get_by_role("link", name="To the corpus", exact=True).click()
    page.get_by_label("Type harbours to remove it").fill("harbours")
    page.get_by_role("button", name="Remove the corpus").click()
    annotating.run_jobs()
    expect(page.get_by_text("The corpus is removed.")).to_be_visible()
    page.get_by_role("link", name="To the corpora", exact=True).click()
    expect(page.get_by_role("heading", name="No corpus yet")).to_be_visible()
