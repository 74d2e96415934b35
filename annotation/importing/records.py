"""What a reader gives: records, refused lines, and the reason why a whole file is refused."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

TYPES = ("PERSON", "NUMERIC", "LOCATION", "ENTITY", "DESCRIPTION")
MOST_COUNT = 10**9
#: Refused lines that a report lists; the rest are only counted.
MOST_LISTED = 1000
#: Passages that one query can bring.
MOST_PASSAGES = 1000
#: Contradictions between rows of one query that a report shows, for each field.
MOST_EXAMPLES = 20


class FileRefusedError(Exception):
    """The file as a whole cannot be imported; the message names it and says what to do."""


class UnmappedError(FileRefusedError):
    """No column holds the query; the file has these."""

    def __init__(self, message: str, columns: list[str]) -> None:
        super().__init__(message)
        self.columns = columns


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a file may ask of memory and disk.

    A value of one character in four bytes, or of nothing but small objects, takes up to thirty times its
    length in memory: with these limits reading stays below 300 MiB in all.
    """

    line_bytes: int = 8 * 2**20
    value_chars: int = 6 * 2**20
    #: Objects and lists in one line.
    line_parts: int = 200_000
    expansion: int = 200
    expansion_from: int = 64 * 2**20
    unpacked_bytes: int = 2**40


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


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that was left out."""

    line: int
    reason: str


#: Told of a line that cannot be taken, and why.
Refuse = Callable[[int, str], None]


class RefuseRecord(Protocol):
    """The same where records are made: `field` is the one of ours that is at fault, if one is."""

    def __call__(self, line: int, reason: str, /, field: str = "") -> None:
        """Refuse one line."""


class LookedEnoughError(Exception):
    """A look at a file has read as many lines as it may."""


class Refusals:
    """Counts refused lines and keeps the first ones; with `strict` the first one refuses the file.

    `fields` counts them by the field at fault.
    """

    def __init__(self, file: str, *, strict: bool = False, unit: str = "line") -> None:
        self.file, self.strict, self.unit = file, strict, unit
        self.total = 0
        self.listed: list[Refusal] = []
        self.fields: Counter[str] = Counter()

    def __call__(self, line: int, reason: str, /, field: str = "") -> None:
        """Refuse one line; FileRefusedError if strict."""
        if self.strict:
            raise FileRefusedError(f"{self.file}, {self.unit} {line}: {reason} Nothing was imported.")
        self.total += 1
        if field:
            self.fields[field] += 1
        if len(self.listed) < MOST_LISTED:
            self.listed.append(Refusal(line, reason[:300]))

    def looking(self, most: int) -> RefuseRecord:
        """The same, until so many lines are refused: LookedEnoughError."""

        def refuse(line: int, reason: str, /, field: str = "") -> None:
            self(line, reason, field)
            if self.total >= most:
                raise LookedEnoughError

        return refuse


class BadFieldError(ValueError):
    """A record with a field that cannot be taken as it is, in words; `field` is its name, where it is one."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
