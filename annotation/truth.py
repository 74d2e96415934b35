"""What simulated editors know of a query: the column `truth` of its file, an object."""

from collections.abc import Mapping
from typing import Any


def truth_of(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    """The truth among what else a query's file said; nothing where it has none."""
    columns = extra.get("columns")
    found = columns.get("truth") if isinstance(columns, Mapping) else extra.get("truth")
    return found if isinstance(found, Mapping) else {}
