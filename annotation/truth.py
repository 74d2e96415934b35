"""What simulated editors know of a query: the column `truth` of its file, an object."""

from collections.abc import Mapping
from typing import Any


def truth_of(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    """The truth among what else a query's file said; nothing where it has none."""
    columns = extra.get("columns")
    found = columns.get("truth") if isinstance(columns, Mapping) else extra.get("truth")
    return found if isinstance(found, Mapping) else {}


def known_score(extra: Mapping[str, Any], system: str) -> float | None:
    """How correct a system's answer to the query is, where its file says so: `scores` by system."""
    scores = truth_of(extra).get("scores")
    known = scores.get(system) if isinstance(scores, Mapping) else None
    return float(known) if isinstance(known, int | float) and not isinstance(known, bool) else None


def known_scale(extra: Mapping[str, Any]) -> tuple[float, float] | None:
    """The lowest and the highest of these scores, where the file names them: `scale`, such as [1, 5]."""
    ends = truth_of(extra).get("scale")
    if not isinstance(ends, list) or len(ends) != 2:
        return None
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return None
    return (float(ends[0]), float(ends[1])) if ends[0] < ends[1] else None
