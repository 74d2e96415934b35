"""A release's table with scores from elsewhere as further columns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

from evaluations.tables.rows import AnswerTable, Row


@dataclass(eq=False)
class JoinedTable:
    """The table with values of candidates under each name; nan where a candidate has none."""

    table: AnswerTable
    columns: Mapping[str, Mapping[str, float]]
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.external = list(self.columns)
        self.notes = self.table.notes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def rows(self) -> Iterator[Row]:
        """All rows in their order."""
        columns = list(self.columns.values())
        for row in self.table.rows():
            yield replace(row, external=tuple(column.get(row.id, nan) for column in columns))
