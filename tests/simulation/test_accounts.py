"""Workers that were made elsewhere."""

import pytest

from crowd.simulation.accounts import SimulationError, accounts_from


@pytest.mark.parametrize("text", ["", "[" * 50_000, "[{}]", "7"])
def test_what_is_no_list_of_workers_is_refused(tmp_path, text):
    file = tmp_path / "tokens.json"
    file.write_text(text)
    with pytest.raises(SimulationError, match="is no list of workers"):
        accounts_from(file, 1)
