"""The study of `examples/api_study.py`, against an installation with web server, worker and timer."""

import json
import os
import socket
import subprocess
import sys

import pytest

from tests.distillery.installation import ROOT, Installation

pytestmark = [pytest.mark.only_on("linux"), pytest.mark.only_on("sqlite"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    """An installation on which `up` runs, with a marketplace that `local` names and an account `olga`."""
    made = Installation(tmp_path_factory.mktemp("api"))
    try:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        rates = {"MARKETPLACE_REQUESTS_PER_SECOND": "0", "API_REQUESTS_PER_SECOND": "0"}
        made.up("--port", str(port), PUBLIC_URL=f"http://127.0.0.1:{port}", **rates)
        made.address = f"http://127.0.0.1:{port}"
        yield made
    finally:
        made.leave()


def manage(installation, *words):
    done = installation.manage(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def token_of(installation):
    manage(installation, "shell", "-c", "from django.contrib.auth.models import User; "
           "User.objects.create_superuser('olga')")  # fmt: skip
    keys = json.loads(manage(installation, "marketplace", "requester", "create", "Lab", "--json"))
    manage(installation, "marketplace", "deposit", "Lab", "500.00", "--reference", "PO-1")
    url = f"{installation.address}/mturk/api/"
    add = ["crowd", "endpoint", "add", "local", "--preset", "local", "--url", url]
    add += ["--key-env", "LOCAL_ACCESS_KEY", "--secret-env", "LOCAL_SECRET"]
    done = installation.manage(*add, LOCAL_ACCESS_KEY=keys["access_key"], LOCAL_SECRET=keys["secret"])
    assert done.returncode == 0, done.stderr
    scopes = "read,collect,decide,pay,publish,admin"
    return json.loads(manage(installation, "api-token", "create", "olga", "--scope", scopes, "--json"))[
        "token"
    ]


def test_the_example_runs_a_study_from_queries_to_an_evaluation(installation):
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "distributions" / "client"),
        "DISTILLERY_URL": installation.address,
        "DISTILLERY_TOKEN": token_of(installation),
    }
    script = [sys.executable, str(ROOT / "examples" / "api_study.py")]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False, timeout=560)
    assert done.returncode == 0, done.stderr + installation.words()[-3000:]
    assert "4 queries." in done.stdout
    assert "Release 1.0.0: " in done.stdout and "best metric" in done.stdout
