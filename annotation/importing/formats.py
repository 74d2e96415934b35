"""Readers of queries: what all have in common, and those of CSV and TSV, and of JSON, an object per record.

Records are read twice: once to count them, in batches, and once to fetch those that were drawn. Columns of
CSV and TSV are taken out with comprehensions. Rows that need care (a wrong number of columns, a count that is
not a number) send their batch through the slow way.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from annotation.importing.records import (
    FIELD_NAMES,
    FIELDS,
    MOST_COUNT,
    TYPES,
    Conversations,
    Record,
    id_of,
    passages_of,
    quoted,
    record_of,
    texts_of,
    turn_of,
)
from core.files.cells import ColumnError, map_columns, quote_names, which_of
from core.files.json_objects import Object, check_storable, read_json_lines, read_json_records
from core.files.reading import NAMES, Reading, plain_name
from core.files.refusals import (
    BadFieldError,
    FileRefusedError,
    Refusals,
    Refuse,
    RefuseRecord,
    RowCounts,
    UnmappedError,
    ignore,
)
from core.files.tables import BATCH, BLANK, DelimitedTable, Row, names_in, reading_of
from core.files.text_source import TextSource

_SIXTY_FOUR_BITS = 2**64 - 1


@dataclass(slots=True)
class Batch:
    """What counting needs of many records, a list a field; an empty list: no record has it."""

    ordinals: list[int] | range
    texts: list[str]
    lines: list[int] | range
    contexts: list[list[str]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    labels: list[tuple[str, bool | None]] = field(default_factory=list)
    brings: list[int] = field(default_factory=list)


class Reader(ABC):
    """A file in one format. `unit` is what its numbers count: lines, or records of one JSON document."""

    format: str
    unit: str = "line"

    def __init__(self, source: TextSource, room: Path) -> None:
        self.source = source
        self.room = room  # a folder for temporary files

    @property
    def description(self) -> str:
        """The format in words."""
        return self.format

    def reading(self, rows: RowCounts) -> Reading:
        """How the file was read; a published data set has members of its own and no columns to find."""
        return reading_of(self.source, {}, rows)

    @abstractmethod
    def records(self, refuse: RefuseRecord) -> Iterator[Record]:
        """All records in the order of the file; what cannot be read is refused with its line."""

    def batches(self, refuse: RefuseRecord) -> Iterator[Batch]:
        """The same, as lists."""
        records = self.records(refuse)
        while rows := list(islice(records, BATCH // 20)):
            yield Batch(
                ordinals=[row.ordinal for row in rows],
                texts=[row.text for row in rows],
                lines=[row.line for row in rows],
                contexts=[row.context for row in rows],
                counts=[row.count for row in rows],
                ids=[row.id for row in rows],
                labels=[(row.type, row.yes_no) for row in rows],
                brings=[brought_by(row) for row in rows],
            )

    def take(self, ordinals: Iterable[int], refuse: RefuseRecord) -> Iterator[Record]:
        """The records with these ordinals, which ascend, in the order of the file."""
        left = iter(ordinals)
        ordinal = next(left, 0)
        if not ordinal:
            return
        for record in self.records(refuse):
            if record.ordinal == ordinal:
                yield record
                ordinal = next(left, 0)
                if not ordinal:
                    return


def brought_by(record: Record) -> int:
    """A hash of what a record has beside its query, passages and references; 0 if it has neither.

    Equal in one process only: nobody outside can aim at it.
    """
    if not record.passages and not record.references:
        return 0
    passages = tuple(
        (each.text, each.title, each.url, each.key, each.page, each.start, each.end, each.selected)
        for each in record.passages
    )
    return hash((passages, tuple(record.references))) & _SIXTY_FOUR_BITS or 1


# What to do where one column is why lines are refused, in a sentence.

#: Fields without which a query can be imported.
_NEEDED = ("text",)
_FEW_REFUSALS = 2
_HALF = 0.5
_WANTS = {
    "type": f"one of {', '.join(TYPES)}",
    "yes_no": "yes or no",
    "count": "a whole number",
    "turn": "a whole number from 1 on",
    "selected": "yes or no",
}


def hints_of(reader: Reader, columns: Mapping[str, str], refusals: Refusals) -> list[str]:
    """What a person may want to read otherwise: columns that refuse lines, turns, short rows, marks."""
    notes = reader.notes() if isinstance(reader, DelimitedTable) else []
    return [*refused_fields(reader, columns, refusals), *_unread_turns(reader, columns), *notes]


def _unread_turns(reader: Reader, columns: Mapping[str, str]) -> list[str]:
    """A column `context`, which holds earlier turns in some files and passages in others."""
    mapping: Mapping[str, str] = getattr(reader, "mapping", {})
    names = [name for name in getattr(reader, "columns", []) if name.strip().casefold() == "context"]
    if not names or "context" in columns or "context" in mapping or names[0] in mapping.values():
        return []
    return [
        f"The column {quoted(names[0])} is not read, because some files have passages under that name: its "
        "values stay with the queries. If it holds the earlier turns of conversations, choose it for them "
        f"(on the command line: --column context={names[0].strip()})."
    ]


def refused_fields(reader: Reader, columns: Mapping[str, str], refusals: Refusals) -> list[str]:
    """Columns that refuse at least half of what is refused, at least two lines, each with its remedy."""
    mapping: Mapping[str, str] = getattr(reader, "mapping", {})
    hints = []
    for name, lines in refusals.fields.most_common():
        if name not in FIELD_NAMES or name not in mapping or name in _NEEDED:
            continue
        if lines < _FEW_REFUSALS or lines < refusals.total * _HALF:
            continue
        origin = "" if columns.get(name) else ", found by its name,"
        wants = f" It takes {_WANTS[name]}." if name in _WANTS else ""
        hints.append(
            f"The column {quoted(mapping[name])}{origin} is read as the {name.replace('_', ' ')} and refuses "
            f"{lines:,} {reader.unit}s.{wants} If it holds something else, choose “not in the file” for it "
            f"(on the command line: --column {name}=); its values then stay with the queries."
        )
    return hints


#: Rows that are split together when only some are wanted.
_FEW = 200


class TableReader(DelimitedTable, Reader):
    """Rows of a CSV or TSV file as queries.

    `columns` maps our fields to columns; without a header, columns are named by their numbers from 1.
    """

    def __init__(
        self,
        source: TextSource,
        room: Path,
        *,
        format: str,
        columns: Mapping[str, str] | None = None,
        header: bool | None = None,
        header_row: int = 0,
    ) -> None:
        Reader.__init__(self, source, room)
        DelimitedTable.__init__(
            self, source, format=format, mapping=columns, header=header, header_row=header_row
        )
        self._others = [
            (place, name) for place, name in enumerate(self.columns) if place not in self.places.values()
        ]

    def find_columns(
        self, row: Row, columns: dict[str, str], header: bool | None
    ) -> tuple[bool, list[str], dict[str, str]]:
        """As the file says, or by the names that people use; a table without a header by its places."""
        names = names_in(row)
        numbers = [str(number) for number in range(1, len(row) + 1)]
        if header is None:
            header = _looks_like_header(names, columns)
        try:
            if header:
                if len(set(names)) < len(names):
                    raise ColumnError(f"Two columns have one name: {quote_names(names)}.")
                mapping = map_columns(names, columns, FIELD_NAMES)
            else:
                mapping = map_columns(numbers, columns, FIELD_NAMES) if columns else _by_place(row)
        except ColumnError as error:
            raise FileRefusedError(f"{self.source.name}, line {self._first}: {error}") from error
        if header:
            _ask_for_query(f"{self.source.name}, line {self._first}", names, columns)
        if "text" not in mapping:
            raise UnmappedError(
                f"{self.source.name}, line {self._first}: no column holds the query; the columns are "
                f"{quote_names(names)}. Choose it (on the command line: --column text=COLUMN).",
                names if header else numbers,
            )
        return header, names if header else numbers, mapping

    def batches(self, refuse: RefuseRecord) -> Iterator[Batch]:
        """Columns of whole batches; conversations and lists need records."""
        if "conversation" in self.places or "context" in self.places:
            yield from super().batches(refuse)
            return
        for rows, numbers in self.rows(refuse):
            batch = self._fast(rows, numbers) or self._careful(rows, numbers, refuse)
            if batch.texts:
                yield batch

    def _fast(self, rows: list[Row], numbers: list[int] | range) -> Batch | None:
        """The batch, if nothing in it needs care."""
        places = self.places
        if set(map(len, rows)) != {self.width} or places.keys() & {
            "type",
            "yes_no",
            "passages",
            "references",
        }:
            return None
        at = places["text"]
        batch = Batch(ordinals=numbers, lines=numbers, texts=[row[at] for row in rows])
        if "count" in places:
            at = places["count"]
            try:
                batch.counts = [int(row[at]) for row in rows]
            except ValueError:
                return None
            if min(batch.counts) < 1 or max(batch.counts) > MOST_COUNT:
                return None
        if "id" in places:
            at = places["id"]
            batch.ids = [row[at].strip() for row in rows]
            if max(map(len, batch.ids)) > 200:
                return None
        return None if "" in batch.texts else batch

    def _careful(self, rows: list[Row], numbers: list[int] | range, refuse: RefuseRecord) -> Batch:
        records = [
            record
            for row, line in zip(rows, numbers, strict=True)
            if (record := self._record(row, line, refuse)) is not None
        ]
        return Batch(
            ordinals=[each.ordinal for each in records],
            lines=[each.line for each in records],
            texts=[each.text for each in records],
            counts=[each.count for each in records],
            ids=[each.id for each in records],
            labels=[(each.type, each.yes_no) for each in records],
            brings=[brought_by(each) for each in records],
        )

    def _record(self, row: Row, line: int, refuse: RefuseRecord) -> Record | None:
        if row in BLANK:
            return None
        if len(row) != self.width:
            what = f"The line has {len(row)} columns instead of {self.width}."
            refuse(line, f"{what} A text with the separator in it must be quoted.")
            return None
        values = {ours: row[place] for ours, place in self.places.items()}
        extra = {name: row[place] for place, name in self._others if row[place]} if self.header else {}
        try:
            return record_of(values, line=line, ordinal=line, extra={"columns": extra} if extra else {})
        except BadFieldError as error:
            refuse(line, str(error), error.field)
            return None

    def records(self, refuse: RefuseRecord) -> Iterator[Record]:
        """Rows as records; earlier turns of a conversation become the context."""
        conversations = Conversations()
        for rows, numbers in self.rows(refuse):
            for row, line in zip(rows, numbers, strict=True):
                record = self._record(row, line, refuse)
                if record is not None and conversations.joins(record, refuse):
                    yield record

    def take(self, ordinals: Iterable[int], refuse: RefuseRecord) -> Iterator[Record]:
        """Rows with these ordinals, which ascend; other rows are only split."""
        if "conversation" in self.places:
            yield from super().take(ordinals, refuse)
            return
        left = iter(ordinals)
        line = next(left, 0)

        def has_wanted(_first: int, last: int) -> bool:
            return 0 < line <= last

        for rows, numbers in self.all_rows(refuse, _FEW, has_wanted):
            self.fill(rows)
            while rows and 0 < line <= numbers[-1]:
                record = self._record(rows[numbers.index(line)], line, refuse)
                line = next(left, 0)
                if record is not None:
                    yield record
            if not line:
                return


def _ask_for_query(where: str, columns: list[str], mapping: Mapping[str, str]) -> None:
    """UnmappedError where two columns have a name for nothing but the query."""
    if "text" in mapping:
        return
    likely = [name for name in columns if plain_name(name) in NAMES["question"]]
    likely = [name for name in likely if name.strip() not in mapping.values()]
    if len(likely) > 1:
        remedy = "Choose one (on the command line: --column text=COLUMN)."
        raise UnmappedError(f"{where}: {which_of('query', likely, remedy)}", columns)


def _looks_like_header(names: list[str], mapping: Mapping[str, str]) -> bool:
    field_names = {name for each in FIELD_NAMES.values() for name in each}
    if any(theirs in names for theirs in mapping.values() if theirs and not theirs.isdigit()):
        return True
    if mapping and all(theirs.isdigit() for theirs in mapping.values() if theirs):
        return any(plain_name(name) in FIELD_NAMES["text"] for name in names)
    are_known = [plain_name(name) in field_names for name in names]
    return any(are_known) or (len(names) > 1 and not any(name.isdigit() for name in names))


def _by_place(row: Row) -> dict[str, str]:
    """What a table without header holds: queries alone, or an id or a count beside them."""
    if len(row) == 1:
        return {"text": "1"}
    if len(row) == 2 and row[0].strip().isdigit():
        return {"id": "1", "text": "2"}
    if len(row) == 2 and row[1].strip().isdigit():
        return {"text": "1", "count": "2"}
    return {}


# One JSON object a line.


class ObjectReader(Reader):
    """A format with one record, or several, in each object. Subclasses say what an object holds."""

    def objects(self, refuse: Refuse) -> Iterator[tuple[int, Object]]:
        """The objects with their numbers."""
        return read_json_lines(self.source, refuse)

    def records(self, refuse: RefuseRecord) -> Iterator[Record]:
        """All records, numbered through."""
        ordinal = 0
        for line, value in self.objects(refuse):
            try:
                check_storable(value)
                for record in self.in_object(value, line, refuse):
                    ordinal += 1
                    record.ordinal = ordinal
                    yield record
            except BadFieldError as error:
                refuse(line, str(error), error.field)

    @abstractmethod
    def in_object(self, value: Object, line: int, refuse: RefuseRecord) -> Iterator[Record]:
        """Records of one object; BadFieldError refuses the rest of it."""


class JsonLinesReader(ObjectReader):
    """Our own fields, by the names that people use. An object with `turns` is a whole conversation."""

    format = "jsonl"

    def __init__(self, source: TextSource, room: Path, *, columns: Mapping[str, str] | None = None) -> None:
        super().__init__(source, room)
        self.given = dict(columns or {})
        unknown = self.given.keys() - FIELD_NAMES.keys()
        if unknown:
            raise FileRefusedError(
                f"There is no field {sorted(unknown)[0]!r}; there are: {', '.join(FIELDS)}."
            )
        self._mappings: dict[tuple[str, ...], dict[str, str]] = {}
        self._conversations = Conversations()
        self._check_first()

    def _check_first(self) -> None:
        first = next((value for _, value in self.objects(ignore)), None)
        if first is None:
            raise FileRefusedError(f"{self.source.name} has no line that is a JSON object.")
        self.columns = list(first)
        self.mapping = self.mapping_of(first)
        members = {name.strip() for name in first}
        missing = [theirs for theirs in self.given.values() if theirs and theirs.strip() not in members]
        if missing:
            raise FileRefusedError(
                f"{self.source.name}: the first object has no member {missing[0]!r}; it has "
                f"{quote_names(first)}."
            )
        _ask_for_query(self.source.name, list(first), self.given)
        if "text" not in self.mapping and not isinstance(first.get("turns"), list):
            raise UnmappedError(
                f"{self.source.name}: no member holds the query; the first object has "
                f"{quote_names(first)}. Choose it (on the command line: --column text=MEMBER).",
                list(first),
            )

    def reading(self, rows: RowCounts) -> Reading:
        """How the file was read, by the members of all its objects."""
        return reading_of(self.source, self._mappings, rows)

    def mapping_of(self, value: Object) -> dict[str, str]:
        """Which member holds which field; objects with the same members share it."""
        key = tuple(value)
        mapping = self._mappings.get(key)
        if mapping is None:
            members = {name.strip(): name for name in reversed(key)}
            columns = {ours: theirs.strip() for ours, theirs in self.given.items()}
            usable_columns = {
                ours: theirs for ours, theirs in columns.items() if not theirs or theirs in members
            }
            mapping = {
                ours: members[theirs]
                for ours, theirs in map_columns(key, usable_columns, FIELD_NAMES).items()
            }
            if len(self._mappings) < 1000:
                self._mappings[key] = mapping
        return mapping

    def records(self, refuse: RefuseRecord) -> Iterator[Record]:
        """All records; a pass begins without a conversation."""
        self._conversations = Conversations()
        return super().records(refuse)

    def in_object(self, value: Object, line: int, refuse: RefuseRecord) -> Iterator[Record]:
        """One record, or the turns of one conversation."""
        if isinstance(value.get("turns"), list):
            yield from turns_of(value, value["turns"], line)
            return
        mapping = self.mapping_of(value)
        used_names = set(mapping.values())
        rest = {
            name: each for name, each in value.items() if name not in used_names and each not in (None, "")
        }
        record = record_of(
            {ours: value[theirs] for ours, theirs in mapping.items()},
            line=line,
            ordinal=0,
            extra={"columns": rest} if rest else {},
        )
        if self._conversations.joins(record, refuse):
            yield record


class JsonRecordsReader(JsonLinesReader):
    """A JSON list of objects with our fields, or an object of them by their ids."""

    format = "json"
    unit = "record"

    def objects(self, refuse: Refuse) -> Iterator[tuple[int, Object]]:
        """Its items, or members."""
        return read_json_records(self.source, refuse)


def turns_of(topic: Object, turns: list[Any], line: int) -> Iterator[Record]:
    """The turns of one conversation, each with those before it.

    CAsT's members (`number`, `raw_utterance`) and ours (`id`, `text`) are understood; `response` is what a
    system said then. Rewritten forms of a turn are kept in `extra`, never shown as its text.
    """
    conversation = id_of(topic.get("number", topic.get("id")), "conversation")
    before: list[str] = []
    replies: list[str] = []
    last = 0
    for place, turn in enumerate(turns, 1):
        if not isinstance(turn, dict):
            raise BadFieldError(f"Turn {place} of conversation {conversation!r} is no object.")
        number = turn_of(turn.get("number", place)) or place
        text = turn.get("raw_utterance", turn.get("text", turn.get("utterance")))
        if not isinstance(text, str) or not text.strip():
            raise BadFieldError(f"Turn {number} of conversation {conversation!r} has no text.")
        if number <= last:
            raise BadFieldError(f"Turn {number} of conversation {conversation!r} comes after turn {last}.")
        last = number
        extra = {
            name: turn[name]
            for name in turn
            if name not in ("number", "raw_utterance", "text", "utterance", "id", "passages", "answers")
        }
        if topic.get("title"):
            extra["topic_title"] = topic["title"]
        if topic.get("description"):
            extra["topic_description"] = topic["description"]
        yield Record(
            line=line,
            ordinal=0,
            text=text,
            id=id_of(turn.get("id") or (f"{conversation}_{number}" if conversation else "")),
            conversation=conversation,
            turn=number,
            context=list(before),
            replies=list(replies),
            passages=passages_of(turn.get("passages")),
            references=texts_of(turn.get("answers"), "references"),
            extra=extra,
        )
        before.append(text)
        reply = turn.get("response")
        replies.append(reply if isinstance(reply, str) else "")
