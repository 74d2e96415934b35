"""A file of passages: opened, its format found, read row by row, its faults gathered."""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from retrieval.errors import Fault, FileRefusedError
from retrieval.reading import compression
from retrieval.reading.fields import LONGEST_TEXT, row_of
from retrieval.reading.lines import LONGEST_LINE
from retrieval.reading.row import Row
from tables.encodings import EncodingError, Guess, guess_encoding, text_encoding
from tables.workbooks import Workbook, WorkbookError, is_workbook, open_workbook

FORMATS = ("auto", "jsonl", "csv", "tsv", "marco", "car", "parquet", "xlsx")
#: Formats that are read by a program of their own, whose memory is limited.
CONFINED = ("car", "parquet")
#: Faults that are listed before reading stops.
MOST_FAULTS = 20
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
_BLOCK = 2**20
Records = Iterator[tuple[int, dict[str, Any]]]


@dataclass(frozen=True)
class Layout:
    """How a person says that a file is to be read, where it is not to be found out.

    `columns` are names of columns by our fields: "" for one that the file does not have, and for `id`
    that passages are numbered. Delimiter of a CSV file, encoding of text, sheet of a workbook: "" says
    that it is to be found out.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    delimiter: str = ""
    sheet: str = ""

    @property
    def numbers_rows(self) -> bool:
        """Whether ids are the numbers of the rows."""
        return self.columns.get("id") == ""


#: Everything is found out.
FOUND_OUT = Layout()


@dataclass
class PassageFile:
    """A file, opened. Iterate `rows()` once; refused lines gather in `faults` and are left out.

    `bytes_done` of `bytes_total` say how far reading has come. `columns` are those of the file and `mapping`
    says which of them holds which field, as soon as the first row is read. `longest_text` is in characters:
    documents that are to be split may be longer than a passage. `name` is what faults call the file.
    """

    path: Path
    format: str
    faults: list[Fault]
    bytes_total: int
    bytes_done: int = 0
    longest_text: int = LONGEST_TEXT
    name: str = ""
    layout: Layout = FOUND_OUT
    encoding: str = "utf-8"
    encoding_said: str = ""
    delimiter: str = ""
    columns: list[str] = field(default_factory=list)
    mapping: dict[str, str] = field(default_factory=dict)
    workbook: Workbook | None = None

    @property
    def unit(self) -> str:
        """What faults are numbered by: line or record."""
        if self.workbook is not None:
            return f"sheet {self.workbook.sheet!r}, row"
        return "record" if self.format in ("car", "parquet") else "line"

    def rows(self) -> Generator[Row, None, None]:
        """Good passages; FileRefusedError when there are too many faults, or the file cannot be read on.

        Formats that a library unpacks are read by a program of their own (`tables.confinement`).
        """
        if self.format in CONFINED:
            from retrieval.reading.unpack_process import rows_apart  # noqa: PLC0415  # a reader

            yield from rows_apart(self)
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

    def fault(self, number: int, field: str, what: str, remedy: str) -> None:
        """Note what is wrong."""
        self.faults.append(Fault(number, field, what, remedy, self.unit))

    def refused(self, *, more: bool = False) -> FileRefusedError:
        """The error with all faults."""
        return FileRefusedError(self.name or self.path.name, self.faults, more=more)

    def stop(self, number: int, field: str, what: str, remedy: str) -> FileRefusedError:
        """The error for a file that cannot be read any further."""
        self.fault(number, field, what, remedy)
        return self.refused()

    def stop_if_too_many(self) -> None:
        """Raise the error with all faults when the list is full."""
        if len(self.faults) >= MOST_FAULTS:
            raise self.refused(more=True)


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
            start, size = _peek(raw), path.stat().st_size
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
    asked = file.layout.encoding
    guess = Guess(text_encoding(asked), 1) if asked else guess_encoding(_blocks(file.path))
    file.encoding, file.encoding_said = guess.encoding, guess.description


def _blocks(path: Path) -> Iterator[bytes]:
    """The unpacked content as far as it can be had."""
    with path.open("rb") as raw:
        try:
            source = compression.unpacked(raw, raw.read(16))
            while block := source.read(_BLOCK):
                yield block
        except Exception as error:
            if not compression.is_damage(error):
                raise


def _peek(raw: IO[bytes]) -> bytes:
    """The first characters, unpacked; nothing where they cannot be."""
    try:
        return compression.unpacked(raw, raw.read(16)).read(4096)
    except Exception as error:
        if not compression.is_damage(error):
            raise
        return b""


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
        from retrieval.reading.tables import is_collection  # noqa: PLC0415  # a reader

        return "marco" if is_collection(first.decode("utf-8", "replace")) else "tsv"
    return named


def _reader(format: str) -> Callable[[PassageFile, IO[bytes]], Records]:
    """The reader of a format; pyarrow and cbor2 come with theirs."""
    if format == "jsonl":
        from retrieval.reading.jsonlines import records  # noqa: PLC0415
    elif format == "parquet":
        from retrieval.reading.parquet import records  # noqa: PLC0415
    elif format == "car":
        from retrieval.reading.car import records  # noqa: PLC0415
    else:
        from retrieval.reading.tables import records  # noqa: PLC0415
    return records


__all__ = [
    "FORMATS",
    "LONGEST_LINE",
    "LONGEST_TEXT",
    "MOST_FAULTS",
    "Layout",
    "PassageFile",
    "open_passages",
]
