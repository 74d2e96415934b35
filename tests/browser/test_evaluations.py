"""A researcher finds out in a real browser which metric agrees with people, and shows it to everybody."""

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import test_releases
from tests.browser.evaluating import Evaluating
from tests.browser.looking import check
from tests.browser.people import PASSWORD, sign_in
from tests.server import RunningServer

pytestmark = pytest.mark.browser
#: Pixels of a report on a wide screen, before anything is unfolded.
MOST_HIGH = 4000
LARGE = {"21-new", "23-scores", "25-evaluation", "27-compared", "28-leaderboard"}


@pytest.fixture
def evaluating(server: RunningServer) -> Evaluating:
    server.reset(data=True)
    inside = Evaluating(server)
    inside.project("irena", PASSWORD)
    return inside


def look(page: Page, name: str) -> None:
    """Axe and sizes of the larger pages, or pictures of all."""
    test_releases.look(page, name)
    if name in LARGE and not os.environ.get("LOOK_AT"):
        check(page)
    page.set_viewport_size({"width": 1280, "height": 900})


def upload(page: Page, tmp_path: Path) -> None:
    """Scores of one system from elsewhere: a file with a mistake, then the right one."""
    page.goto("/desk/projects/measured/evaluations/external/")
    page.get_by_role("link", name="Upload scores").click()
    page.get_by_label("Name", exact=True).fill("judge-1")
    file = tmp_path / "judge.csv"
    file.write_text("query_id,system,score\nq0,good,0.9\nq1,good,high\n", encoding="utf-8")
    page.locator("#id_file").set_input_files(file)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_text("judge.csv, line 3, score: 'high' is no number.").first).to_be_visible()
    look(page, "22-mistake")
    file.write_text(
        "query_id,system,score\n" + "".join(f"q{each},good,{each / 30}\n" for each in range(30)),
        encoding="utf-8",
    )
    page.locator("#id_file").set_input_files(file)
    page.get_by_role("button", name="Upload and look").click()
    expect(page.get_by_text("60 candidates of the release have no score in the file.")).to_be_visible()
    look(page, "23-scores")
    page.get_by_role("button", name="Keep them").click()


def begin(page: Page, *metrics: str) -> None:
    """Plan an evaluation of the release."""
    page.goto("/desk/projects/measured/evaluations/new/")
    for metric in metrics:
        page.locator(f'input[name="metrics"][value="{metric}"]').check()
    page.get_by_text("Advanced").click()
    page.get_by_label("Permutation draws").fill("199")
    page.get_by_label("Bootstrap replicates").fill("50")


@pytest.mark.long
def test_from_a_release_to_its_public_leaderboard(
    evaluating: Evaluating, context_of: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    page = context_of().new_page()
    sign_in(page, "irena")
    page.goto("/desk/projects/measured/evaluations/")
    look(page, "20-empty")
    upload(page, tmp_path)
    begin(page, "bleu-1", "rouge-l", "chrf")
    page.get_by_label("judge-1").check()
    look(page, "21-new")
    page.get_by_role("button", name="How long will it take?").click()
    expect(page.get_by_text("What you have chosen takes some seconds")).to_be_visible()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Starting")).to_be_visible()
    look(page, "24-waiting")
    evaluating.work_off()
    page.reload()
    expect(page.get_by_text("agrees best with people").first).to_be_visible()
    look(page, "25-evaluation")
    folds(page)
    downloads(page)
    begin(page, "bleu-1", "chrf")
    page.get_by_role("button", name="Begin").click()
    evaluating.work_off()
    page.goto("/desk/projects/measured/evaluations/")
    look(page, "26-list")
    page.get_by_role("link", name="Compare two").click()
    expect(page.get_by_role("row", name="chrf")).to_contain_text("overlap")
    look(page, "27-compared")
    page.goto("/desk/projects/measured/evaluations/1.0.0/1/")
    page.get_by_role("button", name="Make it the public leaderboard").click()
    address = page.get_by_role("link", name="/leaderboards/").get_attribute("href")
    assert address
    nobody = context_of().new_page()
    nobody.goto(address)
    expect(nobody.get_by_role("row", name="good").first).to_be_visible()
    look(nobody, "28-leaderboard")


def folds(page: Page) -> None:
    """The report is short until a part is opened: by its address, or all of them on paper."""
    here = page.url
    short = page.evaluate("document.documentElement.scrollHeight")
    assert short <= MOST_HIGH
    page.get_by_role("navigation", name="On this page").get_by_role("link", name="All figures").click()
    expect(page.get_by_text("Pairs of answers and of systems").first).to_be_visible()
    page.goto(here.partition("#")[0])
    page.emulate_media(media="print")
    assert page.get_by_role("link", name="scores.csv").is_visible()
    page.emulate_media(media="screen")


def downloads(page: Page) -> None:
    """The files are what the page says."""
    page.get_by_role("heading", name="Files").click()
    with page.expect_download() as given:
        page.get_by_role("link", name="report.json").click()
    report = json.loads(given.value.path().read_text(encoding="utf-8"))
    assert set(report["metrics"]) == {"bleu-1", "chrf", "judge-1", "rouge-l"}
    with page.expect_download() as given:
        page.get_by_role("link", name="scores.csv").click()
    rows = list(csv.DictReader(io.StringIO(given.value.path().read_text(encoding="utf-8"))))
    assert len(rows) == 90
    assert {"human", "bleu-1", "chrf", "judge-1", "rouge-l"} <= set(rows[0])
