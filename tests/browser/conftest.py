"""A real server, a requester with task pages of their own, and Debian's chromium."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.annotating import Annotating
from tests.browser.campaign import Campaign
from tests.browser.people import PASSWORD, accept, sign_up
from tests.clients import Requester, external_question, post_form
from tests.server import RunningServer

# The shell has the same engine, and spares each page the window of a desktop: half the processor time.
CHROMIUM = (
    os.environ.get("CHROMIUM")
    or shutil.which("chromium-headless-shell")
    or shutil.which("chromium")
    or "/usr/bin/chromium"
)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: How long a page may take, clicked or looked at: an answer comes at once or never, but machines can be busy.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)

TASK = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Task</title></head><body>
<h1>What colour is the sky?</h1>
<form method="post" action="{submit_to}/mturk/externalSubmit">
<input type="hidden" name="assignmentId" value="{assignment}">
<label for="answer">Your answer</label> <input id="answer" name="answer">
<button>Send</button>
</form></body></html>"""

LIAR = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Task</title></head><body><h1>A liar</h1><script>
for (let holding = 0; holding < 500; holding++)
  parent.postMessage({{distillery: "submitted", holding: String(holding)}}, "*");
try {{ top.location = "about:blank"; }} catch {{ document.title = "kept"; }}
</script></body></html>"""


class TaskPages(BaseHTTPRequestHandler):
    """Pages of a requester: `/task` is honest, `/liar` claims to be submitted and wants the whole window."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        page = (LIAR if parts.path == "/liar" else TASK).format(
            submit_to=query.get("turkSubmitTo", ""), assignment=query.get("assignmentId", "")
        )
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        return


@pytest.fixture(scope="session")
def task_url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), TaskPages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    environment = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD, "DJANGO_SETTINGS_MODULE": "tests.settings_server"}
    # One process: each draws every kind of page for a first time. That several agree is for `conformance`.
    with RunningServer(environment=environment) as running:
        yield running


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def open_context(
    chromium: Browser, server: RunningServer, complaints: list[str], **options: Any
) -> BrowserContext:
    """A new browser profile on our server; what pages throw, and where they break our policy, is kept."""
    context = chromium.new_context(base_url=server.url, **options)
    context.set_default_timeout(PATIENCE_MS)
    context.on("weberror", lambda error: complaints.append(str(error.error)))
    context.on(
        "console",
        lambda said: complaints.append(said.text) if "Content Security Policy" in said.text else None,
    )
    return context


@pytest.fixture
def context_of(chromium: Browser, server: RunningServer) -> Iterator[Callable[..., BrowserContext]]:
    """A new browser profile on our server; a page that throws, or breaks our policy, fails the test."""
    made: list[BrowserContext] = []
    complaints: list[str] = []

    def make(**options: Any) -> BrowserContext:
        made.append(open_context(chromium, server, complaints, **options))
        return made[-1]

    yield make
    for context in made:
        context.close()
    assert not complaints


@dataclass(frozen=True)
class Lab:
    """A requester with a group of HITs."""

    account: Requester
    task_url: str

    def post(
        self,
        count: int = 1,
        path: str = "/task?unit=1",
        height: int = 500,
        question: str = "",
        **properties: Any,
    ) -> str:
        """Post `count` HITs of one group, of the lab's page unless told; returns the group's id."""
        values = {
            "Title": "Say what you see",
            "Description": "One short answer.",
            "Keywords": "looking, short",
            "Reward": "0.25",
            "AssignmentDurationInSeconds": 1800,
            "AutoApprovalDelayInSeconds": 86_400,
            "LifetimeInSeconds": 86_400,
            "MaxAssignments": 2,
        }
        question = question or external_question(self.task_url + path, height=height)
        for _ in range(count):
            hit = self.account.client.create_hit(Question=question, **(values | properties))
        return str(hit["HIT"]["HITGroupId"])


@pytest.fixture
def lab(server: RunningServer, task_url: str) -> Lab:
    server.reset(data=True)
    return Lab(server.requester(), task_url)


@dataclass(frozen=True)
class Person:
    """Somebody in front of the worker site."""

    page: Page
    name: str

    def accept(self, group: str) -> None:
        accept(self.page, group)

    def answer(self, text: str = "Blue.") -> None:
        """Fill in the form inside the frame and send it."""
        frame = self.page.frame_locator("iframe")
        frame.get_by_label("Your answer").fill(text)
        frame.get_by_role("button", name="Send").click()

    def post_answer(self, text: str = "Blue.") -> None:
        """Submit the accepted HIT past the browser."""
        address = self.page.locator("iframe").get_attribute("src") or ""
        query = parse_qs(urlsplit(address).query)
        sent = post_form(
            f"{query['turkSubmitTo'][0]}/mturk/externalSubmit",
            {"assignmentId": query["assignmentId"][0], "answer": text},
        )
        assert sent.status == 200


@pytest.fixture
def newcomer(context_of: Callable[..., BrowserContext], server: RunningServer) -> Callable[..., Person]:
    """Somebody who has signed up, with a page that is empty; options are those of the browser profile."""

    def make(**options: Any) -> Person:
        context = context_of(**options)
        return Person(context.new_page(), sign_up(context, server))

    return make


@dataclass(frozen=True)
class Profile:
    """A browser profile of somebody who has signed up, and what its pages complained about."""

    context: BrowserContext
    name: str
    complaints: list[str]


@pytest.fixture(scope="module")
def profile(chromium: Browser, server: RunningServer) -> Iterator[Profile]:
    """One profile for a module: signing up, and a browser that has loaded nothing yet, take a second."""
    complaints: list[str] = []
    context = open_context(chromium, server, complaints)
    yield Profile(context, sign_up(context, server), complaints)
    context.close()


@pytest.fixture
def mira(profile: Profile) -> Iterator[Person]:
    """Somebody who has signed up, in a new tab; for tests of well-meant pages, which leave nothing behind."""
    profile.complaints.clear()
    page = profile.context.new_page()
    yield Person(page, profile.name)
    page.close()
    assert not profile.complaints


@pytest.fixture
def market(server: RunningServer) -> str:
    """An account at the server's own marketplace, as an endpoint to publish on."""
    Campaign(server).begin()
    account = server.requester()
    keys = {"access_key": account.access_key, "secret": account.secret}
    server.call(Campaign.module, "add_endpoint", name=account.name, url=server.api_url, **keys)
    return account.name


@pytest.fixture(scope="session")
def administrator(server: RunningServer) -> str:
    server.console("createsuperuser", "--noinput", "--username", "admin", "--email", "admin@example.org")
    return "admin"


@pytest.fixture
def annotating(server: RunningServer) -> Annotating:
    """Projects of queries, on a marketplace without anything of earlier tests."""
    projects = Annotating(server)
    projects.begin()
    return projects
