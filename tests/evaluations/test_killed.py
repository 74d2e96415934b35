"""A worker that is killed in the middle of an evaluation costs what it was computing, and nothing more."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.evaluations.crash import POINTS
from tests.server import ROOT, drop_database, new_database

HALF_WAY = "two parts are computed"


@pytest.mark.parametrize(
    "points",
    [[HALF_WAY], pytest.param([name for name in POINTS if name != HALF_WAY], marks=pytest.mark.long)],
    ids=["half-way", "later"],
)
def test_killed_at_any_point_the_next_worker_goes_on_and_gives_the_same_files(tmp_path, points):
    database = new_database(tmp_path)
    result = subprocess.run(
        [sys.executable, "-m", "tests.evaluations.crash", *points],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "distillery.settings",
            "DATABASE_URL": database,
            "DATA_DIR": str(tmp_path),
            "RELEASES_STORAGE": str(tmp_path / "releases"),
            "PYTHONWARNINGS": "ignore",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    drop_database(database)
    assert result.returncode == 0, result.stderr[-4000:]
    report = json.loads(result.stdout)
    assert list(report["points"]) == points
    for name, found in report["points"].items():
        assert (found["status"], found["left"]) == (-signal.SIGKILL, "running"), name
        assert (found["again"], found["state"], found["events"]) == (0, "ready", 1), name
        assert found["parts"] == report["parts"] - found["kept"], name
        assert found["files"] == report["files"], name
    if HALF_WAY in points:
        assert report["points"][HALF_WAY]["kept"] == 2
