"""A file as columns and rows of cells (CSV, JSONL, JSON; gzipped or not), and what a cell holds.

Compression, encodings, byte order marks and line ends are the matter of `core.files.text_source`.
"""

import ast
import csv
import io
import json
import math
import re
import tokenize
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, NoReturn

from pydantic_core import from_json

from core.files.cells import MISSING, parse_flag, quote_names
from core.files.json_objects import holds_records, read_json_records
from core.files.reading import plain_name
from core.files.refusals import FileRefusedError
from core.files.tables import DELIMITERS, csv_reader, find_delimiter
from core.files.text_source import Limits, TextSource
from core.files.workbooks import Workbook
from evaluations.errors import EvaluationError

_LOOK = 1 << 16
_LONGEST_CELL = 1 << 24
_SAYS_SEPARATOR = "sep="
_PARQUET = b"PAR1"
_STRAY = 'Write "" for a quotation mark inside of a text, or give --no-quotes where marks mean nothing.'
Cells = list[Any]


class Sheet(ABC):
    """Columns, and rows that can be read again and again, each with the number of its line.

    A row has a cell for every column. `unit` is what the numbers count, `comma` whether a decimal comma is
    possible, `header_row` where the columns are named. `notes` say what a pass over the rows found.
    """

    unit = "line"
    comma = False
    description = ""
    separator: str | None = None
    header_row: int | None = None
    columns: list[str]
    notes: Sequence[str] = ()

    def __init__(self, source: TextSource, name: str) -> None:
        self.source, self.name = source, name

    def rows(self) -> Iterator[tuple[int, Cells]]:
        """Rows that are not blank; EvaluationError where the file cannot be read on."""
        try:
            yield from self._rows()
        except FileRefusedError as error:
            raise EvaluationError(str(error)) from error

    @abstractmethod
    def _rows(self) -> Iterator[tuple[int, Cells]]:
        """The same, with the errors of the reader of bytes."""

    def wrong(self, line: int, why: str) -> EvaluationError:
        """The error for something in a line."""
        return EvaluationError(f"{self.name}, {self.unit} {line}: {why}")

    def refuse(self, line: int, why: str) -> NoReturn:
        """What the reader of bytes says of a line that is no text."""
        if "NUL byte" in why:
            why = f"{why} If the file is UTF-16 without a mark: --encoding utf-16-le."
        if why.endswith("name its encoding."):
            why = f"{why.removesuffix('.')}: --encoding latin-1."
        raise self.wrong(line, why)


class _DelimitedSheet(Sheet):
    """CSV and TSV with quotation marks as RFC 4180 has them."""

    separator: str

    def __init__(self, source: TextSource, name: str, known: Iterable[str], *, quotes: bool) -> None:
        super().__init__(source, name)
        self._quotes = quotes
        self._skip = 0
        first = self._first()
        if first.casefold().startswith(_SAYS_SEPARATOR) and len(first) == len(_SAYS_SEPARATOR) + 1:
            self._skip, self.separator = 1, first[-1]
        else:
            self.separator = self._separator(first, {each.casefold() for each in known})
        self.comma = self.separator in ";\t|"
        named = DELIMITERS.get(self.separator, repr(self.separator))
        self.description = f"{named}-separated, {source.encoding}"
        self.header_row, header = next(self._records(), (None, []))
        self.columns = [str(each).strip() for each in header]

    def _rows(self) -> Iterator[tuple[int, Cells]]:
        """Rows behind the header; EvaluationError for one with too few or too many cells."""
        width = len(self.columns)
        records = self._records()
        next(records, None)
        spanning: list[int] = []
        for line, row in records:
            if "\n" in "".join(row) and any("\n" in each and self.separator in each for each in row):
                self._look_for_rows(line, row)
                spanning.append(line)
            if len(row) != width:
                if len(row) > width and not any(row[width:]):
                    row = row[:width]  # noqa: PLW2901  # separators that a spreadsheet left at the end
                elif not any(each.strip() for each in row):
                    continue
                else:
                    raise self._crooked(line, len(row), width)
            yield line, row
        if spanning:
            self.notes = [
                "Rows with a text in quotation marks that goes over several lines and holds the separator: "
                f"{len(spanning):,}, the first in line {spanning[0]}. If quotation marks mean nothing here: "
                "--no-quotes."
            ]

    def _look_for_rows(self, line: int, row: list[str]) -> None:
        """Two marks that mean nothing make the rows between them a text; no text has tabs as rows have."""
        texts = self.separator.join(row).split("\n")
        if self.separator == "\t" and {each.count("\t") + 1 for each in texts} == {len(self.columns)}:
            raise self.wrong(
                line,
                f"a text in quotation marks goes on to line {line + len(texts) - 1}, and each of these lines "
                f"is a row by itself. {_STRAY}",
            )

    def _crooked(self, line: int, cells: int, width: int) -> EvaluationError:
        if cells > width:
            remedy = "Put texts that hold the separator into quotation marks."
        else:
            remedy = "Leave cells empty, but keep their separators; or a quotation mark is not closed before."
        return self.wrong(line, f"{cells} cells, but the header names {width} columns. {remedy}")

    def _first(self) -> str:
        for line in self._lines():
            if line.strip():
                return line.rstrip("\n")
        raise EvaluationError(f"{self.name} has no line that can be read.")

    def _lines(self) -> Iterator[str]:
        return chain.from_iterable(
            StringIO(text, newline="\n") for _line, text in self.source.chunks(self.refuse)
        )

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Records with the numbers of their first lines."""
        lines = self._lines()
        for _ in range(self._skip):
            next(lines, None)
        reader = csv_reader(
            lines,
            self.separator,
            longest_field=_LONGEST_CELL,
            quoting=csv.QUOTE_MINIMAL if self._quotes else csv.QUOTE_NONE,
            skipinitialspace=True,
            strict=True,
        )
        begins = 1
        try:
            for row in reader:
                line, begins = begins + self._skip, reader.line_num + 1
                if row and (len(row) > 1 or row[0].strip()):
                    yield line, row
        except csv.Error as error:
            first, last = begins + self._skip, reader.line_num + self._skip
            raise self.wrong(first, self._trouble(str(error), first, last)) from error

    def _trouble(self, said: str, first: int, last: int) -> str:
        """What the csv module means, and what to do about it."""
        if "field limit" in said:
            most = f"{_LONGEST_CELL:,}"
            return f"a text is longer than {most} characters. Shorten it, or close its quotation mark."
        if any('\\"' in text for text in islice(self._lines(), first - 1, last)):
            return (
                'quotation marks inside of a text are written \\" here. CSV doubles them: write "", or give '
                "the rows as JSONL."
            )
        if said.startswith("unexpected end"):
            return f"a quotation mark is opened here and never closed. Close it. {_STRAY}"
        return f"there is text behind the closing quotation mark in line {last}. {_STRAY}"

    def _separator(self, line: str, known: set[str]) -> str:
        """The one under which most names of the header are known ones, then under which there are most."""

        def count_known(names: list[str]) -> int:
            return len(known & {each.strip().casefold() for each in names})

        return find_delimiter(line, count_known, longest_field=_LONGEST_CELL, skipinitialspace=True)


class _OfWorkbook(Sheet):
    """A sheet of a workbook; its first row names the columns."""

    unit = "row"
    comma = True

    def __init__(self, source: TextSource, name: str, workbook: Workbook) -> None:
        super().__init__(source, name)
        self._workbook = workbook
        self.description = f"a workbook, sheet {workbook.sheet!r}"
        self.header_row, header = next(workbook.rows(), (None, []))
        self.columns = [each.strip() for each in header]

    def _rows(self) -> Iterator[tuple[int, Cells]]:
        """Rows behind the header that hold something."""
        return islice(self._workbook.rows(), 1, None)


class _Objects(Sheet):
    """JSONL, or one JSON list or object of records: an object a row; its columns are all their members."""

    def __init__(self, source: TextSource, name: str, form: str) -> None:
        super().__init__(source, name)
        self._form = form
        self.unit = "line" if form == _LINES else "record"
        self.description = f"{form}, {source.encoding}"
        names: dict[str, None] = {}
        for _line, value in self._objects():
            names.update(dict.fromkeys(value))
        self.columns = list(names)

    def _rows(self) -> Iterator[tuple[int, Cells]]:
        """A cell for every column, None where the object has no such member."""
        columns = self.columns
        for line, value in self._objects():
            yield line, [value.get(column) for column in columns]

    def _objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        if self._form != _LINES:
            yield from read_json_records(self.source, self.refuse)
            return
        for first, text in self.source.chunks(self.refuse):
            for line, each in enumerate(StringIO(text, newline="\n"), first):
                if each.isspace():
                    continue
                try:
                    value = from_json(each)
                except ValueError as error:
                    raise self.wrong(
                        line, f"this is no JSON: {error}. Write an object a line, or a list of objects."
                    ) from error
                if not isinstance(value, dict):
                    raise self.wrong(line, 'this is JSON, but no object such as {"answer": …}.')
                yield line, value


_LINES, _LIST, _BY_KEY = "JSONL", "a JSON list", "a JSON object of records by their ids"


def open_sheet(
    path: Path, *, known: Sequence[str], encoding: str = "", sheet: str = "", quotes: bool = True
) -> Sheet:
    """The file by what it holds; its name decides nothing. `known` are names that its header may have, and
    `sheet` is the one of a workbook (the first with data).

    EvaluationError says in a sentence why it cannot be read.
    """
    name = str(path)
    if not path.exists():
        raise EvaluationError(f"There is no file {name}.")
    if path.is_dir():
        raise EvaluationError(f"{name} is a folder, not a file.")
    try:
        with path.open("rb") as file:
            if file.read(len(_PARQUET)) == _PARQUET:
                raise EvaluationError(
                    f"{name} is a Parquet file. Write it as CSV or JSONL, then give that file."
                )
        # Scores are computed from these texts: an encoding is named, or a mark says it, never guessed.
        limits = Limits(expansion=2000)
        source = TextSource(path, name=name, encoding=encoding or "utf-8", sheet=sheet, limits=limits)
        if source.workbook:
            return _OfWorkbook(source, name, source.workbook)
        if sheet:
            raise EvaluationError(f"--sheet {sheet}: {name} is no workbook. Leave the option out.")
        start = _start(source)
        if start == "[":
            return _Objects(source, name, _LIST)
        if start == "{":
            by_key = holds_records(source, {plain_name(each) for each in known})
            return _Objects(source, name, _BY_KEY if by_key else _LINES)
        return _DelimitedSheet(source, name, known, quotes=quotes)
    except FileRefusedError as error:
        raise EvaluationError(str(error)) from error


def _start(source: TextSource) -> str:
    for _line, text in source.chunks(lambda _line, _why: None):
        if head := text.lstrip()[:_LOOK]:
            return head[0]
    return ""


_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
#: Numbers with commas between them, or something in brackets.
_SEVERAL = re.compile(r"[^,]*[0-9] *,[0-9., +-]*|[a-z. ]*[\[({].*", re.DOTALL)
_LISTS = 'Several ratings are written [3, 4, 5], or with their raters [{"worker": "w1", "score": 3}]'
_BETWEEN = re.compile(r"\s*[|;]\s*|\s+")
_TEXT = ("text", "answer", "value")
_OPINION = ("opinion", "label")
_RATING = ("score", "rating", "value")
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
    raise ValueRefusedError(f"{shown(value)} is no text")


def flag_of(value: Any) -> bool:
    """Whether something is so; nothing is no."""
    flag = parse_flag(value)
    if flag is None:
        raise ValueRefusedError(f"{shown(value)} is neither true nor false")
    return flag


def texts_of(value: Any) -> list[tuple[str, str]]:
    """Texts with their opinions, which may be empty: of a text, a list, nested lists, or objects with a text.

    A text that is a JSON list, or a list as Python prints it, is the list.
    """
    if isinstance(value, str):
        listed = list_in(value)
        value = value if listed is None else listed
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
            raise ValueRefusedError(f"{shown(value)} has no member 'text'")
        opinion = next((value[name] for name in _OPINION if isinstance(value.get(name), str)), "")
        yield from ((text, own or opinion) for text, own in _flat(value[name], depth + 1))
    else:
        yield text_of(value), ""


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


def number_of(value: Any, *, comma: bool = False) -> float | None:
    """The finite number that a cell is, None where it is empty; `comma` reads 2,5 as two and a half."""
    if isinstance(value, str):
        bare = value.strip()
        if bare.casefold() in MISSING:
            return None
        if _DECIMAL_COMMA.fullmatch(bare):
            if not comma:
                raise ValueRefusedError(
                    f"{shown(bare)} may have a decimal comma, or be two numbers. Write 2.5, or [2, 5]"
                )
            bare = bare.replace(",", ".")
        try:
            number = float(bare) if "_" not in bare else math.nan
        except ValueError:
            number = math.nan
        if math.isnan(number):
            several = f". {_LISTS}" if _SEVERAL.fullmatch(bare) else ""
            raise ValueRefusedError(f"{shown(value)} is no number{several}")
    elif value is None:
        return None
    elif isinstance(value, bool):
        return float(value)
    elif isinstance(value, int | float):
        number = float(value)
        if math.isnan(number):
            return None
    else:
        raise ValueRefusedError(f"{shown(value)} is no number. {_LISTS}")
    if math.isinf(number):
        raise ValueRefusedError(f"{shown(value)} is not finite")
    return number


def ratings_of(value: Any, *, comma: bool = False) -> list[tuple[str, float]] | None:
    """Single ratings with their raters, where a cell holds several; None where it is one number or empty.

    A list, a text that is a list, or numbers with white space, a bar or a semicolon between them.
    Ratings without a rater's name are those of the first, the second … rater. A list may hold objects
    `{"worker": …, "score": …}`.
    """
    if isinstance(value, str):
        listed = list_in(value)
        if listed is None:
            parts = _BETWEEN.split(value.strip())
            if len(parts) < 2 or not all(_is_number(part, comma=comma) for part in parts):
                return None
            listed = parts
    elif isinstance(value, list | tuple):
        listed = list(value)
    else:
        return None
    found = []
    for place, each in enumerate(listed, 1):
        rater, score = str(place), each
        if isinstance(each, dict):
            names = [name for name in _RATING if name in each]
            if not names:
                raise ValueRefusedError(
                    f"a rating has the members {quote_names(each)}, and none is named "
                    f"{', '.join(_RATING)}. Name the one that is meant score, or write its values alone: "
                    "[3, 4, 5]"
                )
            score = each[names[0]]
            given = next(
                (each[name] for name in ("worker", "rater", "annotator", "judge") if each.get(name)), ""
            )
            rater = text_of(given) or rater
        number = number_of(score, comma=comma)
        if number is not None:
            found.append((rater, number))
    return found


def _is_number(text: str, *, comma: bool) -> bool:
    try:
        number_of(text, comma=comma)
    except ValueRefusedError:
        return False
    return True


def shown(value: Any) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
