"""Texts of strangers in files that people open with a spreadsheet."""

from datetime import datetime
from decimal import Decimal

#: A cell that begins so is run as a formula by spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
Cell = str | int | float | Decimal | None


def cell(text: str) -> str:
    """The text as a cell that no spreadsheet runs: with an apostrophe before what would begin a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def plain(value: object) -> Cell:
    """A value as a cell: times as ISO 8601 in UTC, switches as yes and no, lists joined, texts made safe."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, int | float | Decimal):
        return value
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, list | tuple):
        return cell(" | ".join(map(str, value)))
    return cell(str(value))
