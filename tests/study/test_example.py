"""The example of the documentation, run: from the file to HITs on the marketplace of an installation."""

import json
import os
import subprocess
import sys

import pytest

from crowd.study.planning import plan
from crowd.study.reader import read
from tests.cases import apart
from tests.server import ROOT, RunningServer
from tests.study.conftest import EXAMPLE, KEYS

OPEN_IT = """
from crowd.models import Stage
from crowd.services.stages import open_stage
open_stage(stage=Stage.objects.select_related("project", "endpoint").get(slug="first-look"))
"""


@pytest.fixture(scope="module")
def server():
    with RunningServer() as running:
        yield running


def test_the_example_is_applied_opened_and_on_offer(server, tmp_path):
    keys = server.console("marketplace", "requester", "create", "Reading lab", "--json")
    server.console("marketplace", "deposit", "Reading lab", "25.00")
    study = tmp_path / "poll.toml"
    address = f'preset = "local"\nurl = "{server.url}/mturk/api"'
    study.write_text(EXAMPLE.read_text("utf-8").replace('preset = "local"', address), "utf-8")

    applied = subprocess.run(
        [sys.executable, "manage.py", "study", "apply", str(study), "--yes"],
        cwd=ROOT,
        env={
            **server.environment,
            "PYTHONWARNINGS": "ignore",
            "LOCAL_ACCESS_KEY": keys["access_key"],
            "LOCAL_SECRET": keys["secret"],
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert applied.returncode == 0, applied.stderr[-4000:]
    assert "Applied." in applied.stdout
    server.console("shell", "--no-imports", "-c", OPEN_IT)
    assert server.console("crowd", "tick", "--json")["sent"] >= 2
    balance = server.console("crowd", "endpoint", "check", "local", "--json")
    assert "21.40" in json.dumps(balance)


@pytest.mark.django_db
def test_every_example_can_be_applied(subtests):
    for path in sorted(EXAMPLE.parent.glob("*.toml")):
        with apart(subtests, path=path):
            assert len(plan(read(str(path)), KEYS, to_apply=False).cautions) <= 1


def test_a_database_without_tables_is_said_in_words(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLE.parent.parent / "manage.py"), "study", "check", str(EXAMPLE)],
        env={**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/empty"} | KEYS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Run `manage.py migrate`" in done.stderr
    assert "Traceback" not in done.stderr
