"""A file of passages: opened, its format found, read row by row, its faults gathered."""

import json
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from core.files.compression import sound_blocks, sound_start
from core.files.confinement import MEGABYTES, EndedError, frames
from core.files.encodings import EncodingError, Guess, guess_encoding, text_encoding
from core.files.parquet import ParquetError, read_rows
from core.files.refusals import Fault
from core.files.workbooks import WorkbookError, is_workbook, open_workbook
from retrieval.errors import FileRefusedError
from retrieval.readers import formats
from retrieval.readers.formats import is_collection
from retrieval.readers.passage_source import FOUND_OUT, Layout, PassageSource, Row, mapped, row_of

_PROGRAM = Path(__file__).with_name("program.py")
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
    asked = file.layout.encoding
    guess = Guess(text_encoding(asked), 1) if asked else guess_encoding(sound_blocks(file.path))
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
        "jsonl": formats.read_json_records,
        "parquet": _read_parquet,
        "car": formats.read_car_records,
    }
    return readers.get(format, formats.read_table_records)


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
