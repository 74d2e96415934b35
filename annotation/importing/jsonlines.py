"""One JSON object a line."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.importing import fields
from annotation.importing.reader import Reader
from annotation.importing.records import FIELD_NAMES, FIELDS, Conversations, Record
from core.files.cells import map_columns, quote_names
from core.files.json_objects import Object, check_storable, read_json_lines, read_json_list
from core.files.refusals import BadFieldError, FileRefusedError, Refuse, RefuseRecord, UnmappedError, ignore
from core.files.text_source import TextSource


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

    def __init__(self, source: TextSource, room: Path, *, given: Mapping[str, str] | None = None) -> None:
        super().__init__(source, room)
        self.given = dict(given or {})
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
        if "text" not in self.mapping and not isinstance(first.get("turns"), list):
            raise UnmappedError(
                f"{self.source.name}: no member holds the query; the first object has "
                f"{quote_names(first)}. Name it: --column text=MEMBER.",
                list(first),
            )

    def mapping_of(self, value: Object) -> dict[str, str]:
        """Which member holds which field; objects with the same members share it."""
        key = tuple(value)
        known = self._mappings.get(key)
        if known is None:
            members = {name.strip(): name for name in reversed(key)}
            given = {ours: theirs.strip() for ours, theirs in self.given.items()}
            there = {ours: theirs for ours, theirs in given.items() if not theirs or theirs in members}
            known = {ours: members[theirs] for ours, theirs in map_columns(key, there, FIELD_NAMES).items()}
            if len(self._mappings) < 1000:
                self._mappings[key] = known
        return known

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
        taken = set(mapping.values())
        rest = {name: each for name, each in value.items() if name not in taken and each not in (None, "")}
        record = fields.record_of(
            {ours: value[theirs] for ours, theirs in mapping.items()},
            line=line,
            ordinal=0,
            extra={"columns": rest} if rest else {},
        )
        if self._conversations.joins(record, refuse):
            yield record


class JsonListReader(JsonLinesReader):
    """An array of objects with our fields."""

    format = "json"
    unit = "record"

    def objects(self, refuse: Refuse) -> Iterator[tuple[int, Object]]:
        """Its items."""
        return read_json_list(self.source, refuse)


def turns_of(topic: Object, turns: list[Any], line: int) -> Iterator[Record]:
    """The turns of one conversation, each with those before it.

    CAsT's members (`number`, `raw_utterance`) and ours (`id`, `text`) are understood; `response` is what a
    system said then. Rewritten forms of a turn are kept in `extra`, never shown as its text.
    """
    conversation = fields.id_of(topic.get("number", topic.get("id")), "conversation")
    before: list[str] = []
    replies: list[str] = []
    last = 0
    for place, turn in enumerate(turns, 1):
        if not isinstance(turn, dict):
            raise BadFieldError(f"Turn {place} of conversation {conversation!r} is no object.")
        number = fields.turn_of(turn.get("number", place)) or place
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
            id=fields.id_of(turn.get("id") or (f"{conversation}_{number}" if conversation else "")),
            conversation=conversation,
            turn=number,
            context=list(before),
            replies=list(replies),
            passages=fields.passages_of(turn.get("passages")),
            references=fields.texts_of(turn.get("answers"), "references"),
            extra=extra,
        )
        before.append(text)
        reply = turn.get("response")
        replies.append(reply if isinstance(reply, str) else "")
