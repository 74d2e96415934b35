"""From waiting queries to curated sets, through the marketplace of a running server."""

import json
import subprocess
import sys

import pytest

from tests.server import ROOT, RunningServer


@pytest.fixture(scope="module")
def campaign():
    """What six queries became: 0 and 3 are fit, 1 and 4 navigational, 2 and 5 fit but not answerable."""
    with RunningServer() as server:
        done = subprocess.run(
            [sys.executable, "-m", "tests.annotation.inside", json.dumps({"people": 8, "queries": 6})],
            cwd=ROOT,
            env={**server.environment, "TASK_URL": server.url},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.mark.long
def test_screening_accepts_what_is_fit_and_curation_makes_sets_of_what_a_passage_answers(campaign):
    assert campaign["troubles"] == []
    assert (campaign["votes"], campaign["selections"]) == (18, 4)
    assert 18 <= campaign["barred"] <= 22  # somebody who did both is barred once
    assert campaign["screened"] == {
        "q0": "accepted",
        "q1": "excluded",
        "q2": "accepted",
        "q3": "accepted",
        "q4": "excluded",
        "q5": "accepted",
    }
    assert campaign["reasons"]["q1"].startswith("3 of 3: navigational")
    assert {key: campaign["curated"][key] for key in ("q0", "q2", "q3", "q5")} == {
        "q0": "curated",
        "q2": "unanswerable",
        "q3": "curated",
        "q5": "unanswerable",
    }
    assert campaign["sets"] == {"q0": ["p2"], "q3": ["p2"]}
