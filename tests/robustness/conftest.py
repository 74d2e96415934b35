"""One server per test process for the tests that do not kill theirs; the seeds of the fuzzers."""

from collections.abc import Iterator

import pytest

from tests.robustness.fuzzing import SEEDS
from tests.server import RunningServer


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    """A server of this checkout with the database in force."""
    with RunningServer() as running:
        yield running


@pytest.fixture(params=SEEDS, ids="seed-{}".format)
def seed(request: pytest.FixtureRequest) -> int:
    """The random seed of a fuzzer's cases; its failures are named after it."""
    value: int = request.param
    return value
