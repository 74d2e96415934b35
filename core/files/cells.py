"""Texts of strangers in files that people open with a spreadsheet.

A spreadsheet runs what begins like a formula: also behind blanks, line breaks or a byte order mark, with the
wide signs of East Asian keyboards, and inside of a text where a semicolon or tab may be the end of a cell.
Each such place gets an apostrophe, also where it has some already. `unguarded` takes them out again, so a
table can be read back as it was.
"""

import ast
import csv
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from core.files.reading import plain_name

# Values of cells as tables write them: numbers with a decimal comma, yes and no.

#: How tools write a value that is missing.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "."})
_YES = frozenset({"true", "yes", "1", "1.0", "t", "y"})
_NO = frozenset({*MISSING, "false", "no", "0", "0.0", "f", "n"})
_COMMA = re.compile(r"\s*[+-]?[0-9]+,[0-9]+\s*")
#: One comma with three digits behind it, and no zero before: 1,234 is a thousand or a bit more than one.
_EITHER = re.compile(r"\s*[+-]?[1-9][0-9]{0,2},[0-9]{3}\s*")


class AmbiguousNumberError(ValueError):
    """A number that may have a decimal comma or one between thousands, in a sentence with a remedy."""


def with_point(text: str) -> str:
    """The number with a decimal point where it has a decimal comma; any other text as it is.

    AmbiguousNumberError for 1,234.
    """
    if "," not in text or not _COMMA.fullmatch(text):
        return text
    if _EITHER.fullmatch(text):
        bare = text.strip()
        raise AmbiguousNumberError(
            f"{bare} may be {bare.replace(',', '.')} or {bare.replace(',', '')}: "
            "write it with a decimal point, or without a comma."
        )
    return text.replace(",", ".")


@dataclass(slots=True)
class DecimalCommas:
    """Decimal commas in the numbers of a file: `apply` where no comma separates its cells; JSON has points.

    `first` is the first that was read, for the note: whoever wrote it may have meant two numbers.
    """

    apply: bool = True
    first: str = ""

    def point(self, text: str) -> str:
        """The number with a decimal point, any other text as it is; AmbiguousNumberError."""
        pointed = with_point(text)
        if pointed != text:
            if not self.apply:
                raise AmbiguousNumberError(
                    f"{text.strip()} may have a decimal comma, or be two numbers: write it with a decimal "
                    "point."
                )
            self.first = self.first or text.strip()
        return pointed

    def notes(self) -> list[str]:
        """A sentence about those that were read, or none."""
        if not self.first:
            return []
        return [
            f"Commas in numbers were read as decimal points: {self.first} as {with_point(self.first)}. If "
            "two numbers were meant, write them apart."
        ]


def parse_flag(value: Any) -> bool | None:
    """True or false; a missing value is false. None where the value is neither."""
    text = "" if value is None else str(value).strip().casefold()
    return text in _YES if text in _YES | _NO else None


# Lists in cells.


def list_in(text: str) -> list[Any] | None:
    """The list that a text is, as JSON or as Python prints it; None for any other text."""
    bare = text.strip()
    if not (bare.startswith("[") and bare.endswith("]")):
        return None
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return _python_list(bare)
    return value if isinstance(value, list) else None


def _python_list(text: str) -> list[Any] | None:
    """As pandas writes lists into a CSV file, not as numpy does: without commas."""
    try:
        value = ast.literal_eval(text)
        strings = sum(
            token.type == tokenize.STRING for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
        return None
    if not isinstance(value, list) or strings != sum(isinstance(each, str) for each in _leaves(value)):
        return None
    return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


# Which column of a table, or member of an object, holds which field of ours.


class ColumnError(ValueError):
    """Columns that cannot be mapped, in words."""


def map_columns(
    columns: Iterable[str], mapping: Mapping[str, str], names: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Which column holds which of our fields: as in `mapping`, the rest by name; an empty one there is none.

    `names` are our fields, each with the names that are taken for it, the likeliest first.
    Raises ColumnError for a field that we do not have, or a column that the file does not have.
    """
    headers = [column.strip() for column in columns]
    for ours, theirs in mapping.items():
        if ours not in names:
            raise ColumnError(f"There is no field {ours!r}; there are: {', '.join(names)}.")
        if theirs and theirs not in headers:
            raise ColumnError(f"There is no column {theirs!r}; the file has: {quote_names(headers)}.")
    columns_by_field = {ours: theirs for ours, theirs in mapping.items() if theirs}
    used = set(columns_by_field.values())
    by_name = {plain_name(column): column for column in reversed(headers)}
    for ours, synonyms in names.items():
        if ours in mapping:
            continue
        likely = next(
            (by_name[name] for name in synonyms if name in by_name and by_name[name] not in used), None
        )
        if likely is not None:
            columns_by_field[ours] = likely
            used.add(likely)
    return columns_by_field


def which_of(role: str, columns: Iterable[str], remedy: str) -> str:
    """The question which of several columns holds what one does, for an error."""
    return f"the {role} may be in any of {quote_names(columns)}. {remedy}"


def quote_names(columns: Iterable[str]) -> str:
    """Names of columns for a message, not too long."""
    quoted = ", ".join(repr(column[:60]) for column in columns)
    return quoted if len(quoted) <= 400 else quoted[:400] + " …"


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
