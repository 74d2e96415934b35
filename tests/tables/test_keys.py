"""Values of tick boxes that are keys of rows."""

import pytest

from web.forms import chosen_keys


@pytest.mark.parametrize("value", ["", "x", "-1", " 1", "²", "٣", "1_0", str(2**63), "9" * 5000])
def test_what_no_row_can_have_for_a_key_is_left_out(value):
    assert chosen_keys(["3", value, "12"]) == [3, 12]
