"""Other people's programs, each in a process of its own from the folder `.clients`, against our server."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients import Requester, ScriptedWorker
from tests.clients_of_others.running import Outside, has_paws
from tests.server import ROOT, RunningServer


def pytest_report_header() -> list[str]:
    return [] if has_paws() else ["R's package paws is not installed: it is not tried"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All tests of this folder need what `make test-clients` installs.

    R's packages come from a registry of their own. Where R has no paws, its test is left out, and the report
    says so.
    """
    for item in items:
        if "tests/clients_of_others/" in item.path.as_posix():
            item.add_marker(pytest.mark.clients)
    if not has_paws():
        of_r = [item for item in items if item.path.name == "test_r.py"]
        config.hook.pytest_deselected(items=of_r)
        items[:] = [item for item in items if item not in of_r]


@pytest.fixture(scope="session")
def environment_of_others() -> Path:
    """The environment that has the programs; `CLIENTS` names another one, say of another Python."""
    folder = Path(os.environ.get("CLIENTS") or ROOT / ".clients").resolve()
    if not (folder / "bin" / "python").exists():
        pytest.fail("There is no environment with other people's clients: run `make test-clients`.")
    return folder


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    """One server for all of them."""
    with RunningServer(environment={"MARKETPLACE_TOPIC_HOSTS": "127.0.0.1"}) as running:
        yield running


@pytest.fixture
def requester(server: RunningServer) -> Requester:
    """An account with money, to look at the marketplace ourselves."""
    return server.requester()


@pytest.fixture
def worker(server: RunningServer) -> ScriptedWorker:
    """Somebody in the United States, whom most scripts ask for."""
    return server.worker(country="US")


@pytest.fixture
def outside(environment_of_others: Path, requester: Requester, tmp_path: Path) -> Outside:
    """How a program of theirs is started: with this requester's keys, and nothing of this process."""
    return Outside(environment_of_others, requester, tmp_path)
