"""Signing in by providers, an authenticator app and passkeys, in a browser; and the pages about it."""

import base64
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests import oidc_provider as oidc
from tests.browser.conftest import PATIENCE_MS
from tests.browser.looking import check
from tests.browser.people import PASSWORD
from tests.repository import ROOT
from tests.server import RunningServer

UNIVERSITY = {
    "ada": {
        **{"sub": "u-ada", "email": "ada@example.org", "email_verified": True, "preferred_username": "ada"},
        "groups": ["lab"],
    }
}
LIBRARY = {"bea": {"sub": "l-bea", "preferred_username": "bea"}}
ROLES = '[[provider.role]]\ngroup = "lab"\nstaff = true\n'
#: A security key that the browser has built in, with a fingerprint that always fits.
VIRTUAL = {
    "options": {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
}


@pytest.fixture(scope="module")
def providers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two providers as processes of their own, and the file that names them."""
    folder = tmp_path_factory.mktemp("providers")
    running, tables = [], []
    for name, people, further in (("university", UNIVERSITY, ROLES), ("library", LIBRARY, "sign_up = true")):
        file = folder / f"{name}.json"
        file.write_text(json.dumps(people))
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.oidc_provider", str(file)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        tables.append(oidc.table(name, process.stdout.readline().strip(), further))
    path = folder / "providers.toml"
    path.write_text("".join(tables))
    yield path
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def site(providers: Path) -> Iterator[RunningServer]:
    environment = {
        "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        "DJANGO_SETTINGS_MODULE": "tests.settings_server",
        "SIGN_IN_PROVIDERS": str(providers),
        "SECOND_FACTOR": "require",
    }
    with RunningServer(environment=environment) as running:
        yield running


@pytest.fixture
def context(chromium: Browser, site: RunningServer) -> Iterator[BrowserContext]:
    """By a name of this machine: passkeys are bound to names, and there are none for numbers."""
    complaints: list[str] = []
    made = chromium.new_context(base_url=site.url.replace("127.0.0.1", "localhost"))
    made.set_default_timeout(PATIENCE_MS)
    made.on("weberror", lambda error: complaints.append(str(error.error)))
    made.on(
        "console",
        lambda said: complaints.append(said.text) if "Content Security Policy" in said.text else None,
    )
    yield made
    made.close()
    assert not complaints


def sign_in(page: Page, name: str, then: str = "/accounts/profile/") -> None:
    page.goto(f"/accounts/login/?next={then}")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def sign_out(page: Page) -> None:
    page.goto("/accounts/profile/")
    page.get_by_role("button", name="Sign out").click()


def new_person(site: RunningServer, name: str) -> None:
    site.console("createsuperuser", "--noinput", "--username", name, "--email", f"{name}@example.org")


def lab_of(page: Page) -> str:
    """The id in addresses of the only requester of who is signed in."""
    page.goto("/desk/")
    address = page.locator("a[href^='/requester/A']").first.get_attribute("href")
    assert address is not None
    return address.split("/")[2]


def code_of(secret: str, steps: int = 0) -> str:
    return HOTP(base64.b32decode(secret), 6, SHA1()).generate(int(time.time()) // 30 + steps).decode()


def virtual_key(context: BrowserContext, page: Page) -> Any:
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", VIRTUAL)
    return session


@pytest.mark.browser
def test_two_providers_let_people_in_and_groups_give_rights(context):
    page = context.new_page()
    page.goto("/accounts/login/?next=/accounts/profile/")
    check(page)
    page.get_by_role("link", name="Sign in with University").click()
    page.get_by_role("button", name="ada").click()
    page.wait_for_url("**/accounts/factors/ask/**")
    expect(page.get_by_role("heading", name="Protect your account")).to_be_visible()
    check(page)
    page.get_by_role("button", name="Not now").click()
    page.wait_for_url("**/accounts/profile/")
    expect(page.get_by_text("You sign in as ada")).to_be_visible()
    check(page)
    page.goto("/desk/")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("404")
    sign_out(page)
    page.goto("/accounts/login/")
    page.get_by_role("link", name="Sign in with Library").click()
    page.get_by_role("button", name="bea").click()
    page.wait_for_url(re.compile(r"/$"))
    page.goto("/accounts/profile/")
    expect(page.get_by_text("You sign in as bea")).to_be_visible()
    page.get_by_role("button", name="Connect University").click()
    page.get_by_role("button", name="ada").click()
    expect(page.get_by_text("connected to another account here")).to_be_visible()
    check(page)


@pytest.mark.browser
def test_an_authenticator_app_opens_what_needs_a_factor(context, site):
    new_person(site, "olga")
    site.console("marketplace", "requester", "create", "Answer Lab", "--owner", "olga", "--json")
    page = context.new_page()
    sign_in(page, "olga")
    page.get_by_role("button", name="Not now").click()
    page.wait_for_url("**/accounts/profile/")
    lab = lab_of(page)
    page.goto(f"/requester/{lab}/keys/")
    page.wait_for_url("**/accounts/factors/**")
    expect(page.get_by_text("Set one up first")).to_be_visible()
    check(page)
    page.get_by_role("link", name="Set up an app").click()
    check(page)
    secret = page.locator(".secret").inner_text().replace(" ", "")
    page.get_by_label("Code").fill(code_of(secret))
    page.get_by_role("button", name="Set it up").click()
    expect(page.locator("#codes li")).to_have_count(10)
    check(page)
    recovery = page.locator("#codes li").first.inner_text()
    page.goto(f"/requester/{lab}/keys/")
    expect(page.get_by_role("heading", name="Keys", exact=True)).to_be_visible()
    page.goto(f"/requester/{lab}/members/")
    check(page)
    sign_out(page)
    sign_in(page, "olga")
    page.wait_for_url("**/accounts/factor/")
    check(page)
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("alert").first).to_contain_text("not right")
    check(page)
    page.get_by_label("Code").fill(recovery)
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url("**/accounts/profile/")
    page.goto("/accounts/sessions/")
    expect(page.get_by_text("Chrome on Linux").first).to_be_visible()
    check(page)
    page.goto("/accounts/confirm/")
    check(page)


@pytest.mark.browser
def test_a_passkey_is_a_second_factor_and_signs_in_by_itself(context, site):
    new_person(site, "mira")
    page = context.new_page()
    virtual_key(context, page)
    sign_in(page, "mira")
    page.get_by_role("link", name="Add a passkey").click()
    check(page)
    page.get_by_label("What you call it").fill("My laptop")
    page.get_by_role("button", name="Add it").click()
    expect(page.locator("#codes li")).to_have_count(10)
    page.get_by_role("link", name="I have them").click()
    expect(page.locator("bdi", has_text="My laptop")).to_be_visible()
    check(page)
    sign_out(page)
    sign_in(page, "mira")
    page.wait_for_url("**/accounts/factor/")
    check(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("You sign in as mira")).to_be_visible()
    sign_out(page)
    page.goto("/accounts/login/?next=/accounts/sessions/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Where you are signed in")).to_be_visible()
    page.goto("/accounts/confirm/?next=/accounts/factors/")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Second factors")).to_be_visible()


@pytest.mark.browser
def test_somebody_invited_makes_an_account(context, site):
    new_person(site, "nora")
    site.console("marketplace", "requester", "create", "Tea Lab", "--owner", "nora", "--json")
    owner, visitor = context.new_page(), context.browser.new_context(base_url=site.url).new_page()
    sign_in(owner, "nora")
    virtual_key(context, owner)
    owner.get_by_role("link", name="Add a passkey").click()
    owner.get_by_role("button", name="Add it").click()
    expect(owner.locator("#codes li")).to_have_count(10)
    owner.goto(f"/requester/{lab_of(owner)}/members/")
    owner.get_by_role("button", name="Invite").click()
    link = owner.locator("#invitation-link").inner_text()
    check(owner)
    visitor.goto(re.sub(r"^http://[^/]+", "", link))
    check(visitor)
    visitor.get_by_label("Username").fill("guest")
    visitor.get_by_label("Password", exact=True).fill("three slow rivers")
    visitor.get_by_label("The same once more").fill("three slow rivers")
    visitor.get_by_role("button", name="Make the account").click()
    visitor.wait_for_url("**/members/")
    expect(visitor.get_by_text("You are viewer of Tea Lab")).to_be_visible()
    visitor.context.close()
    owner.reload()
    expect(owner.get_by_text("accepted by guest")).to_be_visible()
