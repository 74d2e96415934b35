"""A table of ratings: compression, encoding, delimiter, header, the line of each record, texts as values."""

import csv
import gzip
import io
import json
import math
import re
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from core.files.cells import AmbiguousNumberError, with_point
from core.files.compression import packing_of
from core.files.encodings import EncodingError, guess_encoding, text_encoding
from core.files.numbered_lines import BoundedLines, check_nothing
from core.files.tables import DELIMITERS, csv_reader, find_delimiter
from core.files.workbooks import Workbook, WorkbookError, is_workbook, open_workbook
from metrics.agreement.scale import Scale

if TYPE_CHECKING:
    import _csv

_HEAD, _MAGIC = 1 << 16, 8
_ZIP = b"PK\x03\x04"
_UTF8_MARK = b"\xef\xbb\xbf"
_BLANK = _UTF8_MARK + b" \t\r\n"
_LONGEST_FIELD = 1 << 24
_LONGEST_LINE = 1 << 23


class RatingsFileError(Exception):
    """Why a file of ratings cannot be read, in a sentence with file, line, field and remedy."""


@dataclass(frozen=True)
class RatingSource:
    """A readable file: where it is, how it is encoded and separated, what its header says."""

    path: Path
    encoding: str
    delimiter: str
    header: list[str]

    @property
    def description(self) -> str:
        """The format in words."""
        return f"{DELIMITERS[self.delimiter]}-separated, {self.encoding}"

    @contextmanager
    def handle(self) -> Iterator[IO[str] | IO[bytes]]:
        """The file behind its header, as pandas reads it fastest."""
        with _opened(self.path, self.encoding, self._check_fields) as file:
            next(row for row in self._rows(file) if not _blank(row))
            yield file

    def _check_fields(self) -> None:
        """Read all of it with bounded fields; RatingsFileError where a quotation mark is never closed."""
        for _ in self.records():
            pass

    def records(self) -> Generator[tuple[int, list[str]], None, None]:
        """Records behind the header, each with the number of its first line; slow, to find errors."""
        begins, header = 1, True
        try:
            with _opened(self.path, self.encoding) as file:
                rows = self._rows(file)
                for row in rows:
                    if not _blank(row):
                        if not header:
                            yield begins, row
                        header = False
                    begins = rows.line_num + 1
        except csv.Error as error:
            raise RatingsFileError(
                f"{self.path}, line {begins}: the row cannot be read: {error}. Close every quotation mark."
            ) from error
        except UnicodeError as error:
            raise not_decodable(self.path, self.encoding) from error

    def _rows(self, file: IO[str] | IO[bytes]) -> "_csv.Reader":
        return _reader(file, self.encoding, self.delimiter)

    def place(self, line: int) -> str:
        """Where a record is, for messages."""
        return f"{self.path}, line {line}"

    def line_of(self, record: int) -> int:
        """The line on which a record begins; records are counted from 0 behind the header."""
        with closing(self.records()) as records:
            return next(islice(records, record, None))[0]


def rating_source(path: Path, *, wanted: Iterable[str], encoding: str = "", sheet: str = "") -> RatingSource:
    """Looks at the beginning of the file; `wanted` are the columns by which the delimiter is recognised.

    `sheet` names one of a workbook, which otherwise gives its first with data.
    """
    head = _head(path)
    if not head.strip():
        raise RatingsFileError(f"{path} is empty.")
    if is_workbook(path):
        return _workbook_source(path, sheet)
    if sheet:
        raise RatingsFileError(f"{path} is no workbook, so it has no sheet {sheet!r}. Leave out --sheet.")
    if head.startswith(_ZIP):
        raise RatingsFileError(f"{path} is a ZIP file that holds no workbook. Take the file out of it.")
    try:
        encoding = text_encoding(encoding) if encoding else _guessed(path, head)
    except EncodingError as error:
        raise RatingsFileError(f"{path}: {error}") from error
    if head.lstrip(_BLANK).startswith(b"{"):
        first = next((value for _number, value in _objects(path)), {})
        return _ObjectsSource(path, "utf-8", ",", list(first))
    try:
        with _opened(path, encoding) as file:
            line = next((each for each in _lines(file, encoding) if each.strip()), "")
        delimiter = _delimiter(line, {name.casefold() for name in wanted})
        with _opened(path, encoding) as file:
            header = next((row for row in _reader(file, encoding, delimiter) if not _blank(row)), [])
    except csv.Error as error:
        raise RatingsFileError(f"{path}, line 1: the header cannot be read: {error}.") from error
    except UnicodeError as error:
        raise not_decodable(path, encoding) from error
    except (OSError, EOFError, zlib.error) as error:
        raise RatingsFileError(f"{path} cannot be read: {error}.") from error
    if not header:
        raise RatingsFileError(f"{path} is empty.")
    return RatingSource(path, encoding, delimiter, [name.strip() for name in header])


class _RecordSource(RatingSource):
    """Rows that are no text, written as CSV where a file is wanted."""

    @contextmanager
    def handle(self) -> Iterator[IO[str] | IO[bytes]]:
        """The rows behind the header, from their beginning."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(cells for _number, cells in self.records())
            file.seek(0)
            yield file


class _WorkbookSource(_RecordSource):
    """A sheet of a workbook."""

    workbook: Workbook

    @property
    def description(self) -> str:
        """The format in words."""
        return f"a workbook, sheet {self.workbook.sheet!r}"

    def place(self, line: int) -> str:
        """Sheet and row."""
        return f"{self.path}, {self.workbook.place(line)}"

    def records(self) -> Generator[tuple[int, list[str]], None, None]:
        """Rows behind the header with their numbers in the sheet."""
        rows = self.workbook.rows()
        next(rows, None)
        yield from rows


class _ObjectsSource(_RecordSource):
    """JSONL, an object a line, such as the table of ratings of a release."""

    @property
    def description(self) -> str:
        """The format in words."""
        return "JSONL"

    def records(self) -> Generator[tuple[int, list[str]], None, None]:
        """A cell for every member of the first object, with the number of the line."""
        for number, value in _objects(self.path):
            yield number, [_cell(value.get(name)) for name in self.header]


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with _opened_bytes(path) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                value = json.loads(line)
                if not isinstance(value, dict):
                    raise RatingsFileError(f"{path}, line {number}: this is JSON, but no object.")
                yield number, value
    except UnicodeError as error:
        raise not_decodable(path, "utf-8") from error
    except (ValueError, RecursionError) as error:
        raise RatingsFileError(f"{path}, line {number}: this is no JSON: {error}.") from error


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _workbook_source(path: Path, sheet: str) -> RatingSource:
    try:
        workbook = open_workbook(path, sheet=sheet)
    except WorkbookError as error:
        raise RatingsFileError(str(error)) from error
    head = next(workbook.rows(), None)
    if head is None:
        which = f"its sheet {sheet!r} has no row" if sheet else "none of its sheets has a row"
        raise RatingsFileError(f"{path} is empty: {which}.")
    source = _WorkbookSource(path, "utf-8", ",", [name.strip() for name in head[1]])
    # A frozen dataclass; as a field it would have to be given where there is no workbook.
    object.__setattr__(source, "workbook", workbook)
    return source


def not_decodable(path: Path, encoding: str) -> RatingsFileError:
    """The error for a file that is not in its encoding, with the line of the first wrong byte."""
    remedy = "Save the file as UTF-8, or say what it is: --encoding latin-1."
    try:
        with _opened_bytes(path) as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode(encoding)
                except UnicodeDecodeError as wrong:
                    byte = wrong.object[wrong.start]
                    return RatingsFileError(
                        f"{path}, line {number}: byte {byte:#04x} is not {encoding.upper()}. {remedy}"
                    )
    except (OSError, EOFError, zlib.error):
        pass
    return RatingsFileError(f"{path} is not {encoding.upper()}. {remedy}")


def _head(path: Path) -> bytes:
    try:
        with _opened_bytes(path) as file:
            return file.read(_HEAD)
    except FileNotFoundError:
        raise RatingsFileError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise RatingsFileError(f"{path} is a folder, not a file.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise RatingsFileError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error


def _guessed(path: Path, head: bytes) -> str:
    """The encoding by the bytes of the file; damage is said where the file is read."""
    try:
        with _opened_bytes(path) as file:
            return guess_encoding(iter(lambda: file.read(_HEAD), b"")).encoding
    except (OSError, EOFError, zlib.error):
        return guess_encoding(head).encoding


def _opened_bytes(path: Path, check_fields: Callable[[], None] = check_nothing) -> IO[bytes]:
    with path.open("rb") as file:
        packed = packing_of(file.read(_MAGIC)) == "gzip"
    source = cast("IO[bytes]", gzip.open(path)) if packed else path.open("rb")  # noqa: SIM115  # the caller closes it

    def too_long() -> RatingsFileError:
        return RatingsFileError(
            f"{path} has a line of more than {_LONGEST_LINE:,} bytes. That is no table of ratings."
        )

    return io.BufferedReader(BoundedLines(source, _LONGEST_LINE, too_long, check_fields), _HEAD)


@contextmanager
def _opened(
    path: Path, encoding: str, check_fields: Callable[[], None] = check_nothing
) -> Iterator[IO[str] | IO[bytes]]:
    """Bytes behind the mark for UTF-8 with ordinary line ends, else text."""
    with _opened_bytes(path, check_fields) as file:
        head = file.read(_HEAD)
        file.seek(len(_UTF8_MARK) if head.startswith(_UTF8_MARK) and _is_utf8(encoding) else 0)
        if _is_utf8(encoding) and (b"\n" in head or b"\r" not in head):
            yield file
        else:
            with io.TextIOWrapper(file, encoding=encoding, newline=None) as text:
                yield text


def _reader(file: IO[str] | IO[bytes], encoding: str, delimiter: str) -> "_csv.Reader":
    lines = _lines(file, encoding)
    return csv_reader(lines, delimiter, longest_field=_LONGEST_FIELD, skipinitialspace=True)


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in {"utf-8", "utf8", "utf-8-sig"}


def _lines(handle: IO[str] | IO[bytes], encoding: str) -> Iterator[str]:
    """Lines by `readline`, so that whoever reads the handle next goes on behind the last one."""
    while line := handle.readline():
        yield line if isinstance(line, str) else line.decode(encoding)


def _blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


def _delimiter(line: str, wanted: set[str]) -> str:
    def count_wanted(names: list[str]) -> int:
        return len(wanted & {name.strip().casefold() for name in names})

    return find_delimiter(line, count_wanted, longest_field=_LONGEST_FIELD, skipinitialspace=True)


# Texts of ratings as values: exact numbers, times, and what an attention check accepts.

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
