"""One page of each kind, measured: what it loads, whether it moves, what the console says, and axe."""

import base64
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Response

from tests.browser.campaign import customer_id
from tests.browser.judging import Judgers
from tests.browser.looking import LOADED, check
from tests.browser.people import sign_in, take_address
from tests.judgments.judging_world import CORRECT, GAS, PASSAGE, PREDICTED
from tests.server import RunningServer

pytestmark = pytest.mark.browser
#: The most that a page loads with an empty cache, in kB, pictures apart; a task is read without the font.
MOST_OF_DESK, MOST_OF_TASK = 100, 50
MOST_SHIFT = 0.05
TYPES = ("document", "stylesheet", "script", "font", "fetch", "xhr")
QUERY = {"query": GAS, "references": [CORRECT], "passages": [PASSAGE], "answers": {"unilm": PREDICTED}}
SHIFT = """() => new Promise((done) => {
  let shift = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((each) => { shift += each.value; }))
    .observe({ type: "layout-shift", buffered: true });
  document.fonts.ready.then(() => setTimeout(() => done(shift), 150));
})"""

#: How the page of components looks: the mean colour of each region of 40 px, a hexadecimal digit a channel.
LOOKS = Path(__file__).with_name("components.txt")
REGIONS = """async (picture) => {
  const image = await createImageBitmap(await (await fetch("data:image/png;base64," + picture)).blob());
  const [wide, high] = [Math.ceil(image.width / 40), Math.ceil(image.height / 40)];
  const pen = new OffscreenCanvas(wide, high).getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, wide, high);
  const digits = [...pen.getImageData(0, 0, wide, high).data].filter((_, at) => at % 4 < 3)
    .map((value) => (value >> 4).toString(16)).join("");
  return Array.from({ length: high }, (_, row) => digits.slice(row * wide * 3, (row + 1) * wide * 3));
}"""

Pages = tuple[Page, dict[str, str]]


@pytest.fixture
def desk(server: RunningServer, administrator: str, context_of: Callable[..., BrowserContext]) -> Pages:
    """A researcher who is a requester, too; addresses of pages by their kind."""
    judgers = Judgers(server)
    judgers.begin()
    trial = judgers.trial(judgers.stage([QUERY]))
    paths = judgers.measured(administrator)
    requester = f"/requester/{customer_id(server, server.requester().name)}/"
    paths |= {"list": "/desk/projects/", "wizard": "/desk/new-project/", "components": "/desk/components/"}
    paths |= {"trial": trial, "project": paths["systems"].removesuffix("systems/"), "requester": requester}
    paths |= {name: f"{requester}{name}/" for name in ("batches/new", "hits", "money", "keys", "workers")}
    page = context_of(viewport={"width": 1280, "height": 900}).new_page()
    sign_in(page, administrator)
    return page, paths


@pytest.fixture
def workers(server: RunningServer, newcomer: Callable[..., Any]) -> Pages:
    """A worker with a HIT; addresses of pages by their kind."""
    judgers = Judgers(server)
    judgers.begin()
    title = judgers.stage([QUERY])
    page = newcomer(viewport={"width": 1280, "height": 900}).page
    task = take_address(page, title)
    names = ("tasks", "history", "dashboard", "inbox", "profile", "languages/")
    return page, {"task": task, "groups": "/"} | {name: f"/{name}" for name in names}


def look(page: Page, path: str) -> tuple[float, float, list[str]]:
    """Open a page with an empty cache: the kB that it loaded without and with fonts, and what is amiss."""
    answers: list[Response] = []
    words: list[str] = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108 - a builtin cannot be a handler
    page.on("console", lambda message: words.append(message.text))
    page.goto(path)
    page.evaluate(LOADED)
    shift = page.evaluate(SHIFT)
    if shift > MOST_SHIFT:
        words.append(f"what is read moves by {shift:.2f}")
    sizes = [(each.request.resource_type, weigh(each)) for each in answers]
    loaded = sum(size for kind, size in sizes if kind in TYPES and kind != "font") / 1000
    return loaded, loaded + sum(size for kind, size in sizes if kind == "font") / 1000, words


def weigh(answer: Response) -> int:
    """Bytes of an answer on the wire; pages themselves are compressed by the proxy before us."""
    if answer.request.resource_type == "document" and answer.ok:
        return len(gzip.compress(answer.body(), 6))
    return answer.request.sizes()["responseBodySize"]


def renew(page: Page) -> Page:
    """A new tab of the same person, which keeps nothing that was loaded."""
    tab = page.context.new_page()
    session = tab.context.new_cdp_session(tab)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    return tab


def test_pages_of_the_desk_are_light_and_do_not_move(desk, subtests):
    page, paths = desk
    for kind in ("list", "project", "agreement", "filters", "judge", "answer", "wizard", "requester"):
        with subtests.test(kind=kind):
            tab = renew(page)
            _, loaded, words = look(tab, paths[kind])
            assert words == []
            assert loaded <= MOST_OF_DESK, f"{loaded:.0f} kB"
            tab.close()


def test_pages_of_workers_are_light_and_do_not_move(workers, subtests):
    page, paths = workers
    for kind, path in paths.items():
        with subtests.test(kind=kind):
            tab = renew(page)
            loaded, _, words = look(tab, path)
            assert words == []
            assert loaded <= MOST_OF_TASK, f"{loaded:.0f} kB"
            tab.close()


@pytest.mark.long
def test_every_kind_of_page_on_all_widths_in_light_and_dark(desk, subtests):
    page, paths = desk
    for kind, path in paths.items():
        with subtests.test(kind=kind):
            page.goto(path)
            page.evaluate("document.querySelectorAll('main details').forEach((each) => each.open = true)")
            check(page, everywhere=True)


@pytest.mark.long
def test_every_page_of_workers_in_both_directions(workers, subtests):
    page, paths = workers
    for kind, path in paths.items():
        for language in ("en", "ar"):
            with subtests.test(kind=kind, language=language):
                page.goto(f"{path}{'&' if '?' in path else '?'}lang={language}")
                assert (page.evaluate("document.documentElement.dir") == "rtl") == (language == "ar")
                check(page, everywhere=True)


def test_components_look_as_they_did_in_light_and_dark(server, administrator, context_of, chromium):
    """Regions, not pixels: each Chromium draws type a little differently. A meant change: delete the file."""
    page = context_of(viewport={"width": 1280, "height": 900}, reduced_motion="reduce").new_page()
    sign_in(page, administrator, "/desk/components/")
    table = chromium.new_page()
    rows: list[str] = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.evaluate("document.fonts.ready.then(() => true)")
        picture = base64.b64encode(page.locator("main").screenshot()).decode()
        rows += [f"# {scheme}", *table.evaluate(REGIONS, picture)]
    table.close()
    if not LOOKS.exists():
        LOOKS.write_text("\n".join(rows) + "\n", encoding="utf-8")
    before = LOOKS.read_text(encoding="utf-8").split("\n")[:-1]
    assert len(rows) == len(before), "the page is longer or shorter than it was"
    off = [
        f"row {row}, region {at // 3}: {one} was, {two} is"
        for row, (old, new) in enumerate(zip(before, rows, strict=True))
        if not new.startswith("#")
        for at, (one, two) in enumerate(zip(old, new, strict=True))
        if abs(int(one, 16) - int(two, 16)) > 2  # of 15: a word that wraps otherwise
    ]
    assert off == []
