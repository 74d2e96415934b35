"""A file of passages as documents, and a look at it before it goes in: columns and first rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from core.files.csv_tables import DELIMITERS
from retrieval.errors import FileRefusedError
from retrieval.readers.file import PassageFile, open_passages
from retrieval.readers.passage_source import FOUND_OUT, Layout, Row
from retrieval.text.sentences import WindowOptions, windows

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
    found = Look()
    try:
        file = open_passages(path, format, name=name, layout=layout)
    except FileRefusedError as error:
        found.faults = [str(each) for each in error.faults]
        return found
    file.longest_text = LONGEST_DOCUMENT
    found.format = file.format
    found.sheets = file.workbook.sheets if file.workbook else []
    rows = file.rows()
    try:
        found.rows = list(islice(rows, SHOWN))
    except FileRefusedError:
        pass
    finally:
        rows.close()
    found.faults = [str(each) for each in file.faults]
    found.columns, found.mapping, found.read_as = file.columns, file.mapping, read_as(file)
    return found


def read_as(file: PassageFile) -> str:
    """How a file is read, in words."""
    said = _FORMATS[file.format]
    if file.workbook is not None:
        return f"{said}, sheet {file.workbook.sheet!r}"
    if file.format == "csv" and file.delimiter:
        said += f", separated by {DELIMITERS.get(file.delimiter, repr(file.delimiter))}"
    return f"{said}, {file.encoding_said}" if file.encoding_said else said
