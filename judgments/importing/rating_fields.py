"""Texts of ratings as values: exact numbers, times, and what an attention check accepts."""

import math
import re
from fractions import Fraction

from core.files.cells import AmbiguousNumberError, with_point
from metrics.agreement.scale import Scale

_LONGEST = 1000
_NO = {"", "0", "0.0", "no", "n", "false", "f", "none", "null", "nan"}
_WHOLE = re.compile(r"[+-]?[0-9]+([.,]0*)?")
_EXACT = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_BOUND = re.compile(r"(<=|>=|≤|≥)\s*([+-]?[0-9]+(?:\.[0-9]+)?)")
_RANGE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(?:-|\N{EN DASH}|\.\.)\s*([0-9]+(?:\.[0-9]+)?)")
_BETWEEN = re.compile(r"[\s|/;,]+")


def means_yes(text: str) -> bool:
    """Whether a text marks its row: anything but nothing, 0, no, false and the like."""
    return text.casefold() not in _NO


def whole(text: str) -> int | None:
    """The whole number that a text is (`3`, `3.0`), or None."""
    return int(re.split("[.,]", text)[0]) if _WHOLE.fullmatch(text) and len(text) < _LONGEST else None


def exact(text: str) -> Fraction | None:
    """The decimal number that a text is (`3`, `2.5`, `2,5`), or None."""
    try:
        plain = with_point(text).rstrip(".,")
    except AmbiguousNumberError:
        return None
    return Fraction(plain) if _EXACT.fullmatch(plain) and len(plain) < _LONGEST else None


def number(text: str) -> float | None:
    """The finite number that a text is, or None."""
    try:
        value = float(with_point(text))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def times(texts: list[str]) -> list[float | None]:
    """Seconds since 1970 for each ISO 8601 time, None for other texts."""
    import pandas as pd  # takes seconds to import

    found = pd.to_datetime(pd.Series(texts, dtype=object), utc=True, format="ISO8601", errors="coerce")
    return [None if pd.isna(time) else time.timestamp() for time in found]


def is_range(text: str) -> bool:
    """Whether a text is a range of scores, such as 80-100 or >=80, on whichever scale."""
    return bool(_BOUND.fullmatch(text) or _RANGE.fullmatch(text))


def accepted_scores(text: str, scale: Scale) -> set[int]:
    """The scores, in units of the scale, that an attention check accepts; none for a text that says none."""
    every = scale.scores
    if bound := _BOUND.fullmatch(text):
        limit = Fraction(bound[2]) / scale.unit
        below = bound[1] in {"<=", "≤"}
        return {step for step in every if (step <= limit if below else step >= limit)}
    if span := _RANGE.fullmatch(text):
        low, high = Fraction(span[1]) / scale.unit, Fraction(span[2]) / scale.unit
        return {step for step in every if low <= step <= high}
    values = [exact(part) for part in _BETWEEN.split(text) if part]
    steps = {None if value is None else scale.step_of(value) for value in values}
    return set() if None in steps else {step for step in steps if step is not None}
