"""Two tabs on one form, and a form whose session ended: what the person sees, and that no text is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, expect

from core.accounts.sessions import CONFIRMED, SessionStore
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
    other.get_by_role("button", name="Save", exact=True).first.click()
    other.get_by_text("Saved.").wait_for()

    settings.get_by_label("Title", exact=True).fill("Mine, and <b>bold</b>")
    settings.get_by_role("button", name="Save", exact=True).first.click()
    expect(settings.get_by_role("alert")).to_contain_text("Nothing was saved.")
    expect(settings.get_by_role("alert")).to_be_focused()
    check(settings)
    settings.get_by_role("link", name="Edit on").click()
    expect(settings.get_by_label("Title", exact=True)).to_have_value("Mine, and <b>bold</b>")
    settings.get_by_role("button", name="Keep mine").click()
    settings.get_by_text("Saved.").wait_for()

    settings.get_by_label("Title", exact=True).fill("Written before the session ended")
    settings.get_by_label("Language", exact=True).fill("de")
    settings.context.clear_cookies()
    settings.get_by_role("button", name="Save", exact=True).first.click()
    settings.get_by_text("come back to your form").wait_for()
    sign_in(settings, administrator)
    back = settings.get_by_text("Your entries are still here: press the button again.")
    expect(back).to_be_visible()
    expect(settings.get_by_text("Nothing was saved yet")).to_be_hidden()
    expect(settings.get_by_label("Title", exact=True)).to_have_value("Written before the session ended")
    expect(settings.get_by_label("Language", exact=True)).to_have_value("de")
    check(settings)
    settings.get_by_role("button", name="Save", exact=True).first.click()
    settings.get_by_text("Saved.").wait_for()
    expect(settings.get_by_label("Title", exact=True)).to_have_value("Written before the session ended")


#: Further fields of a form.
MORE = (
    '<input type="password" name="secret" value="hush" aria-label="Secret">'
    '<input type="hidden" name="once" value="token-of-the-page">'
)
KEPT = "sessionStorage.getItem('distillery.entries')"


def end_session(page: Page) -> None:
    page.context.clear_cookies(name="sessionid")


def forget_confirmation(server: RunningServer) -> None:
    server.call("tests.browser.test_saving", "forget_confirmations")


def _forget_confirmations() -> None:
    for key in list(Session.objects.values_list("session_key", flat=True)):
        store = SessionStore(key)
        store[CONFIRMED] = 0
        store.save()


#: In a process of the server.
COMMANDS = {"forget_confirmations": _forget_confirmations}


def test_what_others_saved_while_the_session_had_ended_is_not_overwritten(
    settings: Page, server: RunningServer, administrator: str, context_of: Callable[..., BrowserContext]
) -> None:
    settings.get_by_label("Title", exact=True).fill("Typed over the first version")
    end_session(settings)
    other = context_of().new_page()
    people.sign_in(other, administrator, f"{PLACE}settings/")
    other.get_by_label("Title", exact=True).fill("Saved meanwhile")
    other.get_by_role("button", name="Save", exact=True).first.click()
    other.get_by_text("Saved.").wait_for()
    settings.get_by_role("button", name="Save", exact=True).first.click()
    sign_in(settings, administrator)
    expect(settings.get_by_label("Title", exact=True)).to_have_value("Typed over the first version")
    settings.get_by_role("button", name="Save", exact=True).first.click()
    expect(settings.get_by_role("alert")).to_contain_text("Nothing was saved.")


def test_nobody_else_in_this_browser_gets_the_entries(
    settings: Page, server: RunningServer, administrator: str
) -> None:
    server.console("createsuperuser", "--noinput", "--username", "second", "--email", "s@example.org")
    settings.get_by_label("Title", exact=True).fill("Not for everybody")
    end_session(settings)
    settings.get_by_role("button", name="Save", exact=True).first.click()
    sign_in(settings, "second")
    expect(settings.get_by_text("Nothing was saved yet: fill in the form")).to_be_visible()
    expect(settings.get_by_label("Title", exact=True)).not_to_have_value("Not for everybody")
    assert settings.evaluate(KEPT) is None


def test_a_confirmed_password_leads_back_to_the_entries_and_signing_out_forgets_them(
    settings: Page, server: RunningServer, administrator: str
) -> None:
    server.console("marketplace", "requester", "create", "Word Lab", "--owner", administrator, "--json")
    settings.goto("/desk/")
    settings.get_by_role("link", name="Word Lab").click()
    settings.get_by_role("link", name="Keys").click()
    settings.get_by_label("What it is for").fill("nightly")
    settings.get_by_label("The new key").select_option(label="ends in 90 days")
    settings.get_by_label("It may only read").check()
    settings.get_by_label("What it is for").evaluate(
        "(each, more) => each.insertAdjacentHTML('afterend', more)", MORE
    )
    forget_confirmation(server)
    settings.get_by_role("button", name="Make a key").click()
    expect(settings.get_by_text("Nothing was changed yet")).to_be_visible()
    check(settings)
    kept = settings.evaluate(KEPT)
    assert "nightly" in kept
    for never in ("csrfmiddlewaretoken", "hush", "token-of-the-page"):
        assert never not in kept
    settings.get_by_label("Your password").fill(PASSWORD)
    settings.get_by_role("button", name="Confirm").click()
    note = settings.locator(".interrupted")
    said = (
        "Confirmed. Your entries are still here: press the button again. "
        "Files and passwords have to be given again."
    )
    expect(note).to_have_text(said, use_inner_text=True)
    expect(note).to_be_focused()
    expect(settings.get_by_label("What it is for")).to_have_value("nightly")
    expect(settings.get_by_label("The new key").locator(":checked")).to_have_text("ends in 90 days")
    expect(settings.get_by_label("It may only read")).to_be_checked()
    check(settings)
    settings.get_by_role("button", name="Make a key").click()
    expect(settings.get_by_role("cell", name="nightly")).to_be_visible()
    expect(note).to_have_count(0)
    expect(settings.get_by_label("What it is for")).to_have_value("")
    forget_confirmation(server)
    settings.get_by_label("What it is for").fill("another")
    settings.get_by_role("button", name="Make a key").click()
    assert "another" in settings.evaluate(KEPT)
    settings.get_by_role("button", name="Sign out").click()
    settings.wait_for_url("**/")
    assert settings.evaluate(KEPT) is None
