"""Opening a table of ratings: compression, encoding, delimiter, header, and on which line a record stands."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_HEAD = 1 << 16
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LONGEST_FIELD = 1 << 24


class RatingsFileError(Exception):
    """Why a file of ratings cannot be read, in a sentence with file, line, field and remedy."""


@dataclass(frozen=True, slots=True)
class RatingSource:
    """A readable file: where it is, how it is encoded and separated, what its header says."""

    path: Path
    encoding: str
    delimiter: str
    header: list[str]
    #: The number of the line after the header's last.
    first_line: int

    @property
    def said(self) -> str:
        """The format in words."""
        return f"{DELIMITERS[self.delimiter]}-separated, {self.encoding}"

    def handle(self) -> IO[str] | IO[bytes]:
        """The file behind its header, as pandas reads it fastest."""
        handle = _opened(self.path, self.encoding)
        rows = csv.reader(_lines(handle, self.encoding), delimiter=self.delimiter, skipinitialspace=True)
        next(row for row in rows if not _blank(row))
        return handle

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Records behind the header with the number of the line on which each begins; slow, to find errors."""
        handle = _opened(self.path, self.encoding)
        rows = csv.reader(_lines(handle, self.encoding), delimiter=self.delimiter, skipinitialspace=True)
        begins, header = 1, True
        for row in rows:
            if not _blank(row):
                if not header:
                    yield begins, row
                header = False
            begins = rows.line_num + 1

    def line_of(self, record: int) -> int:
        """The line on which a record begins; records are counted from 0 behind the header."""
        for number, (line, _row) in enumerate(self.records()):
            if number == record:
                return line
        raise ValueError("there is no such record")


def rating_source(path: Path, *, wanted: Iterable[str], encoding: str = "") -> RatingSource:
    """Looks at the beginning of the file; `wanted` are the columns by which the delimiter is recognised."""
    head = _head(path)
    if not head.strip():
        raise RatingsFileError(f"{path} is empty.")
    if head.startswith(_ZIP):
        raise RatingsFileError(
            f"{path} is a ZIP file or a workbook. Save the table as CSV (UTF-8), then give that file."
        )
    encoding = encoding or _encoding(head)
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        line = next(each for each in _lines(_opened(path, encoding), encoding) if each.strip())
    except StopIteration:
        raise RatingsFileError(f"{path} is empty.") from None
    except (UnicodeDecodeError, LookupError) as error:
        raise not_decodable(path, encoding, error) from error
    delimiter = _delimiter(line, {name.casefold() for name in wanted})
    try:
        rows = csv.reader(
            _lines(_opened(path, encoding), encoding), delimiter=delimiter, skipinitialspace=True
        )
        header = next(row for row in rows if not _blank(row))
    except csv.Error as error:
        raise RatingsFileError(f"{path}, line 1: the header cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        raise not_decodable(path, encoding, error) from error
    return RatingSource(path, encoding, delimiter, [name.strip() for name in header], rows.line_num + 1)


def not_decodable(path: Path, encoding: str, error: Exception) -> RatingsFileError:
    """The error for a file that is not in its encoding, with the line of the first wrong byte."""
    if isinstance(error, LookupError):
        return RatingsFileError(f"There is no encoding {encoding!r}. Usual ones are utf-8, utf-16, latin-1, cp1252.")
    remedy = "Save the file as UTF-8, or say what it is: --encoding latin-1."
    try:
        for number, line in enumerate(_opened_bytes(path), start=1):
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
        raise RatingsFileError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _encoding(head: bytes) -> str:
    if head.startswith(_UTF16_MARKS):
        return "utf-16"
    return "utf-8"


def _opened_bytes(path: Path) -> IO[bytes]:
    file = path.open("rb")
    packed = file.read(2) == _GZIP
    file.seek(0)
    return gzip.open(file) if packed else file


def _opened(path: Path, encoding: str) -> IO[str] | IO[bytes]:
    """Bytes behind the mark for UTF-8 with ordinary line ends, else text."""
    file = _opened_bytes(path)
    head = file.read(_HEAD)
    file.seek(len(_UTF8_MARK) if head.startswith(_UTF8_MARK) and _is_utf8(encoding) else 0)
    if _is_utf8(encoding) and (b"\n" in head or b"\r" not in head):
        return file
    return io.TextIOWrapper(file, encoding=encoding, newline=None)


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in {"utf-8", "utf8", "utf-8-sig"}


def _lines(handle: IO[str] | IO[bytes], encoding: str) -> Iterator[str]:
    """Lines by `readline`, so that whoever reads the handle next goes on behind the last one."""
    while line := handle.readline():
        yield line if isinstance(line, str) else line.decode(encoding)


def _blank(row: list[str]) -> bool:
    return not row or (len(row) == 1 and not row[0].strip())


def _delimiter(line: str, wanted: set[str]) -> str:
    def fits(delimiter: str) -> tuple[int, int]:
        names = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
        return len(wanted & {name.strip().casefold() for name in names}), len(names)

    return max(DELIMITERS, key=fits)
