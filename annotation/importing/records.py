"""What a reader gives: one query of a file with all that the file says of it."""

from dataclasses import dataclass, field
from typing import Any

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
