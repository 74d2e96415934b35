"""A researcher makes a release in a real browser: decides about findings, builds, downloads, verifies."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.looking import check
from tests.browser.people import PASSWORD, sign_in
from tests.browser.releasing import Releasing
from tests.server import RunningServer

pytestmark = pytest.mark.browser
LARGE = {"2-content", "5-findings", "7-preview", "8-card", "10-release", "11-public"}


@pytest.fixture
def releasing(server: RunningServer) -> Releasing:
    server.reset(data=True)
    inside = Releasing(server)
    inside.project("rosa", PASSWORD)
    return inside


def look(page: Page, name: str) -> None:
    """Axe and sizes of the larger pages; with LOOK_AT=FOLDER pictures of all, and no more than those."""
    folder = os.environ.get("LOOK_AT")
    if not folder and name in LARGE:
        check(page)
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")) if folder else ():
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.screenshot(path=f"{folder}/{name}-{width}-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 900})


def test_from_the_first_look_to_a_verified_download(
    releasing: Releasing, context_of: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    page = context_of().new_page()
    sign_in(page, "rosa")
    page.goto("/desk/projects/capitals/releases/")
    look(page, "1-empty")
    page.get_by_role("link", name="Make the first release").click()
    look(page, "2-content")
    page.get_by_role("button", name="Go on to the formats").click()
    look(page, "2-formats")
    page.get_by_label("CSV").uncheck()
    page.get_by_role("button", name="Go on to privacy").click()
    look(page, "3-not-looked")
    page.get_by_role("button", name="Check all texts").click()
    look(page, "4-checking")
    releasing.work_off()
    page.reload()
    expect(page.get_by_role("mark")).to_have_text("jane@example.org")
    look(page, "5-findings")
    page.get_by_label("e-mail address").check()
    page.get_by_role("button", name="Black them out").click()
    page.get_by_label("Which").select_option("all")
    page.get_by_label("Why").fill("All four agreed to be named.")
    page.get_by_role("button", name="They may stay").click()
    expect(page.get_by_text("Nothing waits for a decision")).to_be_visible()
    page.get_by_role("link", name="May stay").click()
    look(page, "6-decided")
    page.get_by_role("link", name="Go on to the preview").click()
    expect(page.get_by_text("Write to ████████████████, it is Paris.").first).to_be_visible()
    look(page, "7-preview")
    page.get_by_role("link", name="Go on to the data card").click()
    page.get_by_label("What was the data set made for").fill("To compare systems that answer questions.")
    page.get_by_role("button", name="See how the card reads").click()
    expect(page.get_by_text("To compare systems that answer questions.").last).to_be_visible()
    look(page, "8-card")
    page.get_by_role("button", name="Build the release").click()
    look(page, "9-building")
    releasing.work_off()
    page.reload()
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    look(page, "10-release")
    expect(page.get_by_role("heading", name="How to load it")).to_be_visible()
    page.get_by_role("heading", name="Download and verify").click()
    digest = page.locator("#h-verify .sum").text_content()
    page.get_by_role("heading", name="Files").click()
    with page.expect_download() as begun:
        page.get_by_role("link", name="manifest.json").click()
    begun.value.save_as(tmp_path / "manifest.json")
    assert hashlib.sha256((tmp_path / "manifest.json").read_bytes()).hexdigest() == digest
    page.get_by_role("button", name="Make it public").click()
    page.goto("/releases/capitals/1.0.0/")
    look(page, "11-public")
    page.goto("/desk/projects/capitals/releases/1.0.0/")
    page.get_by_label("Why").fill("One writer took their consent back.")
    page.get_by_label("Type the version").fill("1.0.0")
    page.get_by_role("button", name="Withdraw release 1.0.0").click()
    expect(page.get_by_text("One writer took their consent back.")).to_be_visible()
    look(page, "12-withdrawn")
    page.goto("/desk/projects/capitals/releases/")
    look(page, "13-list")
