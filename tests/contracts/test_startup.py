"""Processes start without the libraries that take seconds to load."""

import pytest

from tests.contracts import startup
from tests.contracts.snapshots import check_snapshot

#: On PostgreSQL and Redis their drivers come, too.
pytestmark = pytest.mark.only_on("sqlite")


@pytest.mark.parametrize("process", startup.PROCESSES)
def test_a_process_starts_with_the_libraries_it_had_and_without_heavy_ones(process, tmp_path):
    found = startup.load(process, tmp_path)
    loaded, sign_in = found["libraries"], found["sign_in"]
    assert sorted(startup.HEAVY.intersection(loaded)) == []
    check_snapshot(f"startup/{process}", "".join(f"{name}\n" for name in loaded))
    if process != "web":
        assert len(sign_in) <= startup.MOST_OF_SIGN_IN, sign_in
        pages = [name for name in sign_in if not {*startup.PAGES_OF_SIGN_IN}.isdisjoint(name.split("."))]
        assert pages == [], "they wait for a page of sign-in"
