"""Questions to ask: a file of queries or of conversations, in the forms in which they are published.

JSONL with {id, text} or {id, title, turns: [{id, text, rewrite}]}; TREC CAsT's topics as JSON (2019 to 2021);
TREC's topics with <top>; tables with tabs (id, text), with or without a header. The content decides. All
files of an evaluation, judgments and runs too, are read line by line with `lines`, and say what is wrong by
`Faults`.
"""

import dataclasses
import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from core.files.compression import packing_of
from core.files.json_objects import unique_members, why_no_json
from core.files.numbered_lines import LONGEST_LINE
from core.files.reading import Reading
from core.files.refusals import Fault, RowCounts
from retrieval.errors import FileRefusedError

#: Faults that are listed before reading stops.
MOST_FAULTS = 20
_CODECS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"), (b"PK\x03\x04", "a zip file"))


class Faults:
    """What is wrong with one file. It is not read at all if anything is."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.found: list[Fault] = []

    def add(self, line: int, field: str, what: str, remedy: str) -> None:
        """Note a fault; FileRefusedError once there are too many."""
        self.found.append(Fault(line, field, what, remedy))
        if len(self.found) >= MOST_FAULTS:
            raise FileRefusedError(self.name, self.found, more=True, done="read")

    def stop(self, line: int, what: str, remedy: str) -> FileRefusedError:
        """The error for a file that cannot be read any further."""
        self.found.append(Fault(line, "", what, remedy))
        return FileRefusedError(self.name, self.found, done="read")

    def check(self) -> None:
        """FileRefusedError if there is any."""
        if self.found:
            raise FileRefusedError(self.name, self.found, done="read")


def lines(path: Path, faults: Faults) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank, without line ends and byte order mark."""
    try:
        with path.open("rb") as raw:
            yield from _lines(raw, faults)
    except OSError as error:
        raise faults.stop(1, f"it cannot be read: {error.strerror}", "Name a file that is there.") from error


def _lines(raw: IO[bytes], faults: Faults) -> Iterator[tuple[int, str]]:
    head = raw.read(4)
    raw.seek(0)
    for magic, what in _CODECS:
        if head.startswith(magic):
            raise faults.stop(1, f"this is {what}, not UTF-8 text", "Save it as UTF-8, plain or gzip.")
    source: IO[bytes] = gzip.GzipFile(fileobj=raw) if packing_of(head) == "gzip" else raw  # type: ignore[assignment]
    number = 0
    while True:
        number += 1
        try:
            line = source.readline(LONGEST_LINE + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise faults.stop(number, f"the gzip data is damaged ({error})", "Compress it again.") from error
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise faults.stop(
                number, f"the line is longer than {LONGEST_LINE // 1_000_000} MB", "Look at the file."
            )
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            text = line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            what = f"byte {error.start + 1} ({line[error.start]:#04x}) is no UTF-8"
            faults.add(number, "", what, "Save the file as UTF-8.")
            continue
        if "\0" in text:
            faults.add(number, "", "there is a NUL character", "Take it out.")
        elif text.strip():
            yield number, text


def cells(line: str) -> list[str]:
    """Columns of a line with tabs, or, where there is no tab, with blanks between them."""
    if "\t" in line:
        return [cell.strip() for cell in line.split("\t")]
    return line.split()


def is_comment(row: Sequence[str], widths: Sequence[int]) -> bool:
    """Whether the cells are those of a line `# so`, or of one that begins with # and is no row."""
    return row[0] == "#" or (row[0].startswith("#") and len(row) not in widths)


def line_reading(
    first: str, names: Sequence[str], columns: Mapping[str, int], header_row: int, rows: RowCounts
) -> Reading:
    """How a file of lines was read: its first row, the names in its head (none: numbers), places by role."""
    headers = [names[at] if at < len(names) else f"column {at + 1}" for at in columns.values()]
    return Reading(
        encoding="utf-8",
        separator="\t" if "\t" in first else " ",
        header_row=header_row or None,
        columns={role: [header] for role, header in zip(columns, headers, strict=True)},
        left_out=[name for name in names if name not in headers],
        rows=rows,
    )


def quote_beginning(text: str, most: int = 40) -> str:
    """The beginning of a text in quotes, for a message."""
    return repr(text if len(text) <= most else text[:most] + "…")


IDS = ("id", "_id", "qid", "query_id", "query-id", "topic", "number")
TEXTS = ("text", "query", "question", "utterance", "raw_utterance", "title")
_FORM = "Give queries {id, text}, conversations {id, turns}, or a table with the columns id and text."
_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z_-]+)[^>]*>")
_LABELS = re.compile(r"^\s*(?:number|title|topic|description|narrative)\s*:\s*", re.IGNORECASE)
_NAMES = {"number": "num", "description": "desc", "narrative": "narr"}


@dataclass
class Topic:
    """A topic, and the line on which it begins."""

    line: int
    id: str = ""
    fields: dict[str, str] = field(default_factory=dict)


def topics(numbered: Iterable[tuple[int, str]], faults: Faults) -> Iterator[Topic]:
    """The topics of a file; texts without their labels (“Number:”) and with single blanks."""
    now: Topic | None = None
    name, pieces = "", list[str]()

    def keep() -> None:
        if now is not None and name:
            now.fields[name] = " ".join(_LABELS.sub("", " ".join(pieces)).split())

    for number, line in numbered:
        at = 0
        for tag in _TAG.finditer(line):
            pieces.append(line[at : tag.start()])
            at = tag.end()
            keep()
            closing, name, pieces = bool(tag[1]), _NAMES.get(tag[2].lower(), tag[2].lower()), []
            if name == "top":
                name = ""
                if now is not None:
                    yield from _check_topic(now, faults)
                now = None if closing else Topic(number)
            elif closing:
                name = ""
        pieces.append(line[at:])
    if now is not None:
        keep()
        faults.add(now.line, "", "this <top> is never closed", "Close it with </top>.")


def _check_topic(topic: Topic, faults: Faults) -> Iterator[Topic]:
    topic.id = topic.fields.pop("num", "")
    if topic.id:
        yield topic
    else:
        faults.add(topic.line, "num", "the topic has no number", "Give it <num>.")


@dataclass(frozen=True)
class Question:
    """A query: its turns, oldest first, the last is the question; which conversation it is of."""

    id: str
    turns: tuple[str, ...]
    conversation: str


@dataclass
class Questions:
    """What a file holds; turns `without` lack the field that was asked for.

    Turns that several conversations share (branches of TREC CAsT 2022) stand there once; `repeated` counts
    the others, and such conversations are one.
    """

    format: str
    field: str
    questions: list[Question] = dataclasses.field(default_factory=list)
    without: list[str] = dataclasses.field(default_factory=list)
    repeated: int = 0
    reading: Reading | None = None

    @property
    def conversational(self) -> bool:
        """Are there earlier turns?"""
        return any(len(each.turns) > 1 for each in self.questions)


def read_questions(path: Path, field: str = "") -> Questions:
    """The questions of a file.

    `field` names another text than the query's own: `rewrite` of turns, `desc` of TREC's topics. A turn of a
    conversation is asked with its earlier turns, but with another field by itself. FileRefusedError lists
    faults; a turn that lacks the field is none, unless all do.
    """
    faults = Faults(path)
    reader = _Reader(faults, field)
    numbered = lines(path, faults)
    first = next(numbered, None)
    if first is None:
        faults.check()
        raise faults.stop(1, "there is no query in the file", _FORM)
    all_lines = _chained(first, numbered)
    start = first[1].lstrip()
    if start.startswith("["):
        reader.format = "json"
        reader.list(all_lines)
    elif start.startswith("{"):
        reader.format = "jsonl"
        reader.jsonl(all_lines)
    elif start.lower().startswith(("<top", "<?xml")):
        reader.format = "trec"
        reader.trec(all_lines)
    else:
        reader.format = "tsv"
        reader.table(all_lines)
    return reader.done()


def _chained(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


class _Reader:
    """Collects questions, whatever the form."""

    def __init__(self, faults: Faults, field: str) -> None:
        self.format = ""
        self._faults, self._field = faults, field
        self._questions: list[Question] = []
        self._without: list[str] = []
        self._places: dict[str, tuple[int, Question]] = {}
        self._repeated = 0
        self._same: dict[str, str] = {}
        self._fields: dict[str, None] = {}
        self._read: dict[str, dict[str, None]] = {"id": {}, "text": {}}
        self._header_row: int | None = None

    def done(self) -> Questions:
        """Everything, or FileRefusedError."""
        if self._without and not self._questions and not self._faults.found:
            field_names = ", ".join(self._fields) or "none"
            what = f"no query has a field {self._field or 'text'!r}"
            raise self._faults.stop(1, what, f"Fields that there are: {field_names}.")
        self._faults.check()
        if not self._questions:
            raise self._faults.stop(1, "there is no query in the file", _FORM)
        questions = [
            dataclasses.replace(each, conversation=self._root(each.conversation)) for each in self._questions
        ]
        reading = Reading(
            encoding="utf-8",
            separator="\t" if self.format == "tsv" else None,
            header_row=self._header_row,
            columns={role: list(names) for role, names in self._read.items()},
            left_out=[
                name for name in self._fields if not any(name in names for names in self._read.values())
            ],
            rows=RowCounts(
                len(questions) + self._repeated + len(self._without),
                used=len(questions),
                repeats=self._repeated,
                refused=len(self._without),
            ),
        )
        return Questions(
            self.format, self._field or "text", questions, self._without, self._repeated, reading
        )

    def jsonl(self, numbered: Iterable[tuple[int, str]]) -> None:
        """An object a line."""
        for number, line in numbered:
            try:
                record = json.loads(line, object_pairs_hook=unique_members)
            except (ValueError, RecursionError) as error:
                what = f"this is no JSON: {why_no_json(error)}"
                self._faults.add(number, "", what, "Each line is one JSON object.")
                continue
            self._record(number, record)

    def list(self, numbered: Iterable[tuple[int, str]]) -> None:
        """One JSON list of objects; faults have the number of the entry."""
        try:
            text = "\n".join(line for _, line in numbered)
            records = json.loads(text, object_pairs_hook=unique_members)
        except (ValueError, RecursionError) as error:
            line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
            what = f"this is no JSON: {why_no_json(error)}"
            raise self._faults.stop(line, what, "Give a JSON list of objects.") from error
        for number, record in enumerate(records, 1):
            self._record(number, record)

    def trec(self, numbered: Iterable[tuple[int, str]]) -> None:
        """<top> with <num>, <title>, <desc>, <narr>."""
        for topic in topics(numbered, self._faults):
            self._note(topic.fields)
            self._read["id"]["num"] = self._read["text"][self._field or "title"] = None
            text = topic.fields.get(self._field or "title", "")
            self._add(topic.line, topic.id, (text,), topic.id, "title")

    def table(self, numbered: Iterable[tuple[int, str]]) -> None:
        """Columns with tabs; the first line names them, or there are id and text."""
        columns: tuple[int, int] | None = None
        for number, line in numbered:
            row = cells(line)
            if "\t" not in line:
                self._faults.add(number, "", "there is no tab between id and text", _FORM)
                continue
            if columns is None:
                columns, is_header = self._columns(number, row)
                if is_header:
                    continue
            if len(row) <= max(columns):
                self._faults.add(number, "", f"there are {len(row)} columns", "Fill the columns id and text.")
                continue
            self._add(number, row[columns[0]], (row[columns[1]],), row[columns[0]], "text")

    def _root(self, conversation: str) -> str:
        """The first of the conversations that share turns with this one."""
        while self._same.get(conversation, conversation) != conversation:
            conversation = self._same[conversation]
        return conversation

    def _columns(self, number: int, row: Sequence[str]) -> tuple[tuple[int, int], bool]:
        """Places of id and text, and whether these are names at all."""
        names = [cell.lower() for cell in row]
        id_column = next((name for name in IDS if name in names), None)
        if id_column is None:
            if self._field:
                what = f"the first line names no columns, so there is no {self._field!r}"
                raise self._faults.stop(number, what, "Give the table a header, or leave out --field.")
            self._read = {"id": {"column 1": None}, "text": {"column 2": None}}
            return (0, 1), False
        self._note(row)
        text_columns = (self._field.lower(),) if self._field else TEXTS
        text = next((name for name in text_columns if name in names), None)
        if text is None:
            what = f"there is no column {' or '.join(map(repr, text_columns[:3]))}"
            raise self._faults.stop(
                number, what, f"Columns that there are: {', '.join(name[:60] for name in names[:10])}."
            )
        places = (names.index(id_column), names.index(text))
        self._read = {role: {row[at]: None} for role, at in zip(("id", "text"), places, strict=True)}
        self._header_row = number
        return places, True

    def _record(self, number: int, record: Any) -> None:  # JSON
        if not isinstance(record, dict):
            self._faults.add(number, "", f"this is {type(record).__name__}, not an object", _FORM)
            return
        turns = record.get("turns", record.get("turn"))
        identity = self._id(number, record, "id")
        if identity is None:
            return
        if turns is None:
            self._note(record)
            text = self._text(record)
            if not isinstance(text, str):
                text = self._refused(number, text, "text")
            self._add(number, identity, (text,), identity, self._field or "text")
        elif not isinstance(turns, list) or not turns:
            self._faults.add(number, "turns", "it is no list of turns", "Give a list of {id, text}.")
        else:
            self._conversation(number, identity, turns)

    def _conversation(self, number: int, conversation: str, turns: Sequence[Any]) -> None:
        earlier: list[str] = []
        for place, turn in enumerate(turns, 1):
            where = f"turns[{place}]"
            if not isinstance(turn, dict):
                self._faults.add(number, where, f"it is {type(turn).__name__}, not an object", _FORM)
                return
            self._note(turn)
            name = self._id(number, turn, f"{where}.id")
            text = self._text(turn)
            if not isinstance(text, str):
                text = self._refused(number, text, where)
            if name is None:
                return
            # TREC CAsT numbers turns within their topic: 31_4 is the fourth of 31.
            name = f"{conversation}_{name}" if "number" in turn and "id" not in turn else name
            turns_so_far = (text,) if self._field else (*earlier, text)
            self._add(number, name, turns_so_far, conversation, f"{where}.text")
            if text.strip():
                earlier.append(text)

    def _id(self, number: int, record: dict[str, Any], where: str) -> str | None:
        called = next((name for name in IDS if record.get(name) is not None), "")
        value = record.get(called)
        if called:
            self._read["id"][called] = None
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            what = (
                "it is missing or empty"
                if value in (None, "")
                else f"{quote_beginning(str(value))} is no text"
            )
            self._faults.add(number, where, what, "Every query has an id: a text or a whole number.")
            return None
        return value.strip()

    def _text(self, record: dict[str, Any]) -> Any:  # JSON
        names = (self._field,) if self._field else TEXTS
        called = next((name for name in names if record.get(name) is not None), "")
        if called:
            self._read["text"][called] = None
        return record.get(called, "")

    def _refused(self, number: int, value: object, where: str) -> str:
        self._faults.add(number, where, f"it is {type(value).__name__}, not text", "Put it in quotes.")
        return ""

    def _note(self, fields: Iterable[str]) -> None:
        self._fields.update(dict.fromkeys(fields))

    def _add(self, number: int, name: str, turns: tuple[str, ...], conversation: str, where: str) -> None:
        question = Question(name, turns, conversation)
        if name in self._places:
            line, before = self._places[name]
            if before.turns == turns and line != number and where.startswith("turns"):
                self._repeated += 1
                self._same[self._root(conversation)] = self._root(before.conversation)
            else:
                what = f"{quote_beginning(name)} is the id of line {line} too, which says something else"
                self._faults.add(number, "id", what, "Every query has an id of its own.")
            return
        self._places[name] = (number, question)
        if turns[-1].strip():
            self._questions.append(question)
        elif self._field:
            self._without.append(name)
        elif not name:
            self._faults.add(number, "id", "it is empty", "Every query has an id.")
        else:
            self._faults.add(number, where, "it is missing or empty", "Every query has a text.")
