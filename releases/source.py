"""What a format is written from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from releases.tables import SPLITS, FilledTable, Row

if TYPE_CHECKING:
    from core.projects.models import Project
    from releases.models import Release

#: Called with rows done, rows in all and words; it may raise to end the work.
Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, note: str) -> None:
    """Progress that nobody looks at."""


@dataclass(frozen=True, slots=True)
class Source:
    """A release while it is built: its tables by name, each of which can be read again and again.

    Rows come in batches of plain values: texts, numbers, truths, None; columns that are lists hold
    dictionaries with the fields of `tables.RECORDS`. `rows` are the rows of each table by split, `parameters`
    what the manifest says about how the release was made. `lines` is a folder with TABLE-SPLIT.jsonl of all
    tables where they are written already, `longest` the bytes of the longest line.
    """

    project: "Project"
    release: "Release"
    tables: Mapping[str, FilledTable]
    parameters: Mapping[str, Any]
    rows: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    lines: Path | None = None
    longest: int = 0

    def splits(self, table: str) -> tuple[str, ...]:
        """The splits in which a table has rows; `train` alone where it has none at all."""
        found = tuple(split for split in SPLITS if self.rows.get(table, {}).get(split))
        return found or SPLITS[:1]

    @property
    def filled(self) -> tuple[FilledTable, ...]:
        """The tables that have rows; an empty table has no files."""
        return tuple(each for name, each in self.tables.items() if any(self.rows.get(name, {}).values()))


def by_split(filled: FilledTable) -> Iterator[dict[str, list[Row]]]:
    """A table's batches, each taken apart by split; splits without rows in a batch are missing."""
    place = filled.table.place("split")
    for batch in filled.batches():
        parts: dict[str, list[Row]] = {}
        for row in batch:
            parts.setdefault(row[place], []).append(row)
        yield parts
