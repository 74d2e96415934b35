"""Webhooks at the desk and at a requester's site, from the form to the messages; the audit log."""

import json
import urllib.request
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import check
from tests.browser.people import sign_in
from tests.scale import TEST_ALL
from tests.server import RunningServer

pytestmark = pytest.mark.browser


def ask(server: RunningServer, token: str, method: str, path: str, body: Any = None) -> Any:
    """A call of the API."""
    call = urllib.request.Request(
        f"{server.url}/api/v1{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(call) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def places(server: RunningServer) -> dict[str, str]:
    """A person who owns a project and a requester; the addresses of both."""
    server.console("createsuperuser", "--noinput", "--username", "wanda", "--email", "wanda@example.org")
    token = server.console("api-token", "create", "wanda", "--scope", "read,admin", "--json")["token"]
    ask(server, token, "POST", "/projects", {"slug": "hooks", "title": "Hooks"})
    server.console("marketplace", "requester", "create", "Hook lab", "--owner", "wanda")
    labs = ask(server, token, "GET", "/requesters?limit=200")["items"]
    lab = next(each["requester"] for each in labs if each["name"] == "Hook lab")
    return {"desk": "/desk/projects/hooks", "requester": f"/requester/{lab}"}


@pytest.mark.parametrize("site", ["desk", "requester"])
def test_a_webhook_from_its_form_to_its_messages(context_of, places: dict[str, str], site: str):
    page: Page = context_of().new_page()
    look = check if site == "desk" else lambda page: None  # the pages are the same
    sign_in(page, "wanda", f"{places[site]}/webhooks/")
    expect(page.get_by_role("heading", name="Webhooks", level=1)).to_be_visible()
    look(page)
    page.get_by_label("What it is for").fill("The lab's bot")
    page.get_by_label("Address").fill("http://127.0.0.1:9/in")
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("#id_address_error")).to_be_visible()
    look(page)
    page.get_by_label("Address").fill("https://93.184.216.34/in")
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("#secret")).to_contain_text("whsec_")
    look(page)
    page.get_by_role("button", name="Send a test").click()
    expect(page.locator("#secret")).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="webhook.test").first).to_be_visible()
    page.get_by_text("What was sent, and what was answered").first.click()
    look(page)
    page.get_by_role("button", name="Make a new secret").click()
    expect(page.get_by_text("Two secrets are valid until")).to_be_visible()
    log = "events" if site == "desk" else "activity"
    page.goto(f"{places[site]}/{log}/")
    expect(page.get_by_role("row").filter(has_text="The lab's bot").first).to_be_visible()
    look(page)


def test_pages_about_programs_and_accounts(context_of, places: dict[str, str], subtests: pytest.Subtests):
    page: Page = context_of().new_page()
    sign_in(page, "wanda")
    # The reference of the API has thousands of elements, for which axe takes a minute.
    for path in ("/desk/settings/", "/accounts/sessions/", *(["/api/"] if TEST_ALL else [])):
        with subtests.test(path=path):
            page.goto(path)
            check(page)
