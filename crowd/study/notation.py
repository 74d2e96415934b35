"""TOML as text: keys, values, tables. The standard library only reads it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_WIDTH = 100


def table(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    """A table with the tables in it below; what is None has no place in TOML and means the default."""
    inner = {below: inside for below, inside in values.items() if isinstance(inside, dict) and inside}
    yield f"[{name}]"
    yield from pairs(without(values, *inner))
    for below, inside in inner.items():
        yield ""
        yield from table(f"{name}.{key(below)}", inside)


def pairs(values: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key."""
    for name, held in values.items():
        if held is not None:
            yield f"{key(name)} = {value(held)}"


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A table less some of its keys."""
    return {name: held for name, held in values.items() if name not in names}


def key(name: str) -> str:
    """A key, in quotes where it must have them."""
    return name if _BARE.fullmatch(name) else _string(name)


def value(held: Any, *, width: int = _WIDTH) -> str:
    """A value; lists that are longer than `width` have a line for each item."""
    if isinstance(held, bool):
        return "true" if held else "false"
    if isinstance(held, str):
        return _string(held)
    if isinstance(held, Mapping):
        return "{" + ", ".join(pairs(held)) + "}"
    if isinstance(held, list | tuple):
        items = [value(item) for item in held if item is not None]
        short = f"[{', '.join(items)}]"
        return short if len(short) <= width else "[\n" + "".join(f"    {item},\n" for item in items) + "]"
    return repr(held) if isinstance(held, int | float) else str(held)


def _string(text: str) -> str:
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    number = ord(character)
    return f"\\u{number:04X}" if number < 0x20 or number == 0x7F else character
