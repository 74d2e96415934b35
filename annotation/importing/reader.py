"""What all formats have in common: a file that gives records in two passes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from annotation.importing.records import Record
from core.files.csv_tables import BATCH
from core.files.refusals import RefuseRecord
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
