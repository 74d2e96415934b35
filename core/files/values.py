"""Values of cells as tables write them: numbers with a decimal comma, yes and no."""

import re
from typing import Any

#: How tools write a value that is missing.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "."})
_YES = frozenset({"true", "yes", "1", "1.0", "t", "y"})
_NO = frozenset({*MISSING, "false", "no", "0", "0.0", "f", "n"})
_COMMA = re.compile(r"\s*[+-]?[0-9]+,[0-9]+\s*")
#: One comma with three digits behind it, and no zero before: 1,234 is a thousand or a bit more than one.
_EITHER = re.compile(r"\s*[+-]?[1-9][0-9]{0,2},[0-9]{3}\s*")


class AmbiguousNumberError(ValueError):
    """A number that may have a decimal comma or one between thousands, in a sentence with a remedy."""


def with_point(text: str) -> str:
    """The number with a decimal point where it has a decimal comma; any other text as it is.

    AmbiguousNumberError for 1,234.
    """
    if "," not in text or not _COMMA.fullmatch(text):
        return text
    if _EITHER.fullmatch(text):
        bare = text.strip()
        raise AmbiguousNumberError(
            f"{bare} may be {bare.replace(',', '.')} or {bare.replace(',', '')}: "
            "write it with a decimal point, or without a comma."
        )
    return text.replace(",", ".")


def parse_flag(value: Any) -> bool | None:
    """True or false; a missing value is false. None where the value is neither."""
    text = "" if value is None else str(value).strip().casefold()
    return text in _YES if text in _YES | _NO else None
