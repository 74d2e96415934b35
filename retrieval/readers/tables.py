"""CSV and TSV with a header, and MS MARCO's collections without one."""

import csv
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import IO, Any

from core.files.csv_tables import DELIMITERS, csv_reader
from core.files.numbered_lines import LONGEST_LINE, numbered
from retrieval.readers.fields import NAMES, mapped
from retrieval.readers.passage_source import PassageSource

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


def records(file: PassageSource, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows by our names, with the number of the line where each begins; empty cells are left out."""
    cells = _cells(file, raw)
    places: dict[str, int] = {}
    width = 0
    for number, row in cells:
        if not any(row):
            continue
        if not width:
            places, width = _places(file, number, row)
            if file.format != "marco":
                continue
        if len(row) > width and file.format == "marco":
            row[width - 1 :] = ["\t".join(row[width - 1 :])]
        if len(row) == width:
            yield number, {name: cell for name, at in places.items() if (cell := row[at])}
            continue
        if file.workbook is not None and not any(row[width:]):
            yield number, {name: cell for name, at in places.items() if (cell := row[at])}
            continue
        what = f"there are {len(row)} fields for {width} columns"
        file.fault(number, "", what, "Quote what has separators." if file.format == "csv" else "Look at it.")
        file.stop_if_too_many()


def _cells(file: PassageSource, raw: IO[bytes]) -> Cells:
    if file.workbook is not None:
        return file.workbook.rows()
    lines = numbered(file, raw)
    return _split_by_marks(file, lines) if file.format == "csv" else _split_by_tabs(lines)


def _split_by_tabs(lines: Iterator[tuple[int, str]]) -> Cells:
    """Quotes are ordinary characters."""
    for number, line in lines:
        yield number, line.rstrip("\r").split("\t")


def _split_by_marks(file: PassageSource, lines: Iterator[tuple[int, str]]) -> Cells:
    """A quoted field may go over several lines."""
    at = 0
    begin = next((each for each in lines if each[1].strip()), None)
    if begin is None:
        return
    at = begin[0] - 1
    asked = file.layout.delimiter
    if asked and asked not in DELIMITERS:
        marks = ", ".join(DELIMITERS.values())
        raise file.stop(begin[0], "", f"{asked[:20]!r} separates no cells", f"Choose one of {marks}.")
    file.delimiter = asked or _delimiter(begin[1], file.layout.columns)
    lines = chain([begin], lines)

    def counted() -> Iterator[str]:
        nonlocal at
        for number, line in lines:
            at = number
            yield line + "\n"

    reader = csv_reader(counted(), file.delimiter, longest_field=LONGEST_LINE, strict=True)
    while True:
        first = at + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise file.stop(first, "", f"the table breaks here: {error}", "Close every quote.") from error
        if cells is None:
            return
        yield first, cells


def _delimiter(line: str, given: Mapping[str, str]) -> str:
    """The mark under which most names of the line are those of fields, then under which there are most."""
    known = {name for names in NAMES.values() for name in names} | set(given.values())

    def fits(mark: str) -> tuple[int, int]:
        try:
            names = next(csv_reader([line], mark, longest_field=LONGEST_LINE), [])
        except csv.Error:  # said where the row is read
            return 0, 0
        return sum(name.strip() in known for name in names), len(names)

    return max(DELIMITERS, key=fits)


def _places(file: PassageSource, line: int, row: list[str]) -> tuple[dict[str, int], int]:
    """In which column each of our fields is, and how many columns there are."""
    if file.format == "marco":
        ours = _WITHOUT_HEADER.get(len(row), _WITHOUT_HEADER[2])
        file.columns, file.mapping = list(ours), {name: name for name in ours}
        return {name: place for place, name in enumerate(ours)}, len(ours)
    names = [cell.strip() for cell in row]
    while names and not names[-1] and file.workbook is not None:
        names.pop()
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        name = twice[0][:60]
        raise file.stop(line, name, f"there are two columns {name!r}", "Keep one.")
    found = mapped(file, line, names)
    return {ours: names.index(theirs) for ours, theirs in found.items()}, len(names)
