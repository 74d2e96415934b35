"""One server per test process for the tests that do not kill theirs."""

from collections.abc import Iterator

import pytest

from tests.server import RunningServer


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    """A server of this checkout with the database in force."""
    with RunningServer() as running:
        yield running
