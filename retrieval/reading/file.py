"""A file of passages: opened, its format found, read row by row, its faults gathered."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from retrieval.errors import Fault, FileRefusedError
from retrieval.reading import packing
from retrieval.reading.fields import LONGEST_TEXT, row_of
from retrieval.reading.lines import LONGEST_LINE
from retrieval.reading.row import Row

FORMATS = ("auto", "jsonl", "csv", "tsv", "marco", "car", "parquet")
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
Records = Iterator[tuple[int, dict[str, Any]]]


@dataclass
class PassageFile:
    """A file, opened. Iterate `rows()` once; refused lines gather in `faults` and are left out.

    `bytes_done` of `bytes_total` say how far reading has come. `longest_text` is in characters: documents
    that are to be split may be longer than a passage. `name` is what faults call the file.
    """

    path: Path
    format: str
    faults: list[Fault]
    bytes_total: int
    bytes_done: int = 0
    longest_text: int = LONGEST_TEXT
    name: str = ""

    @property
    def unit(self) -> str:
        """What faults are numbered by: line or record."""
        return "record" if self.format in ("car", "parquet") else "line"

    def rows(self) -> Iterator[Row]:
        """Good passages; FileRefusedError when there are too many faults, or the file cannot be read on."""
        with self.path.open("rb") as raw:
            seen_any = False
            for number, record in _reader(self.format)(self, raw):
                seen_any = True
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


def open_passages(path: Path, format: str = "auto", *, name: str = "") -> PassageFile:
    """Open a file and find out its format from its name, or from how it begins.

    `name` is what its sender called it, where it lies under another one.
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
    found = _format_of(Path(name), start) if format == "auto" else format
    return PassageFile(path, found, [], size, name=name)


def _peek(raw: IO[bytes]) -> bytes:
    """The first characters, unpacked; nothing where they cannot be."""
    try:
        return packing.unpacked(raw, raw.read(16)).read(4096)
    except Exception as error:
        if not packing.is_damage(error):
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


__all__ = ["FORMATS", "LONGEST_LINE", "LONGEST_TEXT", "MOST_FAULTS", "PassageFile", "open_passages"]
