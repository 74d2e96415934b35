"""Texts of a table of ratings as values: whole numbers, times, and what an attention check accepts."""

import re

import numpy as np

from quality.ratings import Scale

_LONGEST = 1000
_NO = {"", "0", "0.0", "no", "n", "false", "f", "none", "null", "nan"}
_WHOLE = re.compile(r"[+-]?[0-9]+(\.0*)?")
_BOUND = re.compile(r"(<=|>=|≤|≥)\s*([+-]?[0-9]+)")
_RANGE = re.compile(r"([0-9]+)\s*(?:-|\N{EN DASH}|\.\.)\s*([0-9]+)")
_BETWEEN = re.compile(r"[\s|/;,]+")


def means_yes(text: str) -> bool:
    """Whether a text marks its row: anything but nothing, 0, no, false and the like."""
    return text.casefold() not in _NO


def whole(text: str) -> int | None:
    """The whole number that a text is (`3`, `3.0`), or None."""
    return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) and len(text) < _LONGEST else None


def number(text: str) -> float | None:
    """The finite number that a text is, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def times(texts: list[str]) -> list[float | None]:
    """Seconds since 1970 for each ISO 8601 time, None for other texts."""
    import pandas as pd  # noqa: PLC0415  # takes seconds to import

    found = pd.to_datetime(pd.Series(texts, dtype=object), utc=True, format="ISO8601", errors="coerce")
    return [None if pd.isna(time) else time.timestamp() for time in found]


def accepted_scores(text: str, scale: Scale) -> set[int]:
    """The scores on the scale that an attention check accepts; none for a text that says none."""
    if bound := _BOUND.fullmatch(text):
        limit = int(bound[2])
        below = bound[1] in {"<=", "≤"}
        return {
            value
            for value in range(scale.low, scale.high + 1)
            if (value <= limit if below else value >= limit)
        }
    if span := _RANGE.fullmatch(text):
        return set(range(int(span[1]), int(span[2]) + 1)) & set(range(scale.low, scale.high + 1))
    values = [whole(part) for part in _BETWEEN.split(text) if part]
    if any(value is None or not scale.low <= value <= scale.high for value in values):
        return set()
    return {value for value in values if value is not None}
