"""Earlier turns of a conversation, for files that have a turn a line."""

from collections import OrderedDict
from dataclasses import dataclass, field

from annotation.importing.records import Record
from annotation.importing.text import folded, normal
from core.files.refusals import RefuseRecord

MOST_TURNS = 200
#: Conversations whose turns are remembered, so that further lines of a turn find their place.
_REMEMBERED = 500


@dataclass(slots=True)
class _Conversation:
    """Turns so far: number, text and line of each, and the id of the last one."""

    turns: dict[int, tuple[str, int]] = field(default_factory=dict)
    last: int = 0
    last_id: str = ""

    def before(self, turn: int) -> list[str]:
        return [text for number, (text, _line) in self.turns.items() if number < turn]

    def has(self, turn: int, text: str) -> bool:
        return turn in self.turns and folded(normal(self.turns[turn][0])) == folded(normal(text))


class Conversations:
    """Gives each record the turns before it, in constant memory: turns of a conversation stand together.

    A turn may have several lines, one after another or later in the file, as where each has a passage. A
    record that is out of place is refused, for its context would be wrong.
    """

    def __init__(self) -> None:
        self._now = ""
        self._known: OrderedDict[str, _Conversation] = OrderedDict()

    def joins(self, record: Record, refuse: RefuseRecord) -> bool:
        """Fill in its context; False if it was refused. Records without a conversation stand alone."""
        if not record.conversation:
            self._now = ""
            return True
        if record.context:
            return True
        known = self._known.get(record.conversation)
        if known is not None and _again(known, record):
            record.turn = record.turn or known.last
            record.context = known.before(record.turn)
            self._now = record.conversation
            return True
        if record.conversation != self._now:
            known = None
            if record.turn not in (None, 1):
                refuse(
                    record.line,
                    f"Turn {record.turn} of conversation {record.conversation!r} stands without the turns "
                    "before it: lines of a conversation must stand together, from turn 1 on.",
                    "turn",
                )
                return False
        if known is None:
            known = self._begun(record.conversation)
        return self._added(known, record, refuse)

    def _begun(self, name: str) -> _Conversation:
        self._now = name
        self._known[name] = begun = _Conversation()
        self._known.move_to_end(name)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return begun

    def _added(self, known: _Conversation, record: Record, refuse: RefuseRecord) -> bool:
        """The next turn of the conversation."""
        turn = record.turn or known.last + 1
        if turn in known.turns:
            refuse(
                record.line,
                f"Turn {turn} of conversation {record.conversation!r} has another text in line "
                f"{known.turns[turn][1]}.",
                "text",
            )
            return False
        if turn <= known.last:
            refuse(
                record.line,
                f"Turn {turn} of conversation {record.conversation!r} comes after turn {known.last}.",
                "turn",
            )
            return False
        if len(known.turns) >= MOST_TURNS:
            refuse(
                record.line,
                f"Conversation {record.conversation!r} has more than {MOST_TURNS} turns.",
                "conversation",
            )
            return False
        record.context = known.before(turn)
        record.turn = known.last = turn
        known.last_id = record.id
        known.turns[turn] = (record.text, record.line)
        return True


def _again(known: _Conversation, record: Record) -> bool:
    """Whether the record is one more line of a turn that is there, by its number, or else by its id.

    Without either, it is where it brings a passage or a reference to the words that were said last.
    """
    if record.turn is not None:
        return known.has(record.turn, record.text)
    if not known.has(known.last, record.text):
        return False
    if record.id or known.last_id:
        return record.id == known.last_id
    return bool(record.passages or record.references)
