"""`distillery judge` as a person uses it: one command, a link on a telephone, answers, results."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.looking import check
from tests.server import ROOT, free_port
from tests.workbooks import write_workbook

pytestmark = [pytest.mark.browser, pytest.mark.only_on("sqlite")]
PHONE = {"width": 390, "height": 800}
ROWS = [
    ["Answers of my thesis"],
    ["question", "system", "answer", "reference"],
    *[[f"What is {thing}?", name, f"{name} says what {thing} is.", f"It is {thing}."]
      for thing in ("drift", "potlatch") for name in ("bm25", "gpt")],
]  # fmt: skip


class OneFile:
    """The commands in a data folder of their own, as an installation without settings runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        own = (
            "DATABASE_URL",
            "REDIS_URL",
            "DATA_DIR",
            "PUBLIC_URL",
            "TASK_URL",
            "SECRET_KEY",
            "ALLOWED_HOSTS",
        )
        self.environment = {name: value for name, value in os.environ.items() if name not in own}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(ROOT / "manage.py"), *arguments, "--data", str(self.folder / "data")]

    @contextlib.contextmanager
    def served(self, name: str, file: Path, *options: str) -> Iterator[dict]:
        """What the command prints once people can open the link; at the end it gets a Ctrl-C."""
        command = self.command(name, str(file), "--port", str(self.port), "--no-open", "--json", *options)
        process = subprocess.Popen(
            command,
            env=self.environment,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            yield json.loads(line)
        finally:
            process.send_signal(signal.SIGINT)
            _, words = process.communicate(timeout=60)
        assert process.returncode == 0, words

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def one_file(tmp_path: Path) -> OneFile:
    return OneFile(tmp_path)


def test_two_commands_from_a_workbook_to_results(
    one_file: OneFile, context_of: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    file = write_workbook(tmp_path / "answers.xlsx", {"Notes": [["Read me"]], "Data": ROWS})
    with one_file.served("judge", file, "--judges", "1") as facts:
        assert facts["read_as"]["columns"]["references"] == ["reference"]
        assert (facts["read_as"]["sheet"], facts["stage"]) == ("Data", "judging")
        page = context_of(viewport=PHONE).new_page()
        page.goto(facts["link"])
        page.get_by_role("button", name="agree", exact=False).first.click()
        check(page)
        scores = page.locator('input[type="radio"][value="4"]')
        for at in range(scores.count()):
            scores.nth(at).check(force=True)
        page.get_by_role("button", name="Submit").click()
        expect(page.get_by_role("heading", name="Done")).to_be_visible()
        desk = context_of().new_page()
        desk.goto(facts["sign_in"])
        check(desk)
        desk.get_by_role("button", name="Sign in").click()
        expect(desk.get_by_role("heading", name="Answers", level=1)).to_be_visible()
        assert "distillation" not in desk.get_by_role("main").inner_text().partition("From queries")[0]
    out = tmp_path / "out"
    done = one_file.run("results", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "4 ratings of 4 answers, from 1 to 5; people: 1." in done.stdout
    results = json.loads((out / "results.json").read_text("utf-8"))
    assert {(row["system"], row["n"], row["mean"]) for row in results["systems"]} == {
        ("bm25", 2, 4),
        ("gpt", 2, 4),
    }
