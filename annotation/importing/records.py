"""A query of a file with all that the file says of it: a row or an object, by its names, as a record."""

import hashlib
import json
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.files.cells import list_in
from core.files.reading import NAMES, plain_name
from core.files.refusals import BadFieldError, RefuseRecord

# Names of columns and members, ours and those that people use.

#: Our fields, each with the names that are taken for it, the likeliest first.
FIELD_NAMES: dict[str, tuple[str, ...]] = {
    "text": ("query", "question", "text", "utterance", "raw_utterance", "search_query", *NAMES["question"]),
    "count": ("count", "frequency", "freq", "occurrences", "query_count", "n"),
    "id": ("id", "query_id", *NAMES["question_id"]),
    "type": ("type", "query_type", "answer_type", "class"),
    "yes_no": ("yes_no", "yesno", "is_yes_no"),
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
    "context": NAMES["context"],
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
        return turn in self.turns and plain_form(normal(self.turns[turn][0])) == plain_form(normal(text))


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
        conversation = self._known.get(record.conversation)
        if conversation is not None and _again(conversation, record):
            record.turn = record.turn or conversation.last
            record.context = conversation.before(record.turn)
            self._now = record.conversation
            return True
        if record.conversation != self._now:
            conversation = None
            if record.turn not in (None, 1):
                refuse(
                    record.line,
                    f"Turn {record.turn} of conversation {record.conversation!r} comes without the turns "
                    "before it: lines of a conversation must stand together, from turn 1 on.",
                    "turn",
                )
                return False
        if conversation is None:
            conversation = self._begun(record.conversation)
        return self._added(conversation, record, refuse)

    def _begun(self, name: str) -> _Conversation:
        self._now = name
        self._known[name] = begun = _Conversation()
        self._known.move_to_end(name)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return begun

    def _added(self, conversation: _Conversation, record: Record, refuse: RefuseRecord) -> bool:
        """The next turn of the conversation."""
        turn = record.turn or conversation.last + 1
        if turn in conversation.turns:
            refuse(
                record.line,
                f"Turn {turn} of conversation {record.conversation!r} has another text in line "
                f"{conversation.turns[turn][1]}.",
                "text",
            )
            return False
        if turn <= conversation.last:
            refuse(
                record.line,
                f"Turn {turn} of conversation {record.conversation!r} comes after turn {conversation.last}.",
                "turn",
            )
            return False
        if len(conversation.turns) >= MOST_TURNS:
            refuse(
                record.line,
                f"Conversation {record.conversation!r} has more than {MOST_TURNS} turns.",
                "conversation",
            )
            return False
        record.context = conversation.before(turn)
        record.turn = conversation.last = turn
        conversation.last_id = record.id
        conversation.turns[turn] = (record.text, record.line)
        return True


def _again(conversation: _Conversation, record: Record) -> bool:
    """Whether the record is one more line of a turn that is there, by its number, or else by its id.

    Without either, it is where it brings a passage or a reference to the words that were said last.
    """
    if record.turn is not None:
        return conversation.has(record.turn, record.text)
    if not conversation.has(conversation.last, record.text):
        return False
    if record.id or conversation.last_id:
        return record.id == conversation.last_id
    return bool(record.passages or record.references)


# Queries as text: what counts as the same query, and how it is named.

# Words of strangers inside our own sentences.

_LONGEST = 60
#: Unicode's "first strong isolate" and its end: what lies between turns nothing around that is outside.
_ISOLATE, _END = "\u2068", "\u2069"


def quoted(text: str) -> str:
    """The words in quotation marks, on one line and not too long, read in their own direction."""
    text = " ".join(text.replace(_END, "").split())
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
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


#: Typographic quotation marks and dashes, and the plain ones that are written for them.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)


def plain_form(text: str) -> str:
    """A normalised text as texts of rows are compared: NFKC, with plain quotation marks and dashes, no case.

    `query_digest` is of the text without its case only, as it was before; `plain_digest` is of this form.
    """
    if text.isascii():
        return folded(text)
    # Before NFKC, too, which makes two marks of a double prime.
    return folded(unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN))


def identity(text: str, context: Sequence[str] = (), form: Callable[[str], str] = folded) -> str:
    """What two records of one query share: the text in this form, after the same turns. Both normalised."""
    if not context:
        return form(text)
    return _BETWEEN.join(form(each) for each in [*context, text])


def query_digest(text: str, context: Sequence[str] = ()) -> str:
    """`Query.digest`: SHA-256 of the identity."""
    return hashlib.sha256(identity(text, context).encode()).hexdigest()


def plain_digest(text: str, context: Sequence[str] = ()) -> str:
    """`Query.plain_digest`: that of the plain form, by which other spellings of a query are found."""
    return hashlib.sha256(identity(text, context, plain_form).encode()).hexdigest()


_YES = {"1", "true", "yes", "y", "yes_no", "yes-no"}
_NO = {"0", "false", "no", "n", ""}
_MOST_ID = 200
#: Fields that say something about the one passage of a line.
OF_PASSAGE = ("passage_id", "passage_title", "passage_url", "selected")
_MOST_URL = 2000
#: Characters of a list as Python prints it: reading one takes hundreds of bytes for each.
_LONGEST_LIST = 2**17


def _elsewhere(extra: Mapping[str, Any]) -> str:
    """A column with a name for the query that is filled while the query's own is empty, in a sentence."""
    for name, value in extra.get("columns", {}).items():
        if plain_name(name) in FIELD_NAMES["text"] and isinstance(value, str) and value.strip():
            return f" The column {quoted(name)} has one: write it into one column with the others."
    return ""


def record_of(values: Mapping[str, Any], *, line: int, ordinal: int, extra: dict[str, Any]) -> Record:
    """A record from values by our names; BadFieldError says which field is wrong and how."""
    text = values.get("text")
    if not isinstance(text, str) or not text.strip():
        raise BadFieldError(
            f"The query has no text.{_elsewhere(extra)}"
            if text is None or (isinstance(text, str) and not text.strip())
            else "The query's text is no text.",
            "text",
        )
    passages = passages_of(values.get("passages"))
    about = {name: values[name] for name in OF_PASSAGE if values.get(name) not in (None, "")}
    if about and len(passages) == 1:
        _describe(passages[0], about)
    elif about:
        extra = extra | {"columns": extra.get("columns", {}) | about}
    return Record(
        line=line,
        ordinal=ordinal,
        text=text,
        count=count_of(values.get("count")),
        id=id_of(values.get("id")),
        type=type_of(values.get("type")),
        yes_no=yes_no_of(values.get("yes_no"), values.get("type")),
        conversation=id_of(values.get("conversation"), "conversation"),
        turn=turn_of(values.get("turn")),
        context=texts_of(values.get("context"), "context"),
        replies=replies_of(values.get("context")),
        passages=passages,
        references=texts_of(values.get("references"), "references"),
        extra=extra,
    )


def _describe(passage: Passage, about: Mapping[str, Any]) -> None:
    """What columns beside a passage say about it, where it does not say so itself."""
    passage.key = passage.key or id_of(about.get("passage_id"), "passage_id")
    passage.title = passage.title or str(about.get("passage_title") or "")
    passage.url = passage.url or web_address(about.get("passage_url"))
    if "selected" in about:
        passage.selected = yes_no_of(about["selected"], field="selected") or False


def count_of(value: Any) -> int:
    """How often the log has it; 1 where it does not say."""
    if value is None or value == "":
        return 1
    try:
        count = int(value) if not isinstance(value, float) or value.is_integer() else 0
    except (TypeError, ValueError):
        count = 0
    if isinstance(value, bool) or not 1 <= count <= MOST_COUNT:
        raise BadFieldError(
            f"The count {_abridge(value)} is no whole number from 1 to {MOST_COUNT:,}.", "count"
        )
    return count


def id_of(value: Any, name: str = "id") -> str:
    """An id as text."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadFieldError(f"The {name} {_abridge(value)} is neither text nor a number.", name)
    text = str(value).strip()
    if len(text) > _MOST_ID:
        raise BadFieldError(f"The {name} is longer than {_MOST_ID} characters.", name)
    return text


def type_of(value: Any) -> str:
    """One of MS MARCO's classes, or none."""
    if value is None or value == "":
        return ""
    word = str(value).strip().upper()
    if word in ("YES_NO", "YES-NO", "YESNO", "NONE", ""):
        return ""
    if word not in TYPES:
        raise BadFieldError(f"The type {_abridge(value)} is none of {', '.join(TYPES)}.", "type")
    return word


def yes_no_of(value: Any, type_value: Any = None, *, field: str = "yes_no") -> bool | None:
    """Whether the answer is yes or no; None where the file does not say."""
    if value is None or value == "":
        type_name = str(type_value or "").strip().upper()
        return True if type_name in ("YES_NO", "YES-NO", "YESNO") else None
    word = str(value).strip().casefold()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise BadFieldError(f"The yes-no flag {_abridge(value)} is neither yes nor no.", field)


def turn_of(value: Any) -> int | None:
    """Number of a turn, from 1."""
    if value is None or value == "":
        return None
    try:
        turn = int(value)
    except (TypeError, ValueError):
        turn = 0
    if not 1 <= turn <= 10_000:
        raise BadFieldError(f"The turn {_abridge(value)} is no whole number from 1 on.", "turn")
    return turn


def texts_of(value: Any, name: str) -> list[str]:
    """A list of texts: as JSON, as a list, or one text; turns may be objects with a `text`."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = _json_in(value)
    values = value if isinstance(value, list) else [value]
    texts = [each.get("text") if isinstance(each, dict) else each for each in values]
    if not all(isinstance(each, str) for each in texts):
        raise BadFieldError(f"The {name} are no list of texts.", name)
    return [each for each in texts if isinstance(each, str) and each.strip()]


def replies_of(value: Any) -> list[str]:
    """What a system replied to each turn of a context that `texts_of` reads; empty where none has a reply."""
    value = _json_in(value) if isinstance(value, str) else value
    turns = [each for each in value if _is_turn(each)] if isinstance(value, list) else []
    replies = [each.get("answer", each.get("response")) if isinstance(each, dict) else "" for each in turns]
    if not all(reply is None or isinstance(reply, str) for reply in replies):
        raise BadFieldError("A turn of the context has an answer that is no text.", "context")
    return [reply or "" for reply in replies] if any(replies) else []


def _is_turn(value: Any) -> bool:
    text = value.get("text") if isinstance(value, dict) else value
    return isinstance(text, str) and bool(text.strip())


def passages_of(value: Any) -> list[Passage]:
    """Passages: a list of texts or of objects, the same as JSON in a column, or one text."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = _json_in(value)
    values = value if isinstance(value, list) else [value]
    if len(values) > MOST_PASSAGES:
        raise BadFieldError(f"There are more than {MOST_PASSAGES} passages.", "passages")
    return [passage for each in values if (passage := _passage(each)) is not None]


def _passage(value: Any) -> Passage | None:
    if isinstance(value, str):
        return Passage(text=value) if value.strip() else None
    if not isinstance(value, dict):
        raise BadFieldError("A passage is neither text nor an object.", "passages")
    text = value.get("text", value.get("passage_text", value.get("passage")))
    if not isinstance(text, str):
        raise BadFieldError("A passage has no text.", "passages")
    if not text.strip():
        return None
    start, end = value.get("start"), value.get("end")
    if (start is None) != (end is None) or not (start is None or _region(start, end)):
        raise BadFieldError("A passage's start and end are no region of its page.", "passages")
    return Passage(
        text=text,
        title=str(value.get("title") or ""),
        url=web_address(value.get("url")),
        key=id_of(value.get("id", value.get("key"))),
        page=str(value.get("page") or "")[:_MOST_URL],
        start=start,
        end=end,
        selected=selected_of(value.get("is_selected", value.get("selected"))),
    )


def _region(start: Any, end: Any) -> bool:
    return type(start) is int and type(end) is int and 0 <= start < end <= 2**31 - 1


def selected_of(value: Any) -> bool:
    """Whether the file had the passage selected."""
    return bool(yes_no_of(value))


def web_address(value: Any) -> str:
    """An address of the web, or nothing: other schemes are never kept, so that no page links to them."""
    text = str(value or "").strip()
    return text if re.match(r"https?://\S+$", text, re.IGNORECASE) and len(text) <= _MOST_URL else ""


def _json_in(text: str) -> Any:
    """What a column holds: JSON where it begins like it, or a list as Python prints it; else the text."""
    if text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        listing = list_in(text) if len(text) <= _LONGEST_LIST else None
        return text if listing is None else listing


def _abridge(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
