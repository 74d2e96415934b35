"""What readers of all formats have in common: records in two passes, and what to do about refused lines."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from annotation.importing.records import FIELD_NAMES, TYPES, Record, quoted
from core.files.csv_tables import BATCH
from core.files.refusals import Refusals, RefuseRecord
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

    def take(self, wanted: Iterable[int], refuse: RefuseRecord) -> Iterator[Record]:
        """The records with these ordinals, which ascend, in the order of the file."""
        left = iter(wanted)
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
_FEW = 2
_HALF = 0.5
_WANTS = {
    "type": f"one of {', '.join(TYPES)}",
    "yes_no": "yes or no",
    "count": "a whole number",
    "turn": "a whole number from 1 on",
    "selected": "yes or no",
}


def hints_of(reader: Reader, given: Mapping[str, str], refusals: Refusals) -> list[str]:
    """What a person may want to read otherwise: columns that refuse lines, and turns that are not read."""
    return [*refused_fields(reader, given, refusals), *_unread_turns(reader, given)]


def _unread_turns(reader: Reader, given: Mapping[str, str]) -> list[str]:
    """A column `context`, which holds earlier turns in some files and passages in others."""
    mapping: Mapping[str, str] = getattr(reader, "mapping", {})
    names = [name for name in getattr(reader, "columns", []) if name.strip().casefold() == "context"]
    if not names or "context" in given or "context" in mapping or names[0] in mapping.values():
        return []
    return [
        f"The column {quoted(names[0])} is not read, because some files have passages under that name: its "
        "values stay with the queries. If it holds the earlier turns of conversations, choose it for them "
        f"(on the command line: --column context={names[0].strip()})."
    ]


def refused_fields(reader: Reader, given: Mapping[str, str], refusals: Refusals) -> list[str]:
    """Columns that refuse at least half of what is refused, at least two lines, each with its remedy."""
    mapping: Mapping[str, str] = getattr(reader, "mapping", {})
    hints = []
    for name, lines in refusals.fields.most_common():
        if name not in FIELD_NAMES or name not in mapping or name in _NEEDED:
            continue
        if lines < _FEW or lines < refusals.total * _HALF:
            continue
        found = "" if given.get(name) else ", found by its name,"
        wants = f" It takes {_WANTS[name]}." if name in _WANTS else ""
        hints.append(
            f"The column {quoted(mapping[name])}{found} is read as the {name.replace('_', ' ')} and refuses "
            f"{lines:,} {reader.unit}s.{wants} If it holds something else, choose “not in the file” for it "
            f"(on the command line: --column {name}=); its values then stay with the queries."
        )
    return hints
