"""Rows of passages from CSV and TSV, MS MARCO's tables without a header, JSON, and TREC CAR's CBOR.

A reader is given a `PassageSource`: the file, how a person says it is read, where faults go. It yields
records by our field names; `row_of` checks the fields and makes a `Row` of them.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, ClassVar, NamedTuple

from core.files.json_objects import unique_members, why_no_json
from core.files.numbered_lines import LONGEST_LINE, LineNumber, blocks, numbered, too_long
from core.files.refusals import Fault
from core.files.tables import DELIMITERS, csv_reader
from core.files.workbooks import Workbook
from retrieval.errors import FileRefusedError

# One passage, or one document, of a file.


class Row(NamedTuple):
    """Texts are as they stand in the file; `line` is its line, or its record in files without lines."""

    line: int
    key: str
    text: str
    title: str
    url: str
    page: str
    start: int | None
    end: int | None


#: Faults that are listed before reading stops.
MOST_FAULTS = 20
#: Longest text of a passage in characters.
LONGEST_TEXT = 200_000


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
class PassageSource:
    """What is known of a file that is read, and what is wrong with it: refused lines gather in `faults`.

    `bytes_done` of `bytes_total` say how far reading has come. `columns` are those of the file and `mapping`
    says which of them holds which field, as soon as the first row is read. `longest_text` is in characters:
    documents that are to be split may be longer than a passage. `name` is what faults call the file.
    """

    long_remedy: ClassVar[str] = "Cut the page into passages."

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


# Fields of a passage: under which names they come, and what each may hold.

_ID = 200
_LIMITS = {"id": _ID, "url": 2000, "group": 2000, "title": 10_000, "text": LONGEST_TEXT}
_BIGGEST_OFFSET = 2_147_483_647
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_DOCUMENT = ("docid", "doc_id", "document_id")
#: Names of each field, ours first, then those of MS MARCO v2, BEIR, Anserini and TREC CAR.
NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "_id", "pid", "para_id", "paragraph_id", "passage_id", "docno", *_DOCUMENT),
    "text": ("text", "passage", "segment", "contents", "passage_text", "para_body", "paragraph", "body"),
    "title": ("title",),
    "url": ("url",),
    "group": ("group", *_DOCUMENT),
    "start": ("start", "start_char"),
    "end": ("end", "end_char"),
}


def named(theirs: Iterable[str], columns: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Which of their names holds each of our fields, as far as they are there; none is found twice.

    What `columns` names is not looked for: "" stands for a field that is not there.
    """
    available = set(theirs)
    mapping = {ours: name for ours, name in columns.items() if name in available}
    available -= set(mapping.values())
    for ours, names in NAMES.items():
        for name in () if ours in columns else names:
            if name in available:
                available.discard(name)
                mapping[ours] = name
                break
    return mapping


def mapped(file: PassageSource, place: int, columns: list[str]) -> dict[str, str]:
    """The columns of a file by our fields, which it then knows; a fault where one is not there."""
    columns_given = file.layout.columns
    file.columns = columns
    file.mapping = named(columns, columns_given)
    only = f"only {', '.join(name[:60] for name in columns[:10] if name)}"
    for ours, theirs in columns_given.items():
        if theirs and theirs not in columns:
            raise file.stop(place, ours, f"there is no column {theirs[:60]!r}, {only}", "Name one of them.")
    for ours in ("id", "text"):
        if ours not in file.mapping and not (ours == "id" and file.layout.numbers_rows):
            remedy = f"Choose the column that holds it (on the command line: --column {ours}=NAME)."
            if ours == "id":
                remedy += " Or have the passages numbered (--column id=)."
            raise file.stop(place, ours, f"there is no column {ours!r}, {only}", remedy)
    return file.mapping


def row_of(file: PassageSource, number: int, record: Mapping[str, Any]) -> Row | None:
    """A passage, or a fault for everything that is wrong with it."""
    return _plain(file, number, record) or _careful(file, number, record)


def _plain(file: PassageSource, number: int, record: Mapping[str, Any]) -> Row | None:
    """The passage when it is an id and a text, and perhaps a title and a page, in which all is well."""
    get = record.get
    key, text = get("id"), get("text")
    if type(key) is not str or type(text) is not str or not key or not text or text.isspace():
        return None
    title, url, group = get("title") or "", get("url") or "", get("group") or ""
    if type(title) is not str or type(url) is not str or type(group) is not str:
        return None
    if len(text) > file.longest_text or len(key) > _ID or len(title) + len(url) + len(group) > _ID:
        return None
    start, end = get("start"), get("end")
    if (start is not None or end is not None) and not _is_region(start, end):
        return None
    joined = f"{text}{key}{title}{url}{group}"
    if "\0" in joined or (not joined.isascii() and _HALF_PAIR.search(joined)):
        return None
    key = key.strip()
    return (
        Row(number, key, text, title.strip(), url.strip(), (group or url).strip(), start, end)
        if key
        else None
    )


def _is_region(start: Any, end: Any) -> bool:
    return type(start) is int and type(end) is int and 0 <= start < end <= _BIGGEST_OFFSET


def _careful(file: PassageSource, line: int, record: Mapping[str, Any]) -> Row | None:
    before = len(file.faults)
    texts = {name: _cell_text(file, line, record, name) for name in _LIMITS}
    for name in ("id", "text"):
        if not texts[name].strip() and len(file.faults) == before:
            file.fault(line, name, "it is missing or empty", "Every passage has an id and a text.")
    start, end = (_offset(file, line, record, name) for name in ("start", "end"))
    if len(file.faults) == before:
        if (start is None) != (end is None):
            present, other = ("start", "end") if end is None else ("end", "start")
            file.fault(line, other, f"{present} is given and {other} is not", "Give both or neither.")
        elif start is not None and end is not None and start >= end:
            what = f"end {end} is not after start {start}"
            file.fault(line, "end", what, "Offsets are characters, end excluded.")
    if len(file.faults) > before:
        return None
    key, text, title, url = texts["id"].strip(), texts["text"], texts["title"].strip(), texts["url"].strip()
    return Row(line, key, text, title, url, texts["group"].strip() or url, start, end)


def _cell_text(file: PassageSource, line: int, record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if value is None:
        return ""
    if name == "id" and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        file.fault(line, name, f"it is {type(value).__name__}, not text", "Put it in quotes.")
        return ""
    most = file.longest_text if name == "text" else _LIMITS[name]
    if "\0" in value:
        file.fault(line, name, "a NUL character cannot be stored", "Take it out.")
    elif not value.isascii() and _HALF_PAIR.search(value):
        file.fault(line, name, "half of a character pair (a lone surrogate) cannot be stored", "Take it out.")
    elif len(value) > most:
        remedy = "Cut the page into passages." if name == "text" else "Shorten it."
        file.fault(line, name, f"it has {len(value):,} characters; {most:,} are kept", remedy)
    return value


def _offset(file: PassageSource, line: int, record: Mapping[str, Any], name: str) -> int | None:
    value = record.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.isascii() and value.strip().isdigit() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _BIGGEST_OFFSET:
        file.fault(line, name, f"{str(value)[:40]!r} is no offset", "Give a whole number from 0.")
        return None
    return value


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
    delimiter = file.layout.delimiter
    if delimiter and delimiter not in DELIMITERS:
        marks = ", ".join(DELIMITERS.values())
        raise file.stop(begin[0], "", f"{delimiter[:20]!r} separates no cells", f"Choose one of {marks}.")
    file.delimiter = delimiter or _delimiter(begin[1], file.layout.columns)
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


def _delimiter(line: str, columns: Mapping[str, str]) -> str:
    """The mark under which most names of the line are those of fields, then under which there are most."""
    known_names = {name for names in NAMES.values() for name in names} | set(columns.values())

    def fits(mark: str) -> tuple[int, int]:
        try:
            names = next(csv_reader([line], mark, longest_field=LONGEST_LINE), [])
        except csv.Error:  # said where the row is read
            return 0, 0
        return sum(name.strip() in known_names for name in names), len(names)

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
    mapping = mapped(file, line, names)
    return {ours: names.index(theirs) for ours, theirs in mapping.items()}, len(names)


# One JSON object a line: our own fields, MS MARCO v2's, BEIR's, TREC CAR's (`NAMES`).

#: Members of the first object that are shown.
_MEMBERS = 100


def read_json_records(file: PassageSource, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects with the numbers of their lines, their members by our names."""
    columns = file.layout.columns
    for number, line in numbered(file, raw):
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line, object_pairs_hook=unique_members)
        except (ValueError, RecursionError) as error:
            what = f"this is no JSON: {why_no_json(error)}"
            file.fault(number, "", what, "Each line is one JSON object.")
        else:
            if isinstance(record, dict):
                if not file.columns:
                    file.columns, file.mapping = list(record)[:_MEMBERS], named(record, columns)
                plain = not columns and "id" in record and "text" in record
                yield number, record if plain else _ours(record, columns)
                continue
            file.fault(number, "", "this is no JSON object", 'Write {"id": …, "text": …}.')
        file.stop_if_too_many()


def _ours(record: dict[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    return {ours: _joined(record[theirs]) for ours, theirs in named(record, columns).items()}


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
    """What is in the file, one after the other, without the marks of the list around it."""
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
