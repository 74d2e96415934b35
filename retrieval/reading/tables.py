"""CSV and TSV with a header, and MS MARCO's collections without one."""

import csv
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from retrieval.reading.fields import NAMES, named
from retrieval.reading.lines import LONGEST_LINE, numbered

if TYPE_CHECKING:
    from retrieval.reading.file import PassageFile

Cells = Iterator[tuple[int, list[str]]]
#: Columns of files without a header, by how many there are: `collection.tsv`, and `msmarco-docs.tsv`.
_WITHOUT_HEADER = {2: ("id", "text"), 4: ("id", "url", "title", "text")}
_WORDS_OF_NO_NAME = 3


def is_collection(first: str) -> bool:
    """Whether a TSV file begins with a passage and not with names: an id with a digit, then a text."""
    cells = first.rstrip("\r").split("\t")
    key, text = cells[0].strip(), cells[-1].split()
    return (
        len(cells) in _WITHOUT_HEADER
        and any(character.isdigit() for character in key)
        and not any(cell.strip().lower() in NAMES["id"] + NAMES["text"] for cell in cells)
        and (len(text) > _WORDS_OF_NO_NAME or key.isdigit())
    )


def records(file: "PassageFile", raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows by our names, with the number of the line where each begins; empty cells are left out."""
    lines = numbered(file, raw)
    cells = _split_by_commas(file, lines) if file.format == "csv" else _split_by_tabs(lines)
    places: dict[str, int] = {}
    width = 0
    for number, row in cells:
        if not any(row):
            continue
        if not width:
            places, width = _places(file, row)
            if file.format != "marco":
                continue
        if len(row) > width and file.format == "marco":
            row[width - 1 :] = ["\t".join(row[width - 1 :])]
        if len(row) == width:
            yield number, {name: cell for name, at in places.items() if (cell := row[at])}
            continue
        what = f"there are {len(row)} fields for {width} columns"
        file.fault(number, "", what, "Quote what has separators." if file.format == "csv" else "Look at it.")
        file.stop_if_too_many()


def _split_by_tabs(lines: Iterator[tuple[int, str]]) -> Cells:
    """Quotes are ordinary characters."""
    for number, line in lines:
        yield number, line.rstrip("\r").split("\t")


def _split_by_commas(file: "PassageFile", lines: Iterator[tuple[int, str]]) -> Cells:
    """A quoted field may go over several lines."""
    at = 0

    def counted() -> Iterator[str]:
        nonlocal at
        for number, line in lines:
            at = number
            yield line + "\n"

    csv.field_size_limit(LONGEST_LINE)
    reader = csv.reader(counted(), strict=True)
    while True:
        first = at + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise file.stop(first, "", f"the table breaks here: {error}", "Close every quote.") from error
        if cells is None:
            return
        yield first, cells


def _places(file: "PassageFile", row: list[str]) -> tuple[dict[str, int], int]:
    """In which column each of our fields is, and how many columns there are."""
    if file.format == "marco":
        names = _WITHOUT_HEADER.get(len(row), _WITHOUT_HEADER[2])
        return {name: place for place, name in enumerate(names)}, len(names)
    names = tuple(cell.strip() for cell in row)
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        raise file.stop(1, twice[0], f"there are two columns {twice[0]!r}", "Keep one.")
    found = named(names)
    missing = [name for name in ("id", "text") if name not in found]
    if missing:
        what = f"there is no column {missing[0]!r}, only {', '.join(names[:10])}"
        raise file.stop(1, missing[0], what, "Name the columns in line 1.")
    return {ours: names.index(theirs) for ours, theirs in found.items()}, len(names)
