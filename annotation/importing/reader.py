"""What all formats have in common: a file that gives records in two passes."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from annotation.importing.records import Record, Refuse
from annotation.importing.source import Source

BATCH = 20_000


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


class Reader(ABC):
    """A file in one format. `unit` is what its numbers count: lines, or records of one JSON document."""

    format: str
    unit: str = "line"

    def __init__(self, source: Source, room: Path) -> None:
        self.source = source
        self.room = room  # a folder for temporary files

    @property
    def said(self) -> str:
        """The format in words."""
        return self.format

    @abstractmethod
    def records(self, refuse: Refuse) -> Iterator[Record]:
        """All records in the order of the file; what cannot be read is refused with its line."""

    def batches(self, refuse: Refuse) -> Iterator[Batch]:
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
            )

    def take(self, wanted: set[int], refuse: Refuse) -> Iterator[Record]:
        """The records with these ordinals, in the order of the file."""
        left = len(wanted)
        for record in self.records(refuse):
            if record.ordinal in wanted:
                yield record
                left -= 1
                if not left:
                    return


def ignore(_line: int, _reason: str) -> None:
    """For a second pass: what it refuses was refused before."""
