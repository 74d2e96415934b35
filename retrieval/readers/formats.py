"""Formats of files of passages: CSV and TSV, MS MARCO's without a header, JSON, TREC CAR's CBOR."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import IO, Any

from core.files.csv_tables import DELIMITERS, csv_reader
from core.files.numbered_lines import LONGEST_LINE, LineNumber, blocks, numbered, too_long
from retrieval.readers.passage_source import NAMES, PassageSource, mapped, named

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


def read_table_records(file: PassageSource, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
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


# One JSON object a line: our own fields, MS MARCO v2's, BEIR's, TREC CAR's (`NAMES`).

#: Members of the first object that are shown.
_MEMBERS = 100


def read_json_records(file: PassageSource, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects with the numbers of their lines, their members by our names."""
    given = file.layout.columns
    for number, line in numbered(file, raw):
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = error.msg.lower() if isinstance(error, json.JSONDecodeError) else "it cannot be read"
            file.fault(number, "", f"this is no JSON: {what}", "Each line is one JSON object.")
        else:
            if isinstance(record, dict):
                if not file.columns:
                    file.columns, file.mapping = list(record)[:_MEMBERS], named(record, given)
                plain = not given and "id" in record and "text" in record
                yield number, record if plain else _ours(record, given)
                continue
            file.fault(number, "", "this is no JSON object", 'Write {"id": …, "text": …}.')
        file.stop_if_too_many()


def _ours(record: dict[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    return {ours: _joined(record[theirs]) for ours, theirs in named(record, given).items()}


def _joined(value: Any) -> Any:
    """The pieces of a paragraph of TREC CAR (texts and links) as one text; anything else as it is."""
    if isinstance(value, list) and value and all(isinstance(piece, dict | str) for piece in value):
        pieces = [piece if isinstance(piece, str) else piece.get("text") for piece in value]
        if all(isinstance(piece, str) for piece in pieces):
            return "".join(pieces)
    return value


# TREC CAR's paragraphs (`*.paragraphs.cbor`), as the collection is published.
#
# A header `["CAR", [2, …], …]` and an endless list of paragraphs, or in the first versions paragraphs alone.
# A paragraph is `[0, id, pieces]`; a piece is `[0, text]`, or a link `[1, [0, page, section, page id, text]]`
# (trec-car.cs.unh.edu, "Data format"). Its text is that of all pieces, one after the other.

#: Longest paragraph in bytes. Each may be an object of eighty, and more than that is taken by none.
LONGEST_RECORD = 1_000_000
_KINDS = {0: "pages", 1: "outlines", 2: "paragraphs"}
_PARAGRAPHS = 2
_LIST, _BREAK = b"\x9f", b"\xff"


def read_car_records(file: PassageSource, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Paragraphs, numbered from 1 without the header."""
    where = LineNumber()
    for item in _items(file, raw, where):
        if isinstance(item, list) and item[:1] == ["CAR"]:
            _check_kind(file, item)
            continue
        try:
            yield where.number, {"id": _text(item[1]), "text": _body(item)}
        except (LookupError, TypeError, ValueError):
            remedy = "Give a file of paragraphs of TREC CAR."
            file.fault(where.number, "", "this is no paragraph of TREC CAR", remedy)
            file.stop_if_too_many()
        where.number += 1


def _items(file: PassageSource, raw: IO[bytes], where: LineNumber) -> Iterator[Any]:
    """What stands in the file, one after the other, without the marks of the list around it."""
    from cbor2 import CBORDecodeEOF, CBORDecodeError, CBORDecoder  # only for such files

    content, after_header = io.BytesIO(), False
    for block in blocks(file, raw, where):
        content = io.BytesIO(content.read() + block)
        decoder = CBORDecoder(content)
        while mark := content.read(1):
            at = content.tell() - 1
            if mark == _BREAK or (mark == _LIST and after_header):
                after_header = False
                continue
            content.seek(at)
            try:
                item = decoder.decode()
            except CBORDecodeEOF:
                content.seek(at)
                if len(content.getbuffer()) - at > LONGEST_RECORD:
                    raise too_long(file, where, "record", LONGEST_RECORD) from None
                break
            except CBORDecodeError as error:
                what = f"the data is damaged here ({error})"
                raise file.stop(where.number, "", what, "Fetch the file again.") from error
            after_header = isinstance(item, list) and item[:1] == ["CAR"]
            yield item
    if content.read(1):
        raise file.stop(where.number, "", "the file ends in the middle of a record", "Fetch it again.")


def _check_kind(file: PassageSource, header: list[Any]) -> None:
    kind = header[1][0] if len(header) > 1 and isinstance(header[1], list) and header[1] else None
    if kind != _PARAGRAPHS:
        what = f"it holds {_KINDS.get(kind, 'something else') if isinstance(kind, int) else 'something else'}"
        raise file.stop(1, "", f"{what}, not paragraphs", "Give a *.paragraphs.cbor file.")


def _body(item: Any) -> str:
    return "".join(_text(piece[1] if piece[0] == 0 else piece[1][4]) for piece in item[2])


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value
