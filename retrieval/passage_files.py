"""Files of passages: opened, read row by row, cut into windows, looked at; each fault has its place.

    file = open_passages(Path("pages.jsonl.zst"))
    for row in file.rows(): ...
    if file.faults: raise file.refused()

JSONL, CSV, TSV, workbooks, Parquet, MS MARCO's `collection.tsv` and TREC CAR's paragraphs, plain or packed;
how each is read is in `passage_formats`. Memory stays the same whatever the size of the file.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

from core.files.compression import sound_blocks, sound_start
from core.files.confinement import MEGABYTES, EndedError, frames
from core.files.encodings import EncodingError, Guess, guess_encoding, text_encoding
from core.files.numbered_lines import LONGEST_LINE
from core.files.parquet import ParquetError, read_rows
from core.files.refusals import Fault
from core.files.tables import DELIMITERS
from core.files.workbooks import WorkbookError, is_workbook, open_workbook
from retrieval.errors import FileRefusedError
from retrieval.passage_formats import (
    FOUND_OUT,
    LONGEST_TEXT,
    MOST_FAULTS,
    Layout,
    PassageSource,
    Row,
    is_collection,
    mapped,
    read_car_records,
    read_json_records,
    read_table_records,
    row_of,
)
from retrieval.sentences import WindowOptions, windows

_PROGRAM = Path(__file__).with_name("passage_program.py")
FORMATS = ("auto", "jsonl", "csv", "tsv", "marco", "car", "parquet", "xlsx")
#: Formats that are read by a program of their own, whose memory is limited.
CONFINED = ("car", "parquet")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".cbor": "car",
}
_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zstd")
#: The header of a TREC CAR file: a list that begins with "CAR".
_CAR = b"\x63CAR"
_PARQUET = b"PAR1"
_START = 4096
Records = Iterator[tuple[int, dict[str, Any]]]


@dataclass
class PassageFile(PassageSource):
    """A file, opened. Iterate `rows()` once; refused lines are left out."""

    def rows(self) -> Generator[Row, None, None]:
        """Good passages; FileRefusedError when there are too many faults, or the file cannot be read on.

        Formats that a library unpacks are read by a program of their own (`core.files.confinement`).
        """
        if self.format in CONFINED:
            yield from _read_confined(self)
        else:
            yield from self.rows_here()

    def rows_here(self) -> Generator[Row, None, None]:
        """The same, in this process whatever the format."""
        with self.path.open("rb") as raw:
            seen_any = False
            for number, record in _reader(self.format)(self, raw):
                seen_any = True
                if self.layout.numbers_rows:
                    record["id"] = str(number)
                row = row_of(self, number, record)
                if row is not None:
                    yield row
                else:
                    self.stop_if_too_many()
        if not seen_any and not self.faults:
            self.fault(1, "", "there is no passage in the file", "Give a file with passages.")


def open_passages(
    path: Path, format: str = "auto", *, name: str = "", layout: Layout = FOUND_OUT
) -> PassageFile:
    """Open a file and find out its format from its name, or from how it begins, and its encoding.

    `name` is what its sender called it, where it lies under another one. FileRefusedError where it is clear
    by now that it cannot be read.
    """
    name = name or path.name
    if format not in FORMATS:
        raise ValueError(f"{format!r} is none of {', '.join(FORMATS)}.")
    try:
        with path.open("rb") as raw:
            start, size = sound_start(raw, _START), path.stat().st_size
    except OSError as error:
        fault = Fault(1, "", f"it cannot be read: {error.strerror}", "Name a file that is there.")
        raise FileRefusedError(name, [fault]) from error
    workbook = is_workbook(path)
    if format == "auto":
        format = "xlsx" if workbook else _format_of(Path(name), start)
    file = PassageFile(path, format, [], size, name=name, layout=layout)
    try:
        if workbook:
            file.format = "xlsx"
            file.workbook = open_workbook(path, name=name, sheet=layout.sheet)
        elif format == "xlsx":
            raise file.stop(1, "", "this is no workbook", "Let the format be found out.")
        elif format not in CONFINED:
            _settle_encoding(file)
    except (WorkbookError, EncodingError) as error:
        raise FileRefusedError(name, [Fault(1, "", str(error).rstrip("."), "Nothing was read.")]) from error
    return file


def _settle_encoding(file: PassageFile) -> None:
    """The encoding that was named, or what the file seems to have; damage is said where it is read."""
    encoding = file.layout.encoding
    guess = Guess(text_encoding(encoding), 1) if encoding else guess_encoding(sound_blocks(file.path))
    file.encoding, file.encoding_said = guess.encoding, guess.description


def _format_of(path: Path, start: bytes) -> str:
    """By content where that is plain to see, then by name, then by the first character."""
    if start.startswith(_PARQUET):
        return "parquet"
    if _CAR in start[:8]:
        return "car"
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _PACKED]
    head = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    first = head.split(b"\n", 1)[0]
    named = _SUFFIXES.get(suffixes[-1], "") if suffixes else ""
    if not named:
        named = "jsonl" if head.startswith(b"{") else "tsv" if b"\t" in first else "csv"
    if named == "tsv":
        return "marco" if is_collection(first.decode("utf-8", "replace")) else "tsv"
    return named


def _reader(format: str) -> Callable[[PassageSource, IO[bytes]], Records]:
    """The reader of a format; pyarrow and cbor2 are loaded with the first record of theirs."""
    readers: dict[str, Callable[[PassageSource, IO[bytes]], Records]] = {
        "jsonl": read_json_records,
        "parquet": _read_parquet,
        "car": read_car_records,
    }
    return readers.get(format, read_table_records)


def _read_parquet(file: PassageSource, raw: IO[bytes]) -> Records:
    """Rows by our names, numbered from 1."""

    def note_progress(number: int, every: int) -> None:
        file.bytes_done = file.bytes_total * number // every

    try:
        yield from read_rows(raw, lambda columns: mapped(file, 1, columns), note_progress)
    except ParquetError as error:
        what = f"it cannot be read as Parquet ({error})"
        raise file.stop(error.row, "", what, "Unpack it, or write it again.") from error


def _read_confined(file: PassageSource) -> Iterator[Row]:
    """What `rows_here` gives, from a program whose end is a fault of the file and nothing more."""
    what = {
        "path": str(file.path),
        "format": file.format,
        "name": file.name,
        "longest_text": file.longest_text,
        "columns": dict(file.layout.columns),
    }
    read = 0
    try:
        for frame in frames(_PROGRAM, json.dumps(what)):
            file.bytes_done = frame["done"]
            file.columns, file.mapping = frame["columns"], frame["mapping"]
            file.faults.extend(Fault(*fault) for fault in frame["faults"])
            read += len(frame["rows"])
            yield from map(Row._make, frame["rows"])
            if frame["refused"]:
                raise file.refused(more=frame["more"])
    except EndedError as ended:
        what_happened = f"reading on takes more than {MEGABYTES} MiB of memory"
        remedy = "Look whether a text is longer than a passage is, or write the file as JSONL."
        if not ended.spent:
            what_happened, remedy = "the data is damaged here", "Write the file again."
        raise file.stop(read + 1, "", what_happened, remedy) from ended


__all__ = [
    "FORMATS",
    "LONGEST_LINE",
    "LONGEST_TEXT",
    "MOST_FAULTS",
    "Layout",
    "PassageFile",
    "Row",
    "open_passages",
]


# Documents of a file as passages.

#: Longest document in characters: as long as a line may be.
LONGEST_DOCUMENT = 4_000_000
_LONGEST_KEY = 200


def split(file: PassageFile, rows: Iterable[Row], language: str, splitting: WindowOptions) -> Iterator[Row]:
    """Each window of each document as a passage: `id#1`, `id#2`, …; its page is the document.

    Offsets are characters of the document's text. A document that has its own place in a page (`start` and
    `end`, as long as its text) stays in that page, and offsets are the page's. Title and URL are those of the
    document. An id that gets too long is a fault of `file`.
    """
    for row in rows:
        placed = row.start is not None and row.end is not None and row.end - row.start == len(row.text)
        base = row.start or 0 if placed else 0
        page = row.page if placed and row.page else row.key
        spans = windows(row.text, language, splitting)
        if len(longest := f"{row.key}#{len(spans)}") > _LONGEST_KEY:
            what = f"with the number of its passage it has {len(longest)} characters; {_LONGEST_KEY} are kept"
            file.fault(row.line, "id", what, "Shorten it.")
            file.stop_if_too_many()
            continue
        for number, (start, end) in enumerate(spans, 1):
            yield Row(
                row.line,
                f"{row.key}#{number}",
                row.text[start:end],
                row.title,
                row.url,
                page,
                base + start,
                base + end,
            )


_FORMATS = {
    "jsonl": "JSON Lines",
    "csv": "CSV",
    "tsv": "TSV",
    "marco": "MS MARCO's collection.tsv",
    "car": "TREC CAR's paragraphs",
    "parquet": "Parquet",
    "xlsx": "a workbook",
}
SHOWN = 8


@dataclass(slots=True)
class Look:
    """What a file seems to hold. `faults` are those of the first rows, or why there are none."""

    read_as: str = ""
    format: str = ""
    sheets: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    mapping: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def look(path: Path, *, name: str = "", format: str = "auto", layout: Layout = FOUND_OUT) -> Look:
    """The first rows of a file as they would be read; never an error."""
    view = Look()
    try:
        file = open_passages(path, format, name=name, layout=layout)
    except FileRefusedError as error:
        view.faults = [str(each) for each in error.faults]
        return view
    file.longest_text = LONGEST_DOCUMENT
    view.format = file.format
    view.sheets = file.workbook.sheets if file.workbook else []
    rows = file.rows()
    try:
        view.rows = list(islice(rows, SHOWN))
    except FileRefusedError:
        pass
    finally:
        rows.close()
    view.faults = [str(each) for each in file.faults]
    view.columns, view.mapping, view.read_as = file.columns, file.mapping, read_as(file)
    return view


def read_as(file: PassageFile) -> str:
    """How a file is read, in words."""
    format_name = _FORMATS[file.format]
    if file.workbook is not None:
        return f"{format_name}, sheet {file.workbook.sheet!r}"
    if file.format == "csv" and file.delimiter:
        format_name += f", separated by {DELIMITERS.get(file.delimiter, repr(file.delimiter))}"
    return f"{format_name}, {file.encoding_said}" if file.encoding_said else format_name
