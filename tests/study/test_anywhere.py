"""One campaign over a link, a panel and the own marketplace: one release, books that agree to the cent."""

import json
import subprocess
import sys

import pytest

from tests.server import ROOT, RunningServer

pytestmark = pytest.mark.long


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


def test_the_books_of_all_three_agree_to_the_cent_and_one_release_has_what_they_did(campaign):
    assert campaign["states"] == {
        **{name: ["approved"] * 2 for name in ("answers", "judging", "poll")},
        "everywhere": ["approved"] * 3,
    }
    assert (campaign["reserved"], campaign["troubles"]) == (0, [])
    assert {name: campaign["rows"][name] for name in ("answers", "candidates", "ratings")} == {
        "answers": 2,
        "candidates": 1,
        "ratings": 5,
    }
    spent, panel, market = campaign["spent"], campaign["panel"], campaign["marketplace"]
    assert spent["answers"] == {"cents__sum": 20, "fee_cents__sum": 0}
    assert panel["rewards"] == [20] * panel["submissions"]
    assert spent["judging"] == {"cents__sum": sum(panel["rewards"]), "fee_cents__sum": panel["fees"]}
    assert spent["poll"] == {"cents__sum": market["paid"], "fee_cents__sum": market["fees"]}
    assert market["paid"] == 60


def test_one_stage_runs_over_all_three_asks_nobody_twice_and_its_books_agree(campaign):
    mixed = campaign["everywhere"]
    assert mixed["divided"] == {"local": 1, "links": 1, "pool": 1}
    assert mixed["link_tasks"] == 1  # the second visitor found no place
    assert mixed["units"] == [3]
    assert {name: counts[0] for name, counts in mixed["sources"].items()} == {
        "local": 1,
        "links": 1,
        "pool": 1,
    }
    spent = {name: counts[1] for name, counts in mixed["sources"].items()}
    assert spent == {"local": mixed["market_paid"], "links": 10, "pool": mixed["panel_paid"]}
    assert (spent["local"], spent["pool"]) == (15, 20)
    assert mixed["spent"] == sum(spent.values()) + mixed["fees"]
    assert (mixed["reserved"], [counts[2] for counts in mixed["sources"].values()]) == (0, [0, 0, 0])
    assert campaign["places"] == {"local": 1, "links": 1, "pool": 1}
    assert campaign["rows"]["sources"] == 3
    assert "| `pool` (prolific) | 1 | 1 | 0 | 0 |" in campaign["card"].replace("\\", "")
