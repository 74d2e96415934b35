"""Differences of values in one line each; what is long is shown where it differs."""

from typing import Any

from crowd.study.explain import shown
from crowd.study.notation import key

_BEFORE, _NAMED = 12, 3


def difference(old: Any, new: Any) -> str:
    """Old → new. Lists and tables say what they gain and lose, long texts begin where they differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        return _gains(_entries(old), _entries(new))
    if isinstance(old, list) and isinstance(new, list):
        return _gains([shown(item) for item in old], [shown(item) for item in new])
    if isinstance(old, str) and isinstance(new, str):
        start = _first_difference(old, new) - _BEFORE
        if start > 0:
            return f"{shown('…' + old[start:])} → {shown('…' + new[start:])}"
    return f"{worded(old)} → {worded(new)}"


def worded(value: Any) -> str:
    """A value, or "none"."""
    return "none" if value is None else shown(value)


def _entries(table: dict[str, Any]) -> list[str]:
    return [f"{key(name)} = {shown(value)}" for name, value in table.items()]


def _gains(old: list[str], new: list[str]) -> str:
    gone = [item for item in old if item not in new]
    come = [item for item in new if item not in old]
    if not gone and not come:
        return (
            f"{len(new)} entries in another order"
            if len(old) == len(new)
            else f"{len(old)} → {len(new)} entries"
        )
    parts = [_few("+", come), _few("-", gone)]
    return f"{len(old)} → {len(new)} entries: " + ", ".join(part for part in parts if part)


def _few(sign: str, items: list[str]) -> str:
    words = ", ".join(f"{sign} {item}" for item in items[:_NAMED])
    more = len(items) - _NAMED
    return f"{words} and {more} more" if more > 0 else words


def _first_difference(old: str, new: str) -> int:
    pairs = zip(old, new, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))
