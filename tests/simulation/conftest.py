"""A server for the whole module, and crowds that work on it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.inside import Inside
from tests.server import RunningServer


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    with RunningServer() as running:
        yield running


@pytest.fixture(scope="session")
def work(server: RunningServer) -> Callable[..., dict[str, Any]]:
    """Make a stage, let crowds work on it, and tell what came of it: see `inside.py`."""
    inside = Inside("tests.simulation.inside", server)

    def work(*crowds: dict[str, Any], **stage: Any) -> dict[str, Any]:
        done: dict[str, Any] = inside.ask("work", crowds=crowds, **stage)
        return done

    return work
