"""Two tabs on one form, and a form whose session ended: what the person sees, and that no text is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import people
from tests.browser.looking import check
from tests.browser.people import PASSWORD
from tests.server import RunningServer

pytestmark = pytest.mark.browser
PLACE = "/desk/projects/two-tabs/"


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


@pytest.fixture
def settings(
    server: RunningServer, administrator: str, context_of: Callable[..., BrowserContext], tmp_path: Path
) -> Page:
    """The settings of a project, open in a browser."""
    study = tmp_path / "study.toml"
    study.write_text('[project]\nslug = "two-tabs"\ntitle = "Two tabs"\nbudget = "10.00"\n')
    server.console("study", "apply", str(study), "--yes")
    page = context_of().new_page()
    people.sign_in(page, administrator, f"{PLACE}settings/")
    page.get_by_role("heading", name="Settings", exact=True).wait_for()
    return page


def test_two_tabs_and_a_session_that_ended(settings: Page, administrator: str) -> None:
    other = settings.context.new_page()
    other.goto(f"{PLACE}settings/")
    other.get_by_label("Title", exact=True).fill("Theirs")
    other.get_by_role("button", name="Save").first.click()
    other.get_by_text("Saved.").wait_for()

    settings.get_by_label("Title", exact=True).fill("Mine, and <b>bold</b>")
    settings.get_by_role("button", name="Save").first.click()
    expect(settings.get_by_role("alert")).to_contain_text("Nothing was saved.")
    expect(settings.get_by_role("alert")).to_be_focused()
    check(settings)
    settings.get_by_role("link", name="Edit on").click()
    expect(settings.get_by_label("Title", exact=True)).to_have_value("Mine, and <b>bold</b>")
    settings.get_by_role("button", name="Keep mine").click()
    settings.get_by_text("Saved.").wait_for()

    settings.get_by_label("Title", exact=True).fill("Written before the session ended")
    settings.get_by_label("Language").fill("de")
    settings.context.clear_cookies()
    settings.get_by_role("button", name="Save").first.click()
    settings.get_by_text("what you typed is kept").wait_for()
    sign_in(settings, administrator)
    expect(settings.get_by_role("alert")).to_contain_text("What you typed is back in the form below.")
    expect(settings.get_by_label("Title", exact=True)).to_have_value("Written before the session ended")
    expect(settings.get_by_label("Language", exact=True)).to_have_value("de")
    check(settings)
    settings.get_by_role("button", name="Save").first.click()
    settings.get_by_text("Saved.").wait_for()
    expect(settings.get_by_label("Title", exact=True)).to_have_value("Written before the session ended")
