"""The whole job as a new user does it: from a query log to a data set that somebody else can check."""

import csv
import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import check
from tests.browser.people import sign_in
from tests.browser.whole import Whole, query_log, systems_answers
from tests.server import RunningServer

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
PROJECT = "/desk/projects/sixteen/"
STAGE = f"{PROJECT}stages/"
#: Pages that a list of all work could have at most; it has 25 rows a page.
MOST_PAGES = 5


@pytest.fixture
def crowd(server: RunningServer, market: str) -> Whole:
    """Workers who come when they are called."""
    return Whole(server)


def new_project(page: Page, market: str) -> None:
    page.goto("/desk/new-project/")
    page.get_by_role("link", name="Reference answers").click()
    page.get_by_text("Rare options").click()
    page.get_by_label("Title", exact=True).fill("Sixteen questions")
    page.get_by_label("Short name").fill("sixteen")
    page.get_by_label("Licence").fill("CC-BY-4.0")
    page.get_by_label("Marketplace", exact=True).select_option(market)
    page.get_by_role("group", name="Screening").get_by_label("People per unit").fill("2")
    page.get_by_role("group", name="Distillation").get_by_label("People per unit").fill("2")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("heading", name="Is this right?")).to_be_visible()
    page.get_by_role("button", name="Make the project").click()
    expect(page.get_by_role("heading", level=1, name="Sixteen questions")).to_be_visible()


def upload(page: Page, crowd: Whole, where: str, file: Path, stored: str) -> None:
    """Upload a file, look at the preview, import it, and wait for the report."""
    page.goto(f"{PROJECT}{where}")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload and look").click()
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url("**/running/**")
    crowd.run_jobs()
    page.reload()
    expect(page.locator("main")).to_contain_text(re.compile(stored))


def open_stage(page: Page, crowd: Whole, name: str, people: int, mix: str = "diligent") -> None:
    """See what the stage costs, open it, and let simulated workers do it."""
    page.goto(f"{STAGE}{name}/open/")
    page.get_by_role("button", name=re.compile("Open and publish for")).click()
    expect(page.get_by_text("The stage is open")).to_be_visible()
    crowd.tick()
    assert crowd.crowd("sixteen", name, people, mix) > 0


def decide_tie(page: Page) -> None:
    """Read a query whose editors were of two minds, and accept it; now and then they agree about all."""
    page.goto(f"{PROJECT}adjudication/")
    page.get_by_role("heading", level=1).wait_for()
    ties = page.locator("tbody tr").filter(has_not_text="one flag").get_by_role("link")
    if not ties.count():
        return
    ties.first.click()
    page.get_by_role("button", name="Accept the query", exact=True).click()
    expect(page.get_by_role("status")).to_be_visible()


def review(page: Page, crowd: Whole) -> None:
    """Read the answers to one query and approve them; then the other work, a page of the list at a time."""
    page.goto(f"{STAGE}distillation/answers/")
    page.locator("tbody a").first.click()
    page.get_by_role("button", name=re.compile("Approve")).first.click()
    expect(page.get_by_role("status")).to_contain_text("pproved")
    for _ in range(MOST_PAGES):
        crowd.tick()
        page.goto(f"{STAGE}distillation/work/")
        boxes = page.locator("tbody").get_by_role("checkbox").all()
        if not boxes:
            break
        for box in boxes:
            box.check()
        page.get_by_role("button", name="Approve the chosen").click()
        expect(page.get_by_role("status")).to_contain_text("approved: on the way to the marketplace.")
    expect(page.locator("main")).to_contain_text("Nothing waits for a decision.")


def new_judging_stage(page: Page, market: str) -> None:
    page.goto(f"{PROJECT}new-stage/?kind=judging")
    page.get_by_label("Marketplace", exact=True).select_option(market)
    page.get_by_label("Reward").fill("0.60")
    page.get_by_label("People per unit").fill("4")
    page.get_by_label("Units per HIT").fill("4")  # two HITs at least, however few queries were answered
    page.get_by_label("Budget").fill("80.00")
    page.get_by_role("link", name="Checks and approval").click()
    page.get_by_label("Checks per HIT").fill("3")
    page.get_by_role("button", name="Save the draft").click()
    page.get_by_text("The draft is there").wait_for()


def filter_and_top_up(page: Page, crowd: Whole) -> None:
    """See what the filters would do, apply them, have others asked in place of whom they removed."""
    page.goto(f"{STAGE}judging/judging/filters/")
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.locator(".preview .sentence")).to_be_visible()
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("The filters are being applied.")
    crowd.run_jobs()
    expect(page.get_by_text(re.compile(r"removed\s+[1-9]\d*\s+of"))).to_be_visible()
    page.get_by_role("button", name=re.compile("Ask again now, for")).click()
    expect(page.get_by_role("status").first).to_be_visible()
    crowd.run_jobs()
    crowd.tick()
    assert crowd.crowd("sixteen", "judging", 5) > 0


def release(page: Page, crowd: Whole, folder: Path) -> Path:
    """Look for what tells who somebody is, build, download; the folder that it was unpacked into."""
    page.goto(f"{PROJECT}releases/")
    page.get_by_role("link", name="Make the first release").click()
    page.get_by_role("button", name="Go on to the formats").click()
    page.get_by_role("button", name="Go on to privacy").click()
    page.get_by_role("button", name="Check all texts").click()
    page.wait_for_url("**/check/**")
    crowd.run_jobs()
    page.goto(f"{PROJECT}releases/new/privacy/")
    if page.get_by_role("button", name="Black them out").count():
        page.get_by_label("Which").select_option("all")
        page.get_by_role("button", name="Black them out").click()
    page.get_by_role("link", name="Go on to the preview").click()
    expect(page.get_by_role("region", name=re.compile("First rows of")).first).to_be_visible()
    page.get_by_role("link", name="Go on to the data card").click()
    page.get_by_role("button", name="Build the release").click()
    page.wait_for_url("**/releases/1.0.0/")
    crowd.run_jobs()
    page.goto(f"{PROJECT}releases/1.0.0/")
    check(page)
    with page.expect_download() as started:
        page.get_by_role("link", name="Download all (ZIP)").click()
    archive = folder / "release.zip"
    started.value.save_as(archive)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder / "release")
    return next((folder / "release").rglob("manifest.json")).parent


def answered(page: Page) -> set[str]:
    """Ids of the queries that have their answers, as the table of queries has them as a file."""
    page.goto(f"{PROJECT}queries/?status=answered")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download as CSV").click()
    with started.value.path().open(encoding="utf-8", newline="") as file:
        return {row["key"] for row in csv.DictReader(file)}


def test_from_a_query_log_to_a_release_that_verifies(
    server, market, crowd, administrator, context_of, tmp_path
):
    page = context_of(accept_downloads=True).new_page()
    sign_in(page, administrator)
    new_project(page, market)
    upload(page, crowd, "imports/new/", query_log(tmp_path, 8), "8")
    open_stage(page, crowd, "screening", 6)
    decide_tie(page)
    open_stage(page, crowd, "curation", 4)
    open_stage(page, crowd, "distillation", 6)
    review(page, crowd)
    upload(page, crowd, "systems/imports/new/", systems_answers(tmp_path, answered(page)), "sample-a")
    new_judging_stage(page, market)
    open_stage(page, crowd, "judging", 2, "reversed")  # they fail the checks of their HITs
    assert crowd.crowd("sixteen", "judging", 4) > 0
    filter_and_top_up(page, crowd)
    folder = release(page, crowd, tmp_path)

    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert manifest["version"] == "1.0.0"
    assert "all as they were built" in server.console("release", "verify", str(folder))
    page.goto(PROJECT)
    check(page)
    changed = next(folder.rglob("*.jsonl"))
    changed.write_bytes(changed.read_bytes().replace(b"a", b"b", 1))
    with pytest.raises(RuntimeError, match="not as it was built: one problem"):
        server.console("release", "verify", str(folder))
