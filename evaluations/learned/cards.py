"""What a model's card says beside its files, as lines for people and for reports."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

#: What every card has, and what stands elsewhere on a page or in a report.
_FRAME = ("format", "kind", "name", "digest", "files")
_MOST, _DEEPEST, _LONGEST = 120, 4, 300


def facts(card: Mapping[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
    """Numbers and short texts of a card, each with the keys that lead to it; lists of rows are left out."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for path, value in _walked({name: each for name, each in card.items() if name not in _FRAME}):
        if len(found) == _MOST:
            break
        found.append((path, value))
    return found


def nested(card: Mapping[str, Any]) -> dict[str, Any]:
    """The same as JSON that a report can hold."""
    whole: dict[str, Any] = {}
    for path, value in facts(card):
        inside = whole
        for part in path[:-1]:
            inside = inside.setdefault(part, {})
        inside[path[-1]] = value
    return whole


def _walked(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        if len(path) < _DEEPEST:
            for name, each in value.items():
                yield from _walked(each, (*path, str(name)[:_LONGEST]))
    elif isinstance(value, list | tuple):
        if value and all(_is_plain(each) and not isinstance(each, Mapping) for each in value):
            yield path, ", ".join(str(each) for each in value)[:_LONGEST]
    elif _is_plain(value):
        yield path, value[:_LONGEST] if isinstance(value, str) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int) and value != ""
