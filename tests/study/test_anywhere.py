"""One campaign over a link, a panel and the own marketplace: one release, books that agree to the cent."""

import json
import subprocess
import sys

import pytest

from tests.server import ROOT, RunningServer

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def campaign():
    """What the campaign came to, on one server."""
    with RunningServer() as server:
        done = subprocess.run(
            [sys.executable, "-m", "tests.study.anywhere"],
            cwd=ROOT,
            env={**server.environment, "TASK_URL": server.url},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout)


def test_everybody_was_approved_and_nothing_stays_reserved(campaign):
    assert campaign["states"] == {name: ["approved"] * 2 for name in ("answers", "judging", "poll")}
    assert (campaign["reserved"], campaign["troubles"]) == (0, [])


def test_one_release_has_what_all_of_them_did(campaign):
    assert {name: campaign["rows"][name] for name in ("answers", "candidates", "ratings")} == {
        "answers": 2,
        "candidates": 1,
        "ratings": 2,
    }


def test_the_books_of_all_three_agree_to_the_cent(campaign):
    spent, panel, market = campaign["spent"], campaign["panel"], campaign["marketplace"]
    assert spent["answers"] == {"cents__sum": 20, "fee_cents__sum": 0}
    assert panel["rewards"] == [20] * panel["submissions"]
    assert spent["judging"] == {"cents__sum": sum(panel["rewards"]), "fee_cents__sum": panel["fees"]}
    assert spent["poll"] == {"cents__sum": market["paid"], "fee_cents__sum": market["fees"]}
    assert market["paid"] == 60
