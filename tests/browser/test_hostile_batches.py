"""Templates and tables that mean ill: nothing comes of them, for the requester who looks and for workers."""

import csv
import io
import json

import pytest
from playwright.sync_api import expect

from tests.browser.asking import answers, task
from tests.browser.batching import Desk
from tests.browser.test_batches import desk  # noqa: F401
from tests.browser.test_hostile_questions import BATCH_SECRETS, TRIES, Thief, context_of, thief  # noqa: F401

pytestmark = pytest.mark.browser


def a_table(*cells: str) -> str:
    """A table with one column, `cell`."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["cell"])
    writer.writerows([cell] for cell in cells)
    return out.getvalue()


def preview(desk: Desk, html: str, table: str) -> None:  # noqa: F811
    """A draft, and the preview of its first task."""
    desk.go(f"{desk.make_draft(html, table)}tasks/1/")


def test_script_style_and_markup_of_a_cell_stay_in_its_frame(desk, newcomer):  # noqa: F811
    script = TRIES[TRIES.index("<script>") : TRIES.index("</body>")]
    preview(desk, '<h1>Quiet</h1><ul id="got"></ul>${cell}', a_table(script))
    expect(desk.task.get_by_role("heading")).to_have_text("Quiet")
    got = json.loads(desk.task.locator("html").evaluate("() => document.title"))
    assert got.pop("origin") == "null"
    assert set(got.values()) == {"SecurityError"}, got
    assert desk.page.url.endswith("/batches/1/tasks/1/")

    style = "<style>* { position: fixed; inset: 0; z-index: 99999; background: red; color: red }</style>"
    preview(desk, "<h1>Red</h1>${cell}", a_table(style, "second"))
    desk.page.get_by_role("link", name="Next").click()
    expect(desk.task.get_by_text("second")).to_be_visible()

    closing = "]]></HTMLContent><FrameHeight>9</FrameHeight></HTMLQuestion><!-- </body></html>\"'>"
    preview(desk, '<h1 title="${cell}">Sound</h1>', a_table(closing))
    expect(desk.task.get_by_role("heading", name="Sound")).to_be_visible()
    desk.page.get_by_role("link", name="Back to the batch").click()
    desk.publish("0.10")
    mira = newcomer()
    mira.page.goto("/")
    mira.page.get_by_role("link", name="Say what you see", exact=True).click()
    expect(task(mira).get_by_text("Sound")).to_be_visible()


def test_a_cell_loads_files_of_ticked_hosts_only_and_sends_nothing(desk, thief: Thief, lab, newcomer):  # noqa: F811
    cell = BATCH_SECRETS.format(thief=thief.url)
    preview(desk, "<h1>Template</h1>${cell}", a_table(cell))
    expect(desk.task.get_by_role("heading", name="Ready")).to_be_visible()
    desk.page.get_by_role("link", name="Back to the batch").click()
    box = desk.page.get_by_label(f"{thief.url} (named by the table)")
    expect(box).not_to_be_checked()
    desk.publish("0.10")
    mira = newcomer()
    mira.page.goto("/")
    mira.page.get_by_role("link", name="Say what you see", exact=True).click()
    expect(task(mira).get_by_role("heading", name="Ready")).to_be_visible()
    mira.page.get_by_role("button", name="Accept", exact=True).click()
    mira.page.wait_for_url("**/tasks/*assignment_id=*")
    expect(task(mira).get_by_role("heading", name="Ready")).to_be_visible()
    mira.page.wait_for_timeout(1500)
    assert thief.asked == []

    preview(desk, "<h1>Template</h1>${cell}", a_table(cell))
    desk.page.get_by_role("link", name="Back to the batch").click()
    box.check()
    desk.page.get_by_role("button", name="Save the hosts").click()
    desk.page.get_by_role("link", name="Look at the tasks").click()
    expect(desk.task.get_by_role("heading", name="Ready")).to_be_visible()
    desk.page.wait_for_timeout(1000)
    asked = {line.split()[1] for line in thief.asked}
    assert "/image" in asked
    assert not asked & {"/iframe", "/object", "/fetch", "/beacon", "/events", "/worker", "/refresh", "/ping"}
    assert all(line.endswith(" ") for line in thief.asked)  # no cookie came along


def test_forms_frames_and_links_of_a_cell_lead_nowhere(desk, thief: Thief, lab):  # noqa: F811
    cell = f"""<form method="post" action="{thief.url}/form"><button>One</button></form>
    <form method="post" action="/accounts/logout/"><button>Two</button></form>
    <button onclick="location = '{thief.url}/frame'">Three</button>
    <button onclick="top.location = '{thief.url}/top'">Four</button>
    <iframe src="{thief.url}/iframe"></iframe><iframe src="/accounts/home/"></iframe>"""
    preview(desk, "<h1>Lead</h1>${cell}", a_table(cell))
    here = desk.page.url
    for name in ("One", "Two", "Three", "Four"):
        desk.task.get_by_role("button", name=name).click()
        desk.page.wait_for_timeout(250)
        assert desk.page.url == here
        desk.page.reload()
        expect(desk.task.get_by_role("heading", name="Lead")).to_be_visible()
    assert thief.asked == []
    assert answers(lab) == []
