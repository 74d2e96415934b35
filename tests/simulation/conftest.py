"""A server for the whole module, and crowds that work on it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.server import ROOT, RunningServer


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    with RunningServer() as running:
        yield running


@pytest.fixture(scope="session")
def work(server: RunningServer) -> Callable[..., dict[str, Any]]:
    """Make a stage, let crowds work on it, and tell what came of it: see `inside.py`."""

    def work(*crowds: dict[str, Any], **stage: Any) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "tests.simulation.inside", json.dumps({"crowds": crowds, **stage})],
            cwd=ROOT,
            env={**server.environment, "TASK_URL": server.url},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return work
