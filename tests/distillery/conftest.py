"""Installations for tests."""

import pytest

from tests.distillery.installation import METRICS_TOKEN, Installation


@pytest.fixture
def installation(tmp_path):
    made = Installation(tmp_path)
    yield made
    made.leave()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """An installation on which `up` runs; the tests of a module share it."""
    made = Installation(tmp_path_factory.mktemp("running"))
    try:
        made.up(METRICS_TOKEN=METRICS_TOKEN)
        yield made
    finally:
        made.leave()
