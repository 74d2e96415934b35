"""Texts of strangers in files that people open with a spreadsheet.

A spreadsheet runs what begins like a formula: also behind blanks, line breaks or a byte order mark, with the
wide signs of East Asian keyboards, and inside of a text where a semicolon or tab may be the end of a cell.
Each such place gets an apostrophe, also where it has some already. `unguarded` takes them out again, so a
table can be read back as it was.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal

#: How a text begins that is guarded, and what is guarded inside of it; RE2, which Arrow has, knows them too.
BEGINNING = "^'*(?:[\t\r]|[\\s\ufeff\u200b]*[=+\\-@＝＋－＠])"  # noqa: RUF001 - wide forms of the signs are meant
INSIDE = "([;\t\r\n][\\s\ufeff\u200b]*)('*(?:[=@＝＠]|[+\\-＋－][0-9A-Za-z(]))"  # noqa: RUF001 - as above
_BEGINNING, _INSIDE = re.compile(BEGINNING), re.compile(INSIDE)
_GUARDED = re.compile("([;\t\r\n][\\s\ufeff\u200b]*)'(?='*(?:[=@＝＠]|[+\\-＋－][0-9A-Za-z(]))")  # noqa: RUF001 - as above
Cell = str | int | float | Decimal | None


def cell(text: str) -> str:
    """The text as a cell that no spreadsheet runs: with an apostrophe before what would begin a formula."""
    guarded = text
    if ";" in text or "\t" in text or "\n" in text or "\r" in text:  # else nothing inside of it is guarded
        guarded = _INSIDE.sub(r"\1'\2", text)
    return f"'{guarded}" if _BEGINNING.match(text) else guarded


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows of cells as lines of a CSV file."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue()


class _Echo:
    """A file for the CSV writer that keeps nothing."""

    def write(self, line: str) -> str:
        """The line itself."""
        return line


def csv_line_writer() -> Callable[[Iterable[object]], str]:
    """A function that gives cells as one line of a CSV file, for files that are streamed."""
    return csv.writer(_Echo()).writerow


def unguarded(text: str) -> str:
    """The text that a cell was made of."""
    plain_text = _GUARDED.sub(r"\1", text)
    return plain_text[1:] if plain_text.startswith("'") and _BEGINNING.match(plain_text[1:]) else plain_text


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
