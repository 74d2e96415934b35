"""Yes and no as tables write them."""

from typing import Any

#: How tools write a value that is missing.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "."})
_YES = frozenset({"true", "yes", "1", "1.0", "t", "y"})
_NO = frozenset({*MISSING, "false", "no", "0", "0.0", "f", "n"})


def parse_flag(value: Any) -> bool | None:
    """True or false; a missing value is false. None where the value is neither."""
    text = "" if value is None else str(value).strip().casefold()
    return text in _YES if text in _YES | _NO else None
