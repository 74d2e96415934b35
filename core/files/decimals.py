"""Numbers with a decimal comma, as spreadsheets of half the world write them."""

import re

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
