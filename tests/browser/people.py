"""People in front of a browser, who sign up, sign in and accept HITs by requests: no page is drawn for it.

How those pages look and work is for `test_working.py`, `test_access.py` and `test_signing_in.py`. The
requests go with the cookies of the browser.
"""

import html
import re

from playwright.sync_api import APIResponse, BrowserContext, FrameLocator, Page

from tests.server import RunningServer

PASSWORD = "seven green kettles"
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


def send_form(context: BrowserContext, path: str, action: str = "", **fields: str) -> APIResponse:
    """Send a form of the page at `path`, to another address if there is one; the answer, which leads on."""
    token = _TOKEN.search(context.request.get(path).text())
    assert token, f"{path} has no form"
    form = {"csrfmiddlewaretoken": token[1], **fields}
    answer = context.request.post(action or path, form=form, max_redirects=0)  # type: ignore[arg-type]
    assert answer.status == 302, f"{action or path}: {answer.status} {answer.text()}"
    return answer


def sign_up(context: BrowserContext, server: RunningServer) -> str:
    """Make an account by an invitation; its name."""
    invitation = server.console("marketplace", "invite", "Course", "--uses", "1", "--json")
    name = f"mira-{invitation['token'][:6].lower().strip('-_')}"
    fields = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    send_form(context, invitation["url_path"], **fields)
    return name


def sign_in(page: Page, name: str, path: str = "") -> None:
    """Sign in, and open the page at `path` if one is named."""
    send_form(page.context, "/accounts/login/", username=name, password=PASSWORD)
    if path:
        page.goto(path)


def accept(page: Page, group: str) -> None:
    """Accept the next HIT of a group, and open it."""
    page.goto(_accept_next(page.context, group))


def take(page: Page, title: str) -> FrameLocator:
    """Accept a HIT of this title; the frame with its task page."""
    accept(page, _group_of(page.context, title))
    return page.frame_locator("iframe")


def take_address(page: Page, title: str) -> str:
    """Accept a HIT of this title; the address of its task page, which no frame has loaded."""
    work = page.request.get(_accept_next(page.context, _group_of(page.context, title))).text()
    source = re.search(r'<iframe[^>]* src="([^"]+)"', work)
    assert source, work
    return html.unescape(source[1])


def _group_of(context: BrowserContext, title: str) -> str:
    listed = context.request.get("/").text()
    [group] = re.findall(rf'href="/projects/([^/]+)/tasks"\s+aria-label="Preview: {title}"', listed)
    return str(group)


def _accept_next(context: BrowserContext, group: str) -> str:
    tasks = f"/projects/{group}/tasks"
    place = send_form(context, tasks, f"{tasks}/accept").headers["location"]
    assert "assignment_id=" in place, place
    return place
