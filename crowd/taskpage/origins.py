"""Where a worker's form may go: `turkSubmitTo` comes from whoever wrote the address."""

import re
from collections.abc import Iterable

_SUBMIT_TO = re.compile(
    r"(?P<origin>https?://[a-z0-9.-]+(?::[0-9]{1,5})?|https?://\[[0-9a-f:]+\](?::[0-9]{1,5})?)"
    r"(?P<path>(?:/[A-Za-z0-9_:=~-][A-Za-z0-9_.:=~-]*)*)",
    re.IGNORECASE,
)


def known_origin(submit_to: str, allowed: Iterable[str]) -> str | None:
    """The origin of an address where it is one of `allowed`, to the letter; None otherwise.

    An address with a user's name, a backslash, a query, dots that climb or white space is never understood.
    """
    match = _SUBMIT_TO.fullmatch(submit_to)
    if match is None:
        return None
    origin = match["origin"].lower()
    return origin if origin in {each.lower().rstrip("/") for each in allowed} else None
