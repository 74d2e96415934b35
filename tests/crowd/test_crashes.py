"""Killed at every commit and every call: afterwards our books are the marketplace's books."""

import json
import subprocess
import sys

import pytest

from tests.crowd.crash import BRIEF
from tests.server import ROOT, RunningServer


@pytest.fixture(scope="module")
def market():
    with RunningServer() as server:
        yield server


#: A bonus goes through all that the others do: its work was published, submitted and approved before. The two
#: that take longest are made of what the others do on both databases.
SCENARIOS = [
    "bonus",
    *(pytest.param(name, marks=pytest.mark.long) for name in ("publish", "approve", "extend")),
    pytest.param("sources", marks=[pytest.mark.long, pytest.mark.only_on("postgresql")]),
    pytest.param("close_one", marks=[pytest.mark.long, pytest.mark.only_on("sqlite")]),
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_killed_anywhere_everything_is_done_once_and_booked_as_it_was_paid(market, scenario):
    """Every point in turn, every lost answer, and every doubt again a day later; see tests/crowd/crash.py."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.crowd.crash", market.url, scenario],
        cwd=ROOT,
        env={**market.environment, "TASK_URL": market.url, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    report = json.loads(result.stdout)[scenario]
    assert report["faults"] == []
    assert report["killed"] == len(report["points"])
    assert report["killed"] >= 6
    assert report["lost"] >= 1 or scenario in BRIEF
