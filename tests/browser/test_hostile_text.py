"""Texts that want to run, to turn the page around, or to be wider than it, stay texts in their place."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.people import sign_in, take_address

pytestmark = pytest.mark.browser
TURNED = "\u202e"
RUNS = "<script>window.hacked = alert('ran')</script><img src=x onerror=\"window.hacked = alert('ran')\">"
WIDE = "w" * 10_000
QUERY = f"{RUNS} {TURNED}what is this {WIDE}"
PASSAGES = [f"{RUNS} {TURNED}passage {WIDE}", f"The second {RUNS} {TURNED}passage {WIDE}"]
ANSWERS = [f"{TURNED}{RUNS} answer", f"A long answer {WIDE}", f"{RUNS} {TURNED}a third one"]
LINE = {
    "id": "hostile",
    "query": QUERY,
    "type": "ENTITY",
    "context": [QUERY, WIDE],
    "passages": [
        {
            "id": f"p{rank}",
            "text": text,
            "title": QUERY,
            "is_selected": 1,
            "url": f"https://example.org/{rank}/{WIDE[:900]}",
        }
        for rank, text in enumerate(PASSAGES, 1)
    ],
}
PHONE = {"width": 390, "height": 844}
#: A text without what Unicode's own marks isolate in it, each letter in its place.
OUTSIDE = """((text) => text.replace(/\\u2068[^\\u2069]*\\u2069/gu, (some) => " ".repeat(some.length)))"""
#: Texts that could turn what stands after them: none but those in an element that keeps it to itself.
LOOSE = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const loose = [];
  while (walk.nextNode()) {
    const { data, parentElement } = walk.currentNode;
    if (OUTSIDE(data).includes("\\u202e") && !parentElement.closest("bdi, [dir=auto], title, script, option"))
      loose.push(parentElement.outerHTML.slice(0, 300));
  }
  return loose;
}""".replace("OUTSIDE", OUTSIDE)
#: Our own words whose second letter stands left of the first.
BACKWARDS = """() => {
  const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const turned = [];
  while (walk.nextNode()) {
    const node = walk.currentNode;
    if (node.parentElement.closest("bdi, [dir=auto], option, textarea")) continue;
    const at = OUTSIDE(node.data).search(/[A-Za-z]{3}/);
    if (at < 0 || !node.parentElement.checkVisibility()) continue;
    const [first, second] = [at, at + 1].map((place) => {
      const range = document.createRange();
      range.setStart(node, place);
      range.setEnd(node, place + 1);
      return range.getBoundingClientRect();
    });
    if (first.top === second.top && second.width && second.left < first.left) turned.push(node.data.trim());
  }
  return turned;
}""".replace("OUTSIDE", OUTSIDE)


def look(page: Page) -> None:
    """Nothing ran, nothing is turned around, nothing is wider than a phone."""
    page.evaluate("document.querySelectorAll('main details').forEach((each) => each.open = true)")
    expect(page.locator("main")).to_contain_text("<script>window.hacked")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main script:not([src])").count() == 0
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    assert page.evaluate(LOOSE) == []
    assert page.evaluate(BACKWARDS) == []


@pytest.fixture
def on_a_phone(context_of):
    """A page that fails the test when something asks, says or runs."""

    def open_page() -> Page:
        page = context_of(viewport=PHONE).new_page()
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        return page

    return open_page


def test_workers_see_hostile_texts_as_texts(annotating, newcomer, on_a_phone, subtests):
    mira, page = newcomer().page, on_a_phone()
    for kind in ("screening", "curation", "distillation"):
        with subtests.test(kind=kind):
            project = annotating.project(LINE, start_at=kind, rules=False)
            config = {"curation": {"highlights": True}}.get(kind, {})
            page.goto(take_address(mira, annotating.stage(project, kind, config=config)))
            look_at_task(page, kind)


def look_at_task(page: Page, kind: str) -> None:
    """The page of a task, and what it says to an answer that is wrong."""
    look(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert")).to_be_visible()
    look(page)
    if kind == "curation":
        page.get_by_role("checkbox", name="Passage 1").check()
        page.get_by_label("Exact words of passage 1").fill(f"{TURNED}<b>nothing</b>")
        page.get_by_role("button", name="Submit").click()
        expect(page.get_by_role("alert")).to_contain_text("<b>nothing</b>")
        look(page)
    if kind == "distillation":
        page.get_by_label("Your answer", exact=True).fill(ANSWERS[2])
        page.get_by_label("People, places or things").fill(f"{TURNED}<b>nobody</b>")
        page.get_by_role("button", name="Submit").click()
        expect(page.get_by_role("alert")).to_contain_text("<b>nobody</b>")
        look(page)


def test_researchers_see_hostile_texts_as_texts(annotating, administrator, on_a_phone):
    pages = annotating.answered(QUERY, PASSAGES, ANSWERS)
    page = on_a_phone()
    sign_in(page, administrator)
    for name in (
        "queries", "tied query", "disputed query", "answered query", "adjudication", "case of the tied",
        "metrics", "case of the disputed", "answers", "review", "writer", "spread",
    ):  # fmt: skip
        page.goto(pages[name])
        look(page)


def test_a_reviewer_and_an_author_write_hostile_texts_to_each_other(annotating, administrator, on_a_phone):
    pages = annotating.answered(QUERY, PASSAGES, ANSWERS[:1])
    reviewer = on_a_phone()
    sign_in(reviewer, administrator)
    reviewer.goto(pages["review"])
    reviewer.get_by_text("Ask for a rewrite", exact=True).click()
    reviewer.get_by_label("What to change").fill(f"{RUNS[:100]} {TURNED}{WIDE[:100]}")
    reviewer.get_by_role("button", name="Send the request").click()
    expect(reviewer.get_by_text("Its author is asked to write it again.")).to_be_visible()
    look(reviewer)
    author = on_a_phone()
    author.goto(annotating.rewrite_path(ANSWERS[0]))
    look(author)
    reviewer.goto(pages["answered query"])
    look(reviewer)


def test_an_import_shows_hostile_lines_as_texts(annotating, administrator, on_a_phone, tmp_path):
    log = tmp_path / f"{TURNED}log.jsonl"
    log.write_text("\n".join(json.dumps(line) for line in (LINE, {"query": f"{RUNS} www.example.org"})))
    page = on_a_phone()
    sign_in(page, administrator)
    page.goto(f"/desk/projects/{annotating.project()}/imports/new/")
    page.get_by_label("File").set_input_files(log)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_role("heading", name="Look before you import")).to_be_visible()
    look(page)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("Starting")).to_be_visible()
    annotating.run_jobs()
    expect(page.get_by_text("Records read")).to_be_visible()
    look(page)
