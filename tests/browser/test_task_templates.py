"""Pages as requesters write them, each worked through twice: every one sends exactly its answer, once.

With a pointer on a wide window, loaded again in the middle; and with keys alone on a phone's, offline when
the answer is sent. What to do and what comes of it is in the first line of each page.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Browser, BrowserContext, Page, expect

from marketplace.forms.questions import html_question_xml
from tests.browser.conftest import PATIENCE_MS
from tests.browser.driving import Driver
from tests.browser.looking import LIGHT
from tests.browser.people import send_form, sign_up
from tests.server import RunningServer

pytestmark = pytest.mark.browser

FOLDER = Path(__file__).parent / "pages"
PAGES = sorted(FOLDER.glob("*.html"))
NAMES = [path.stem for path in PAGES]
#: Of each way to write a page one, by a pointer: fields, pages one after another, what is dragged or drawn,
#: words that are marked, a form that a script sends. `make test-all` takes the others, too.
BY_POINTER = (
    "01-fields-of-every-kind", "09-many-pages-by-script", "13-sorted-by-drag", "16-editable-text",
    "20-crowd-fields", "26-crowd-boxes", "31-crowd-bounding-box", "37-crowd-semantic-segmentation",
    "39-crowd-entity-annotation", "45-sent-by-fetch",
)  # fmt: skip
#: And by keys: others, so that the two make twenty.
BY_KEYS = (
    "02-fields-without-a-form", "08-two-buttons", "11-checked-by-script", "21-crowd-sliders",
    "24-crowd-image-classifier", "33-crowd-keypoint", "36-crowd-polygon", "46-sent-by-a-request",
    "47-a-policy-of-its-own", "53-pages-by-address",
)  # fmt: skip
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PIXEL = """async ([data, x, y]) => {
  const image = new Image();
  image.src = "data:image/png;base64," + data;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const [r, g, b, a] = context.getImageData(x, y, 1, 1).data;
  return a ? "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("") : "";
}"""


@dataclass
class Market:
    """One server with a HIT for each page that is worked on, and two people who do."""

    server: RunningServer
    client: Any
    hits: dict[str, dict[str, Any]]
    contexts: dict[str, BrowserContext]
    pages: dict[str, Page]
    complaints: list[str]

    def post(self, name: str, question: str = "") -> dict[str, Any]:
        """A HIT with the page of this name, or with another one."""
        question = question or (FOLDER / f"{name}.html").read_text(encoding="utf-8")
        self.hits[name] = self.client.create_hit(
            Title=name,
            Description="A page",
            Reward="0.05",
            AssignmentDurationInSeconds=3600,
            LifetimeInSeconds=86_400,
            MaxAssignments=2,
            Question=html_question_xml(question, 0),
        )["HIT"]
        return self.hits[name]

    def take_hit(self, who: str, name: str) -> Page:
        """Accept the HIT of a page, and open it."""
        page, hit = self.pages[who], self.hits.get(name) or self.post(name)
        self.complaints.clear()
        tasks = f"/projects/{hit['HITGroupId']}/tasks"
        accepted = send_form(page.context, tasks, f"{tasks}/accept", hit_id=hit["HITId"])
        page.goto(accepted.headers["location"])
        return page

    def answers(self, name: str, worker: str) -> list[dict[str, str]]:
        """What this worker's answers say, field by field."""
        listed = self.client.list_assignments_for_hit(HITId=self.hits[name]["HITId"])["Assignments"]
        mine = [ElementTree.fromstring(each["Answer"]) for each in listed if each["WorkerId"] == worker]
        return [{part[0].text or "": "".join(part[1].itertext()) for part in root} for root in mine]


@pytest.fixture(scope="module")
def market(server: RunningServer, chromium: Browser) -> Iterator[Market]:
    server.reset(data=True)
    client = server.requester().client
    made = Market(server, client, {}, {}, {}, [])
    for who, size in (("wide", WIDE), ("phone", PHONE)):
        context = chromium.new_context(base_url=server.url, viewport=size)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE_MS)
        context.on("weberror", lambda error: made.complaints.append(str(error.error)))
        sign_up(context, server)
        made.contexts[who], made.pages[who] = context, context.new_page()
    yield made
    for context in made.contexts.values():
        context.close()


def plan_of(name: str) -> dict[str, Any]:
    """What is to be done on a page, and what comes of it."""
    first = (FOLDER / f"{name}.html").read_text(encoding="utf-8").split("\n", 1)[0]
    plan: dict[str, Any] = json.loads(first.removeprefix("<!--plan ").removesuffix(" -->"))
    return plan


def ready(page: Page) -> None:
    """Everything of the page in the frame is drawn, and its draft is put back."""
    page.frame_locator("iframe").locator("h1").wait_for()
    page.frames[1].wait_for_load_state("domcontentloaded")
    page.frames[1].evaluate("new Promise((done) => setTimeout(done, 60))")


def submit(driver: Driver) -> None:
    for name in ("Submit", "Send"):
        button = driver.frame.get_by_role("button", name=name, exact=True).locator("visible=true").first
        if button.count():
            driver.press(name)
            return
    raise AssertionError("The page has no button to submit it")


def check_answer(market: Market, page: Page, name: str, worker: str) -> None:
    plan = plan_of(name)
    page.wait_for_url("**/tasks/continue/*")
    (answer,) = market.answers(name, worker)
    found: dict[str, Any] = dict(answer)
    if "taskAnswers" in found:
        found["taskAnswers"] = json.loads(found["taskAnswers"])
        for widget in found["taskAnswers"][0].values():
            if isinstance(widget, dict) and "labeledImage" in widget:
                data = widget["labeledImage"]["pngImageData"]
                for x, y, colour in plan["pixels"]:
                    assert page.evaluate(PIXEL, [data, x, y]) == colour
                widget["labeledImage"]["pngImageData"] = "PNG"
    assert found == plan["answer"]
    assert market.complaints == []


def worker_of(page: Page) -> str:
    address = page.locator("iframe").get_attribute("src") or ""
    return parse_qs(urlsplit(address).query)["workerId"][0]


def these_and_long_ones(names: tuple[str, ...]) -> list[Any]:
    """All pages; those that are not named take long together."""
    return [name if name in names else pytest.param(name, marks=pytest.mark.long) for name in NAMES]


@pytest.mark.parametrize("name", these_and_long_ones(BY_POINTER))
def test_a_page_sends_its_answer_once_from_a_wide_window_that_was_loaded_again(market, name):
    plan = plan_of(name)
    page = market.take_hit("wide", name)
    worker = worker_of(page)
    ready(page)
    driver = Driver(page, keys_only=False)
    half = plan.get("half", (len(plan["steps"]) + 1) // 2)
    driver.take(plan["steps"][:half])
    page.wait_for_timeout(160)
    page.reload()
    ready(page)
    driver.take(plan["steps"] if plan.get("again") else plan["steps"][half:])
    submit(driver)
    check_answer(market, page, name, worker)


@pytest.mark.parametrize("name", these_and_long_ones(BY_KEYS))
def test_a_page_sends_its_answer_once_from_a_phone_with_keys_alone_and_without_a_line(market, name):
    plan = plan_of(name)
    page = market.take_hit("phone", name)
    worker = worker_of(page)
    ready(page)
    frame = page.frames[1]
    frame.evaluate(AXE_SCRIPT)
    results = AxeResults(frame.evaluate("(options) => axe.run(options)", LIGHT))
    assert results.violations_count == 0, results.generate_report()
    assert frame.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    driver = Driver(page, keys_only=True)
    driver.take(plan["steps"])
    market.contexts["phone"].set_offline(True)
    submit(driver)
    expect(page.locator(".delivery")).to_contain_text("There is no connection. Your answer is kept")
    assert market.answers(name, worker) == []
    market.contexts["phone"].set_offline(False)
    check_answer(market, page, name, worker)


def test_an_answer_in_the_address_is_sent_whatever_its_fields_are_called(market):
    """As survey sites lead back; a field may have the name of a form's method."""
    page = """<h1>A survey</h1><button type="button" id="finish">Finish</button><script>
      finish.onclick = function () {
        location.href = new URLSearchParams(location.search).get("turkSubmitTo")
          + "/mturk/externalSubmit?code=7&submit=yes&method=get";
      };
    </script>"""
    market.post("by address", page)
    window = market.take_hit("wide", "by address")
    worker = worker_of(window)
    ready(window)
    window.frames[1].get_by_role("button", name="Finish").click()
    window.wait_for_url("**/tasks/continue/*")
    assert market.answers("by address", worker) == [{"code": "7", "submit": "yes", "method": "get"}]


def test_every_element_there_is_is_on_one_of_the_pages():
    from marketplace.forms.html import ELEMENTS

    text = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    assert [name for name in sorted(ELEMENTS) if f"<{name}" not in text] == []
