"""A file as rows of cells, and what a cell of it holds: a text, a number, ratings, references.

The reader is that of `core.files.sheets`, with the remedies of `evaluate`.
"""

import json
import math
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.files import sheets
from core.files.cells import MISSING, AmbiguousNumberError, DecimalCommas, list_in, parse_flag, quote_names
from core.files.reading import plain_name
from core.files.refusals import FileRefusedError
from core.files.tables import DELIMITERS, refuse_header_row
from core.files.text_source import Limits, TextSource
from evaluations.errors import EvaluationError

_PARQUET = b"PAR1"
Cells = list[Any]


class AnswerSheet(sheets.Sheet):
    """CSV, TSV or a sheet of a workbook."""

    quotes_remedy = " If quotation marks mean nothing here: --no-quotes."

    @property
    def name(self) -> str:
        """The file, as it was named."""
        return self.source.name

    @property
    def head(self) -> str:
        """The file and the line that names its columns."""
        return f"{self.name}, line {self.header_row or 1}"

    @property
    def description(self) -> str:
        """The format in words."""
        if workbook := self.source.workbook:
            return f"a workbook, sheet {workbook.sheet!r}"
        return f"{DELIMITERS.get(self.delimiter, repr(self.delimiter))}-separated, {self.source.encoding}"

    def error(self, why: str, *, line: int = 0, column: str = "") -> Exception:
        """An error in this file."""
        return EvaluationError(str(super().error(why, line=line, column=column)))

    def refuse(self, line: int, reason: str, /) -> None:
        """The same for a line that is no text, with the option that helps."""
        if "NUL byte" in reason:
            reason = f"{reason} If the file is UTF-16 without a mark: --encoding utf-16-le."
        if reason.endswith("name its encoding."):
            reason = f"{reason.removesuffix('.')}: --encoding latin-1."
        super().refuse(line, reason)

    def rows(self) -> Iterator[tuple[int, Cells]]:
        """Rows that are not blank; EvaluationError where the file cannot be read on."""
        with _refusals():
            yield from super().rows()


class AnswerObjects(AnswerSheet, sheets.ObjectSheet):
    """JSON lines, or the records of one document; cells as JSON has them."""

    @property
    def description(self) -> str:
        """The format in words."""
        return f"{'JSONL' if self.lines else 'JSON'}, {self.source.encoding}"

    def rows(self) -> Iterator[tuple[int, Cells]]:
        """A cell for every column, None where the object has no such member."""
        with _refusals():
            for line, value in self.objects():
                yield line, [value.get(column) for column in self.columns]


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except FileRefusedError as error:
        raise EvaluationError(str(error)) from error


def open_sheet(
    path: Path,
    *,
    header_names: Collection[str],
    encoding: str = "",
    sheet: str = "",
    header_row: int = 0,
    quotes: bool = True,
) -> AnswerSheet:
    """The file by what it holds; its name decides nothing. `header_names` are names that its header may have,
    `sheet` is the one of a workbook (the first with data), `header_row` what names the columns.

    EvaluationError says in a sentence why it cannot be read.
    """
    name = str(path)
    if not path.exists():
        raise EvaluationError(f"There is no file {name}.")
    if path.is_dir():
        raise EvaluationError(f"{name} is a folder, not a file.")
    with path.open("rb") as file:
        if file.read(len(_PARQUET)) == _PARQUET:
            raise EvaluationError(f"{name} is a Parquet file. Write it as CSV or JSONL, then give that file.")
    names = {plain_name(each) for each in header_names}
    with _refusals():
        # Scores are computed from these texts: an encoding is named, or a mark says it, never guessed.
        source = TextSource(
            path, name=name, encoding=encoding or "utf-8", sheet=sheet, limits=Limits(expansion=2000)
        )
        lines = sheets.holds_json_lines(source, names)
        if lines is None:
            return AnswerSheet(source, column_names=names, quotes=quotes, header_row=header_row)
        refuse_header_row(source, "JSON", header_row)
        return AnswerObjects(source, lines=lines)


_POINTS = DecimalCommas(apply=False)
#: Numbers with commas between them, or something in brackets.
_SEVERAL = re.compile(r"[^,]*[0-9] *,[0-9., +-]*|[a-z. ]*[\[({].*", re.DOTALL)
_LISTS = 'Several ratings are written [3, 4, 5], or with their raters [{"worker": "w1", "score": 3}]'
_BETWEEN = re.compile(r"\s*[|;]\s*|\s+")
_TEXT = ("text", "answer", "value")
_OPINION = ("opinion", "label")
_RATING = ("score", "rating", "value")
_RATER = ("worker", "rater", "annotator", "judge")
_DEEPEST = 8
_SHOWN = 40


class ValueRefusedError(ValueError):
    """Why a cell cannot be taken, in words: what it is, and what it should be."""


def text_of(value: Any) -> str:
    """A text as it is there; numbers as they are written."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise ValueRefusedError(f"{shorten_repr(value)} is no text")


def flag_of(value: Any) -> bool:
    """Whether something is so; nothing is no."""
    flag = parse_flag(value)
    if flag is None:
        raise ValueRefusedError(f"{shorten_repr(value)} is neither true nor false")
    return flag


def texts_of(value: Any) -> list[tuple[str, str]]:
    """Texts with their opinions, which may be empty: of a text, a list, nested lists, or objects with a text.

    A text that is a JSON list, or a list as Python prints it, is the list.
    """
    if isinstance(value, str):
        elements = list_in(value)
        value = value if elements is None else elements
    return list(_flat(value, 0))


def opinions_of(value: Any) -> list[str]:
    """Opinions, of which some may be empty: a list of them, or a single one."""
    return [text.strip() for text, _ in texts_of(value)]


def _flat(value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _DEEPEST:
        raise ValueRefusedError("the list is nested too deeply")
    if isinstance(value, list | tuple):
        for each in value:
            yield from _flat(each, depth + 1)
    elif isinstance(value, dict):
        name = next((name for name in _TEXT if name in value), None)
        if name is None:
            raise ValueRefusedError(f"{shorten_repr(value)} has no member 'text'")
        opinion = next((value[name] for name in _OPINION if isinstance(value.get(name), str)), "")
        yield from ((text, own or opinion) for text, own in _flat(value[name], depth + 1))
    else:
        yield text_of(value), ""


def number_of(value: Any, commas: DecimalCommas = _POINTS) -> float | None:
    """The finite number that a cell is, None where it is empty."""
    if isinstance(value, str):
        bare = value.strip()
        if bare.casefold() in MISSING:
            return None
        try:
            bare = commas.point(bare)
            number = float(bare) if "_" not in bare else math.nan
        except AmbiguousNumberError as error:
            raise ValueRefusedError(f"{error} {_LISTS}") from error
        except ValueError:
            number = math.nan
        if math.isnan(number):
            several = f". {_LISTS}" if _SEVERAL.fullmatch(bare) else ""
            raise ValueRefusedError(f"{shorten_repr(value)} is no number{several}")
    elif value is None:
        return None
    elif isinstance(value, bool):
        return float(value)
    elif isinstance(value, int | float):
        number = float(value)
        if math.isnan(number):
            return None
    else:
        raise ValueRefusedError(f"{shorten_repr(value)} is no number. {_LISTS}")
    if math.isinf(number):
        raise ValueRefusedError(f"{shorten_repr(value)} is not finite")
    return number


def ratings_of(value: Any, commas: DecimalCommas = _POINTS) -> list[tuple[str, float]] | None:
    """Single ratings with their raters, where a cell holds several; None where it is one number or empty.

    A list, a text that is a list, or numbers with white space, a bar or a semicolon between them.
    Ratings without a rater's name are those of the first, the second … rater. A list may hold objects
    `{"worker": …, "score": …}`.
    """
    if isinstance(value, str):
        elements = list_in(value)
        if elements is None:
            parts = _BETWEEN.split(value.strip())
            if len(parts) < 2 or not all(_is_number(part, commas) for part in parts):
                return None
            elements = parts
    elif isinstance(value, list | tuple):
        elements = list(value)
    else:
        return None
    ratings: list[tuple[str, float]] = []
    for place, each in enumerate(elements, 1):
        rater, score = str(place), each
        if isinstance(each, dict):
            keys = [name for name in _RATING if name in each]
            filled = [name for name in keys if each[name] is not None] or keys[:1]
            if len(filled) != 1:
                which = "several are" if filled else "none is"
                raise ValueRefusedError(
                    f"a rating has the members {quote_names(each)}, and {which} named "
                    f"{', '.join(_RATING)}. Name the one that is meant score, or write its values alone: "
                    "[3, 4, 5]"
                )
            score = each[filled[0]]
            rater = next(filter(None, (text_of(each.get(name)) for name in _RATER)), rater)
            if any(rater == earlier for earlier, _ in ratings):
                raise ValueRefusedError(
                    f"{shorten_repr(rater)} rates the answer twice. Keep one of the ratings"
                )
        number = number_of(score, commas)
        if number is not None:
            ratings.append((rater, number))
    return ratings


def _is_number(text: str, commas: DecimalCommas) -> bool:
    try:
        number_of(text, commas)
    except ValueRefusedError:
        return False
    return True


def shorten_repr(value: Any) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
