"""Files of passages: JSONL, CSV or TSV, plain or gzip, one line at a time, each fault with its place.

Columns: id, text, and if you have them title, url, group (which page), start and end (characters in that
page). `source` and other columns are read over. Memory stays constant whatever the size of the file.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from retrieval.errors import Fault, FileRefusedError

FORMATS = ("auto", "jsonl", "csv", "tsv")
#: Longest line of a file in bytes, longest text of a passage in characters.
LONGEST_LINE = 4_000_000
LONGEST_TEXT = 200_000
#: Faults that are listed before reading stops.
MOST_FAULTS = 20
#: A gzip file may grow by this factor and no more once it is past the first 100 MB.
MOST_GROWTH = 200
_FREE_GROWTH = 100_000_000
_LIMITS = {"id": 200, "url": 2000, "group": 2000, "title": 10_000, "text": LONGEST_TEXT}
_BIGGEST_OFFSET = 2_147_483_647
_CODECS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"), (b"PK\x03\x04", "a zip file"))


class Row(NamedTuple):
    """One passage of a file."""

    line: int
    key: str
    text: str
    title: str
    url: str
    page: str
    start: int | None
    end: int | None


@dataclass
class PassageFile:
    """A file, opened. Iterate `rows()` once; refused lines gather in `faults` and are left out."""

    path: Path
    format: str
    faults: list[Fault]
    bytes_total: int
    bytes_done: int = 0

    def rows(self) -> Iterator[Row]:
        """Good passages; FileRefusedError when there are too many faults, or the file cannot be read on."""
        with self.path.open("rb") as raw:
            yield from self._rows(raw)

    def _rows(self, raw: IO[bytes]) -> Iterator[Row]:
        lines = _lines(self, raw)
        records = _json_records(self, lines) if self.format == "jsonl" else _table_records(self, lines)
        seen_any = False
        for line, record in records:
            seen_any = True
            row = _row(self, line, record)
            if row is not None:
                yield row
            if len(self.faults) >= MOST_FAULTS:
                raise self.refused(more=True)
        if not seen_any and not self.faults:
            self.faults.append(Fault(1, "", "there is no passage in the file", "Give a file with passages."))

    def fault(self, line: int, field: str, what: str, remedy: str) -> None:
        """Note what is wrong."""
        self.faults.append(Fault(line, field, what, remedy))

    def refused(self, *, more: bool = False) -> FileRefusedError:
        """The error with all faults."""
        return FileRefusedError(self.path.name, self.faults, more=more)

    def stop(self, line: int, field: str, what: str, remedy: str) -> FileRefusedError:
        """The error for a file that cannot be read any further."""
        self.fault(line, field, what, remedy)
        return self.refused()


def open_passages(path: Path, format: str = "auto") -> PassageFile:
    """Open a file and find out its format from its name, or its first character."""
    if format not in FORMATS:
        raise ValueError(f"{format!r} is none of {', '.join(FORMATS)}.")
    try:
        with path.open("rb") as raw:
            start, size = _peek(raw), path.stat().st_size
    except OSError as error:
        raise FileRefusedError(
            path.name, [Fault(1, "", f"it cannot be read: {error.strerror}", "Name a file that is there.")]
        ) from error
    return PassageFile(path, _format_of(path, start) if format == "auto" else format, [], size)


def _peek(raw: IO[bytes]) -> bytes:
    """The first characters, unpacked; nothing where they cannot be."""
    try:
        return _unpacked(raw, raw.read(2)).read(4096)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return b""


def _format_of(path: Path, start: bytes) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    named = {
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".json": "jsonl",
        ".csv": "csv",
        ".tsv": "tsv",
        ".tab": "tsv",
    }
    if suffixes and suffixes[-1] in named:
        return named[suffixes[-1]]
    head = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"{"):
        return "jsonl"
    return "tsv" if b"\t" in head.split(b"\n", 1)[0] else "csv"


def _unpacked(raw: IO[bytes], head: bytes) -> IO[bytes]:
    """The content from its beginning; `head` is what the file begins with."""
    raw.seek(0)
    return gzip.GzipFile(fileobj=raw) if head.startswith(b"\x1f\x8b") else raw  # type: ignore[return-value]


def _lines(file: PassageFile, raw: IO[bytes]) -> Iterator[tuple[int, str]]:
    """Numbered lines as text, without a byte order mark and line ends (LF, CRLF)."""
    head = raw.read(4)
    for magic, what in _CODECS:
        if head.startswith(magic):
            raise file.stop(1, "", f"this is {what}, not UTF-8 text", "Save it as UTF-8, plain or gzip.")
    source = _unpacked(raw, head)
    number = unpacked = 0
    while True:
        number += 1
        try:
            line = source.readline(LONGEST_LINE + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise file.stop(
                number, "", f"the gzip data is damaged ({error})", "Compress it again."
            ) from error
        file.bytes_done = raw.tell()
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise file.stop(
                number,
                "",
                f"the line is longer than {LONGEST_LINE // 1_000_000} MB",
                "Cut the page into passages.",
            )
        unpacked += len(line)
        if source is not raw and unpacked > max(_FREE_GROWTH, MOST_GROWTH * max(file.bytes_done, 1)):
            raise file.stop(
                number,
                "",
                f"it unpacks to more than {MOST_GROWTH} times its size",
                "Unpack it and look at it.",
            )
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            file.fault(
                number,
                "",
                f"byte {error.start + 1} ({line[error.start]:#04x}) is no UTF-8",
                "Save the file as UTF-8.",
            )
            if len(file.faults) >= MOST_FAULTS:
                raise file.refused(more=True) from error
            text = ""
        yield number, text


def _json_records(
    file: PassageFile, lines: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = error.msg.lower() if isinstance(error, json.JSONDecodeError) else "it cannot be read"
            file.fault(number, "", f"this is no JSON: {what}", "Each line is one JSON object.")
            record = None
        else:
            if not isinstance(record, dict):
                file.fault(number, "", "this is no JSON object", 'Write {"id": …, "text": …}.')
        if isinstance(record, dict):
            yield number, record
        elif len(file.faults) >= MOST_FAULTS:
            raise file.refused(more=True)


def _table_records(
    file: PassageFile, lines: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Records by column; a quoted field may go over several lines, and has the number of its first."""
    at = [0]

    def counted() -> Iterator[str]:
        for number, line in lines:
            at[0] = number
            yield line

    csv.field_size_limit(LONGEST_LINE)
    tab = file.format == "tsv"
    reader = csv.reader(
        counted(),
        delimiter="\t" if tab else ",",
        quoting=csv.QUOTE_NONE if tab else csv.QUOTE_MINIMAL,
        strict=True,
    )
    columns: list[str] = []
    while True:
        first = at[0] + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise file.stop(first, "", f"the table breaks here: {error}", "Close every quote.") from error
        if cells is None:
            return
        if not columns:
            columns = _columns(file, [cell.strip() for cell in cells])
        elif not any(cells):
            continue
        elif len(cells) != len(columns):
            file.fault(
                first,
                "",
                f"there are {len(cells)} fields for {len(columns)} columns",
                "Quote what has separators.",
            )
            if len(file.faults) >= MOST_FAULTS:
                raise file.refused(more=True)
        else:
            yield first, {name: cell for name, cell in zip(columns, cells, strict=True) if cell}


def _columns(file: PassageFile, names: list[str]) -> list[str]:
    missing = [name for name in ("id", "text") if name not in names]
    if missing:
        raise file.stop(
            1,
            missing[0],
            f"there is no column {missing[0]!r}, only {', '.join(names[:10])}",
            "Name the columns in line 1.",
        )
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        raise file.stop(1, twice[0], f"there are two columns {twice[0]!r}", "Keep one.")
    return names


def _row(file: PassageFile, line: int, record: dict[str, Any]) -> Row | None:
    """A passage, or a fault for everything that is wrong with it."""
    before = len(file.faults)
    texts = {name: _text(file, line, record, name) for name in _LIMITS}
    for name in ("id", "text"):
        if not texts[name].strip() and len(file.faults) == before:
            file.fault(line, name, "it is missing or empty", "Every passage has an id and a text.")
    start, end = (_offset(file, line, record, name) for name in ("start", "end"))
    if len(file.faults) == before:
        if (start is None) != (end is None):
            given, other = ("start", "end") if end is None else ("end", "start")
            file.fault(line, other, f"{given} is given and {other} is not", "Give both or neither.")
        elif start is not None and end is not None and start >= end:
            file.fault(
                line, "end", f"end {end} is not after start {start}", "Offsets are characters, end excluded."
            )
    if len(file.faults) > before:
        return None
    return Row(
        line,
        texts["id"].strip(),
        texts["text"],
        texts["title"].strip(),
        texts["url"].strip(),
        (texts["group"] or texts["url"]).strip(),
        start,
        end,
    )


def _text(file: PassageFile, line: int, record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    if value is None:
        return ""
    if name == "id" and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        file.fault(line, name, f"it is {type(value).__name__}, not text", "Put it in quotes.")
        return ""
    if "\0" in value:
        file.fault(line, name, "a NUL character cannot be stored", "Take it out.")
    elif not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        file.fault(line, name, "half of a character pair (a lone surrogate) cannot be stored", "Take it out.")
    elif len(value) > _LIMITS[name]:
        remedy = "Cut the page into passages." if name == "text" else "Shorten it."
        file.fault(line, name, f"it has {len(value):,} characters; {_LIMITS[name]:,} are kept", remedy)
    return value


def _offset(file: PassageFile, line: int, record: dict[str, Any], name: str) -> int | None:
    value = record.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.isascii() and value.strip().isdigit() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _BIGGEST_OFFSET:
        file.fault(line, name, f"{str(value)[:40]!r} is no offset", "Give a whole number from 0.")
        return None
    return value
