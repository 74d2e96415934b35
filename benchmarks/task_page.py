"""Measures how long a worker waits for the first task page with crowd elements on a slow line.

    python benchmarks/task_page.py [--rounds 5] [--kilobits 400] [--latency 400] [--cold]

A new browser that has seen the preview accepts the HIT and waits until its page can be worked on: drawn, with
a button for the answer. The line is slowed by the browser itself (`Network.emulateNetworkConditions`), which
waits once for each request, as a line with that time to and fro would after the connection is made.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from marketplace.questions import html_question_xml  # noqa: E402
from tests.browser.conftest import ARGUMENTS, CHROMIUM, PASSWORD  # noqa: E402
from tests.server import RunningServer  # noqa: E402

PAGES = (
    "22-crowd-classifier",
    "31-crowd-bounding-box",
    "39-crowd-entity-annotation",
    "01-fields-of-every-kind",
)
DRAWN = """() => {
  const button = document.querySelector("button[type=submit], input[type=submit]");
  const inner = document.querySelector(
    "crowd-classifier input, svg.crowd-drawing[viewBox], .crowd-text [data-from], form > p input");
  return Boolean(button && inner);
}"""


def main() -> None:
    """Print each page's times and what came over the line, and the best of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kilobits", type=int, default=400)
    parser.add_argument("--latency", type=int, default=400, help="milliseconds to and fro")
    parser.add_argument("--cold", action="store_true", help="forget what the preview has loaded before")
    parser.add_argument("--waterfall", action="store_true", help="when the browser asked for what")
    parser.add_argument("--only", default="", help="pages whose name has this in it")
    given = parser.parse_args()
    environment = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "DJANGO_SETTINGS_MODULE": "tests.settings_server"}
    with RunningServer(environment=environment) as server, sync_playwright() as playwright:
        client = server.requester().client
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        state = sign_up(server, browser)
        for name in (each for each in PAGES if given.only in each):
            text = (ROOT / "tests" / "browser" / "pages" / f"{name}.html").read_text(encoding="utf-8")
            taken = []
            for _ in range(given.rounds):
                group = post(client, name, text)
                taken.append(visit(server, browser, state, group, given))
                seconds, received = taken[-1]
                print(f"{name}: {seconds:.2f} s, {received / 1024:.0f} KiB; load {os.getloadavg()[0]:.1f}")
            print(f"{name}: best {min(taken)[0]:.2f} s")
        browser.close()


def post(client: Any, name: str, html: str) -> str:
    """A HIT with this page; its group."""
    hit = client.create_hit(
        Title=f"{name} {time.time()}",
        Description="A page",
        Reward="0.05",
        AssignmentDurationInSeconds=3600,
        LifetimeInSeconds=86_400,
        MaxAssignments=1,
        Question=html_question_xml(html, 0),
    )
    return str(hit["HIT"]["HITGroupId"])


def sign_up(server: RunningServer, browser: Browser) -> Any:
    """Cookies of somebody who may work."""
    invitation = server.console("marketplace", "invite", "Course", "--uses", "1", "--json")
    context = browser.new_context(base_url=server.url)
    page = context.new_page()
    page.goto(invitation["url_path"])
    page.get_by_label("Username").fill("mira")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same once more").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.wait_for_url("**/")
    state = context.storage_state()
    context.close()
    return state


def visit(
    server: RunningServer, browser: Browser, state: Any, group: str, given: argparse.Namespace
) -> tuple[float, int]:
    """Seconds from pressing Accept to a page that can be worked on, and bytes that came over the line."""
    context = browser.new_context(base_url=server.url, storage_state=state)
    page = context.new_page()
    page.goto(f"/projects/{group}/tasks")
    session = context.new_cdp_session(page)
    received: list[int] = []
    session.on("Network.loadingFinished", lambda done: received.append(int(done["encodedDataLength"])))
    asked: list[tuple[float, str]] = []
    session.on(
        "Network.requestWillBeSent",
        lambda sent: asked.append((time.perf_counter(), sent["request"]["url"])),
    )
    session.send("Network.enable")
    if given.cold:
        session.send("Network.clearBrowserCache")
    speed = given.kilobits * 1000 / 8
    session.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": given.latency, "downloadThroughput": speed, "uploadThroughput": speed},
    )
    began = time.perf_counter()
    page.get_by_role("button", name="Accept", exact=True).click(no_wait_after=True)
    wait_until_drawn(page)
    taken = time.perf_counter() - began
    if given.waterfall:
        for at, address in asked:
            print(f"  {at - began:5.2f} s  {address.partition('?')[0]}")
    context.close()
    return taken, sum(received)


def wait_until_drawn(page: Page) -> None:
    """Look every few milliseconds; a page that is being left answers with an error."""
    while True:
        try:
            if "assignment_id" in page.url and len(page.frames) > 1 and page.frames[1].evaluate(DRAWN):
                return
        except Exception:
            pass
        page.wait_for_timeout(10)


if __name__ == "__main__":
    main()
