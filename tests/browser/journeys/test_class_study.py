"""A class study by its researcher: from a messy table of questions to a leaderboard of two systems.

Everything is done on pages, by what is seen on them. The class is simulated, by the page of its link.
"""

import csv
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.campaign import Campaign
from tests.browser.journeys.counting import Traveller
from tests.browser.people import sign_in
from tests.browser.whole import CANDIDATES, PASSAGES, QUERIES
from tests.server import RunningServer

pytestmark = pytest.mark.browser

MOST_CLICKS, MOST_FIELDS = 60, 25
_QUESTIONS, _PASSAGES, _PEOPLE = 3, 12, "3"
_SET_UP = """
from crowd.services.endpoints import create_endpoint
create_endpoint(name="links", preset="link", access_key="", secret="")
"""


class Class(Traveller):
    """The researcher of a class study, whose server's jobs and rounds run when they wait for something."""

    def __init__(self, page: Page, server: RunningServer) -> None:
        super().__init__(page)
        self._campaign = Campaign(server)

    def wait(self, words: str | re.Pattern[str]) -> None:
        """What was begun is done; the page shows it by itself."""
        self._campaign.run_jobs()
        expect(self.page.locator("main")).to_contain_text(words)

    def rehearse(self) -> None:
        """The class comes, and does what there is."""
        self.fill("Simulated people", _PEOPLE)
        self.press("Rehearse with simulated people")
        self.pass_time()

    def pass_time(self) -> None:
        """Jobs run, and rounds publish and collect."""
        self._campaign.run_jobs()
        self._campaign.tick()


def _rows(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _write(file: Path, rows: list[list[object]], *, encoding: str = "utf-8", mark: str = ",") -> Path:
    with file.open("w", encoding=encoding, errors="replace", newline="") as opened:
        csv.writer(opened, delimiter=mark).writerows(rows)
    return file


def tables(folder: Path) -> tuple[Path, Path, Path]:
    """Questions as a spreadsheet abroad saves them, passages, and answers with a column for each system."""
    answers: dict[str, dict[str, str]] = {}
    for row in _rows(CANDIDATES):
        answers.setdefault(str(row["query_id"]), {})[str(row["system"])] = str(row["answer"])
    asked = [row for row in _rows(QUERIES) if len(answers.get(str(row["id"]), {})) == 2][:_QUESTIONS]
    log: list[list[object]] = [["Nr", "Frage", "Häufigkeit"]]
    for number, row in enumerate(asked, 1):
        text = str(row["text"])
        log += [[number, text, 3], ["", "", ""], [number, f"  {text.upper()}", 1]]
    wanted = {key for row in asked for key in row["truth"].get("passages", [])}  # type: ignore[attr-defined]
    passages = sorted(_rows(PASSAGES), key=lambda row: row["id"] not in wanted)[:_PASSAGES]
    systems = [[row["text"], *answers[str(row["id"])].values()] for row in asked]
    return (
        _write(folder / "log.csv", log, encoding="cp1252", mark=";"),
        _write(folder / "passages.csv", [["id", "text"], *([row["id"], row["text"]] for row in passages)]),
        _write(folder / "answers.csv", [["Frage", "alpha", "beta"], *systems], encoding="cp1252", mark=";"),
    )


def bring_data(me: Class, folder: Path) -> None:
    """A project, its questions, passages and answers; each report leads on to what is next."""
    questions, passages, answers = tables(folder)
    me.follow("New project", within="main")
    me.follow("A class study")
    me.press("Make the project")
    me.follow("Import queries", within=".next-steps")
    me.bring("File", questions)
    me.press("Upload and look")
    me.choose("Query", "Frage")
    me.choose("Count", "Häufigkeit")
    me.press("Import")
    me.wait("Distinct queries")
    me.follow("Next: Add passages")
    me.follow("Add passages")
    me.bring("File", passages)
    me.press("Upload and look")
    me.press("Add the passages")
    me.wait(f"{_PASSAGES} passages added")
    me.follow("Next: Import systems' answers")
    me.bring("File", answers)
    me.press("Upload and look")
    me.choose("Query", "Frage")
    me.fill("Columns with a system each", "alpha, beta")
    me.press("Import")
    me.wait("By system")


def open_to_people(me: Class) -> None:
    """The three stages, and the link by which people come; a rehearsal for each part of the work."""
    for stage in ("Curation", "Distillation"):
        me.follow(f"Next: Open {stage}")
        open_stage(me)
    me.follow("Next: Make a study link")
    me.press("Make the link")
    me.rehearse()
    me.rehearse()
    me.follow("A class study", within=".trail")
    me.follow("Distillation", within="main")
    me.follow("Work", within=".part-tabs")
    me.tick("Choose all on this page")
    me.press("Approve the chosen")
    expect(me.page.get_by_text("approved: on the way")).to_be_visible()
    me.follow("A class study", within=".trail")
    me.follow("Open Judging")
    open_stage(me)
    me.follow("A class study", within=".trail")
    me.go("People and links")
    me.follow("A class study", within="tbody")
    me.rehearse()


def open_stage(me: Class) -> None:
    me.click(me.page.get_by_role("button", name=re.compile("^Open")))
    expect(me.page.get_by_text("The stage is open")).to_be_visible()
    me.pass_time()


def publish(me: Class) -> None:
    """A release whose texts were checked, its evaluation, and the leaderboard."""
    me.follow("A class study", within=".trail")
    me.go("Releases")
    me.follow("Make the first release")
    me.press("Go on to the formats")
    me.press("Go on to privacy")
    me.press("Check all texts")
    me.wait("What was found")
    me.follow("Go on to the preview")
    me.follow("Go on to the data card")
    me.press("Build the release")
    me.wait("How to load it")
    me.go("Evaluations")
    me.follow("Make the first evaluation")
    me.press("Begin")
    me.wait("Before you quote it")
    me.press("Make it the public leaderboard")
    me.click(me.page.get_by_role("link", name=re.compile("leaderboards")))


def test_from_a_messy_table_to_a_leaderboard(
    server: RunningServer,
    administrator: str,
    context_of: Callable[..., BrowserContext],
    tmp_path: Path,
) -> None:
    Campaign(server).begin()
    server.console("shell", "--no-imports", "-c", _SET_UP)
    page = context_of(viewport={"width": 1280, "height": 800}).new_page()
    sign_in(page, administrator, "/desk/projects/")
    me = Class(page, server)
    bring_data(me, tmp_path)
    open_to_people(me)
    publish(me)
    expect(page.get_by_role("row", name="alpha").first).to_be_visible()
    sys.stdout.write(f"\nA class study: {me.effort}\n")
    assert me.effort.clicks <= MOST_CLICKS
    assert me.effort.fields <= MOST_FIELDS
