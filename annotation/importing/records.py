"""A query of a file with all that the file says of it: its columns and members, its turns, its text."""

import hashlib
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.files.refusals import RefuseRecord

# Names of columns and members, ours and those that people use.

#: Our fields, each with the names that are taken for it, the likeliest first.
FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "text": ("query", "question", "text", "query_text", "utterance", "raw_utterance", "search_query", "q"),
    "count": ("count", "frequency", "freq", "occurrences", "query_count", "n"),
    "id": ("id", "query_id", "qid", "question_id", "queryid"),
    "type": ("type", "query_type", "answer_type", "class"),
    "yes_no": ("yes_no", "yesno", "is_yes_no", "yes-no"),
    "conversation": (
        "conversation",
        "conversation_id",
        "session",
        "session_id",
        "topic_number",
        "dialogue_id",
    ),
    "turn": ("turn", "turn_number", "turn_id", "turn_no"),
    "passages": ("passages", "candidates", "passage", "contexts"),
    "passage_id": ("passage_id", "pid", "docid", "doc_id", "document_id"),
    "passage_title": ("passage_title", "doc_title", "document_title"),
    "passage_url": ("passage_url", "doc_url", "document_url"),
    "selected": ("is_selected", "selected"),
    "references": ("references", "answers", "reference_answers", "reference", "answer"),
    "context": ("context_turns", "history", "previous_turns"),
}
FIELDS = tuple(FIELD_NAMES)


TYPES = ("PERSON", "NUMERIC", "LOCATION", "ENTITY", "DESCRIPTION")
MOST_COUNT = 10**9
#: Passages that one query can bring.
MOST_PASSAGES = 1000
#: Contradictions between rows of one query that a report shows, for each field.
MOST_EXAMPLES = 20


@dataclass(slots=True)
class Passage:
    """A passage that came with a query; offsets are characters of its page."""

    text: str
    title: str = ""
    url: str = ""
    key: str = ""
    page: str = ""
    start: int | None = None
    end: int | None = None
    selected: bool = False


@dataclass(slots=True)
class Part:
    """What one line brought to a query that several lines make: places of its passages, and references."""

    line: int
    passages: list[int] = field(default_factory=list)
    references: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Record:
    """One query as its file has it. `ordinal` is its place among the file's records, the same in every pass.

    `line` is the number of its line, or of its record in formats that are one JSON document.
    """

    line: int
    ordinal: int
    text: str
    count: int = 1
    id: str = ""
    type: str = ""
    yes_no: bool | None = None
    conversation: str = ""
    turn: int | None = None
    context: list[str] = field(default_factory=list)
    #: What a system answered to each turn of the context, "" where the file does not say; or empty.
    replies: list[str] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)  # JSON as the file has it
    #: The lines that it was put together from, where there are several.
    parts: list[Part] = field(default_factory=list)


def stored_record(values: dict[str, Any]) -> Record:
    """A record from `dataclasses.asdict` of it, as JSON keeps it."""
    passages = [Passage(**each) for each in values.pop("passages")]
    parts = [Part(**each) for each in values.pop("parts")]
    return Record(passages=passages, parts=parts, **values)


# Earlier turns of a conversation, for files that have a turn a line.

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


# Queries as text: what counts as the same query, and how it is named.

# Words of strangers inside our own sentences.

_LONGEST = 60
#: Unicode's "first strong isolate" and its end: what lies between turns nothing around that stands outside.
_ISOLATE, _END = "\u2068", "\u2069"


def quoted(words: str) -> str:
    """The words in quotation marks, on one line and not too long, read in their own direction."""
    words = " ".join(words.replace(_END, "").split())
    short = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
    return f"“{_ISOLATE}{short}{_END}”"


_UNSEEN = re.compile("[\u0000-\u0008\u000e-\u001b\u007f-\u009f\u200b\u2060\ufeff]")
#: Stands between the turns of a conversation; no normalised text has it, for it is white space.
_BETWEEN = "\n"


def normal(text: str) -> str:
    """NFC, white space collapsed and stripped, invisible control characters left out.

    Joiners and direction marks stay: some scripts need them.
    """
    if text.isascii():
        if not text.isprintable():
            text = _UNSEEN.sub("", text)
    else:
        text = _UNSEEN.sub("", unicodedata.normalize("NFC", text))
    return " ".join(text.split())


def folded(text: str) -> str:
    """A normalised text without its case: equal ones are the same query."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def identity(text: str, context: Sequence[str] = ()) -> str:
    """What two records of one query share: the text without case, after the same turns. Both normalised."""
    if not context:
        return folded(text)
    return _BETWEEN.join(folded(each) for each in [*context, text])


def query_digest(text: str, context: Sequence[str] = ()) -> str:
    """`Query.digest`: SHA-256 of the identity."""
    return hashlib.sha256(identity(text, context).encode()).hexdigest()
