"""Processes start without the libraries that take seconds to load."""

import pytest

from tests.contracts import startup
from tests.contracts.snapshots import check_snapshot


@pytest.mark.parametrize("process", startup.PROCESSES)
def test_a_process_starts_with_the_libraries_it_had_and_without_heavy_ones(process, tmp_path):
    loaded = startup.list_libraries(process, tmp_path)
    assert sorted(startup.HEAVY.intersection(loaded)) == []
    check_snapshot(f"startup/{process}", "".join(f"{name}\n" for name in loaded))
