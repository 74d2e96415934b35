"""TREC Conversational Assistance Track topics as they were published from 2019 to 2022 (Dalton et al. 2020).

2019 and 2020: a list of topics with numbered `raw_utterance`s; 2020 and later also rewritten ones. 2021: each
turn has the `passage` of its canonical result, which the next turns speak of. 2022: a tree, in which every
turn names its `parent` (in the sample: `parent_turn`) and the system's turns have a `response`; or the paths
of that tree one after the other ("flattened"), in which a turn has its own response and turns that two paths
share are there twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.importing import fields
from annotation.importing.conversations import MOST_TURNS
from annotation.importing.jsonlines import ObjectReader
from annotation.importing.records import Record
from core.files.json_objects import JsonStream, Object, read_json_list
from core.files.refusals import BadFieldError, Refuse, RefuseRecord
from core.files.text_source import TextSource

_TEXT = ("raw_utterance", "utterance", "text")
_REPLY = ("response", "passage")
_PARENT = ("parent", "parent_turn")
#: Members of a turn that a record has fields for.
_TAKEN = {*_TEXT, *_PARENT, "number", "id", "participant"}
_ABOUT = ("title", "description")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a topic: what the user said, or what the system replied, or both."""

    number: str
    place: int | None
    utterance: str
    reply: str
    parent: str | None
    by_system: bool
    value: Object


class CastReader(ObjectReader):
    """Topics of conversations; every turn of a user is a query after the turns on its path."""

    format = "cast"
    unit = "topic"

    def __init__(self, source: TextSource, room: Path) -> None:
        super().__init__(source, room)
        self._topic = ""
        self._given: set[tuple[str, str, tuple[str, ...]]] = set()

    @property
    def description(self) -> str:
        """The format in words."""
        return "TREC CAsT topics"

    def objects(self, refuse: Refuse) -> Iterator[tuple[int, Object]]:
        """Its topics; a file with one topic only may do without the list."""
        self._topic, self._given = "", set()
        stream = JsonStream(self.source)
        if stream.peek() != "{":
            yield from read_json_list(self.source, refuse)
            return
        value, _text = stream.value()
        stream.finish()
        yield 1, value

    def in_object(self, value: Object, line: int, refuse: RefuseRecord) -> Iterator[Record]:
        """The user's turns of a topic. What another path of the same topic gave already is passed over."""
        given = value.get("turn", value.get("turns"))
        if not isinstance(given, list):
            raise BadFieldError("The topic has no list of turns ('turn').")
        topic = fields.id_of(value.get("number", value.get("id")), "number of the topic")
        if not topic:
            raise BadFieldError("The topic has no number.")
        if topic != self._topic:
            self._topic, self._given = topic, set()
        turns = [_turn(each, place, topic) for place, each in enumerate(given, 1)]
        paths = _tree(turns, topic) if any(each.parent is not None for each in turns) else _line(turns, topic)
        for turn, path in paths:
            record = _record(turn, path, topic, line)
            record.extra |= {f"topic_{name}": value[name] for name in _ABOUT if value.get(name)}
            same = (record.id, record.text, tuple(record.context))
            if same not in self._given:
                self._given.add(same)
                yield record


def _turn(value: Any, place: int, topic: str) -> Turn:
    """A turn as it is written; BadFieldError names it, and says what is wrong with it."""
    if not isinstance(value, dict):
        raise BadFieldError(f"Turn {place} of topic {topic} is no object.")
    number = fields.id_of(value.get("number", place), "number of a turn") or str(place)
    where = f"Turn {number} of topic {topic}"
    parents = [value[name] for name in _PARENT if value.get(name) not in (None, "")]
    said, reply = _words(value, _TEXT, where), _words(value, _REPLY, where)
    by_system = str(value.get("participant") or "user").strip().lower() == "system"
    if by_system and not reply:
        raise BadFieldError(f"{where} is the system's and has no 'response'.")
    if not by_system and not said:
        raise BadFieldError(f"{where} has no text: no member {', '.join(map(repr, _TEXT))}.")
    if not by_system and "participant" in value:
        reply = ""
    root = _PARENT[0] if "participant" in value else None
    return Turn(
        number,
        int(number) if number.isdecimal() else None,
        said,
        reply,
        fields.id_of(parents[0], "parent of a turn") if parents else "" if root else None,
        by_system,
        value,
    )


def _words(value: Mapping[str, Any], names: tuple[str, ...], where: str) -> str:
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found.strip():
            return found
        if found not in (None, "") and not isinstance(found, str):
            raise BadFieldError(f"{where}: its {name!r} is no text.")
    return ""


def _line(turns: list[Turn], topic: str) -> Iterator[tuple[Turn, list[Turn]]]:
    """Turns that follow one another, each with all before it."""
    last = 0
    for at, turn in enumerate(turns):
        if turn.place is not None:
            if turn.place <= last:
                raise BadFieldError(f"Turn {turn.place} of topic {topic} comes after turn {last}.")
            last = turn.place
        yield turn, turns[:at]


def _tree(turns: list[Turn], topic: str) -> Iterator[tuple[Turn, list[Turn]]]:
    """The user's turns of a tree, each with those on the way to it."""
    by_number: dict[str, Turn] = {}
    for turn in turns:
        if turn.number in by_number:
            raise BadFieldError(f"Topic {topic} has two turns {turn.number}.")
        by_number[turn.number] = turn
    for turn in turns:
        if not turn.by_system:
            yield turn, _path(turn, by_number, topic)


def _path(turn: Turn, by_number: Mapping[str, Turn], topic: str) -> list[Turn]:
    path: list[Turn] = []
    at = turn
    while at.parent:
        if at.parent not in by_number:
            raise BadFieldError(
                f"Turn {at.number} of topic {topic} follows turn {at.parent}, which the topic does not have."
            )
        at = by_number[at.parent]
        path.append(at)
        if len(path) > len(by_number):
            raise BadFieldError(f"The turns before turn {turn.number} of topic {topic} go round in a circle.")
    return path[::-1]


def _record(turn: Turn, path: list[Turn], topic: str, line: int) -> Record:
    """The query of a turn. What the system says before any user's turn answers nothing, and is left out."""
    context: list[str] = []
    replies: list[str] = []
    for each in path:
        if not each.by_system:
            context.append(each.utterance)
            replies.append(each.reply)
        elif replies:
            replies[-1] = f"{replies[-1]}\n{each.reply}".strip()
    if len(context) >= MOST_TURNS:
        raise BadFieldError(f"Topic {topic} has more than {MOST_TURNS} turns.")
    return Record(
        line=line,
        ordinal=0,
        text=turn.utterance,
        id=fields.id_of(turn.value.get("id") or f"{topic}_{turn.number}"),
        conversation=topic,
        turn=turn.place or len(context) + 1,
        context=context,
        replies=replies,
        extra={name: each for name, each in turn.value.items() if name not in _TAKEN},
    )
