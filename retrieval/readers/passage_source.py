"""What every reader of passages is given: the file, how it is read, where faults go; fields of a passage."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from core.files.refusals import Fault
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


def named(theirs: Iterable[str], given: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Which of their names holds each of our fields, as far as they are there; none is found twice.

    What is `given` is not looked for: "" stands for a field that is not there.
    """
    there = set(theirs)
    found = {ours: name for ours, name in given.items() if name in there}
    there -= set(found.values())
    for ours, names in NAMES.items():
        for name in () if ours in given else names:
            if name in there:
                there.discard(name)
                found[ours] = name
                break
    return found


def mapped(file: PassageSource, place: int, columns: list[str]) -> dict[str, str]:
    """The columns of a file by our fields, which it then knows; a fault where one is not there."""
    given = file.layout.columns
    file.columns = columns
    file.mapping = named(columns, given)
    only = f"only {', '.join(name[:60] for name in columns[:10] if name)}"
    for ours, theirs in given.items():
        if theirs and theirs not in columns:
            raise file.stop(place, ours, f"there is no column {theirs[:60]!r}, {only}", "Name one of them.")
    for ours in ("id", "text"):
        if ours not in file.mapping and not (ours == "id" and file.layout.numbers_rows):
            remedy = f"Say which column holds it: --column {ours}=NAME."
            if ours == "id":
                remedy += " To number the passages: --column id=."
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
    whole = f"{text}{key}{title}{url}{group}"
    if "\0" in whole or (not whole.isascii() and _HALF_PAIR.search(whole)):
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
            what = f"end {end} is not after start {start}"
            file.fault(line, "end", what, "Offsets are characters, end excluded.")
    if len(file.faults) > before:
        return None
    key, text, title, url = texts["id"].strip(), texts["text"], texts["title"].strip(), texts["url"].strip()
    return Row(line, key, text, title, url, texts["group"].strip() or url, start, end)


def _text(file: PassageSource, line: int, record: Mapping[str, Any], name: str) -> str:
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
