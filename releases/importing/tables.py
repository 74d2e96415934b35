"""Files of human scores in their formats, as a stream of rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.files.cells import quote_names
from core.files.refusals import FileRefusedError
from core.files.text_source import TextSource
from core.files.value_tables import FORMATS as READ_FORMATS
from core.files.value_tables import ColumnRules, Values, read_table, settle_format
from judgments.importing.rows import RowRefusedError
from releases.importing.columns import mapped
from releases.importing.rows import Scale, ScoredRow, row_of

FORMATS = {"auto": "find out from the file", **READ_FORMATS}
Given = Mapping[str, Sequence[str]]
#: Told of a row that cannot be taken: its line, the field, why, and what to do.
Refuse = Callable[[int, str, str, str], None]


@dataclass(slots=True)
class ScoreTable:
    """A file that gives rows. `mapping` says which column holds what; `unit` is what its numbers count."""

    source: TextSource
    format: str
    description: str
    unit: str
    columns: list[str]
    mapping: dict[str, str]
    values: Callable[[Callable[[int, str], None]], Values]

    def rows(self, scale: Scale, refuse: Refuse) -> Iterator[ScoredRow]:
        """All rows in the order of the file; what cannot be taken is refused."""

        def unread(line: int, reason: str) -> None:
            refuse(line, self.unit, reason, "")

        for line, value in self.values(unread):
            try:
                row = row_of(value, line=line, scale=scale)
            except RowRefusedError as error:
                refuse(line, error.field, error.reason, error.remedy)
            else:
                yield row

    def named(self, field: str) -> str:
        """A field for a message, with its column where that is called otherwise."""
        column = self.mapping.get(field, field)
        return field if column == field else f"{field} (column {column!r})"


class _ScoreColumns(ColumnRules):
    """Columns of human scores: the query, the answer, and a score or single ratings."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self.chosen = [name for theirs in given.values() for name in theirs if name]

    def map(self, columns: Iterable[str]) -> dict[str, str]:
        """As given, the rest by the names that people use."""
        return mapped(columns, self._given)

    def map_members(self, members: Sequence[str]) -> dict[str, str]:
        """The same for an object, by its members as they are written."""
        names = {name.strip(): name for name in reversed(members)}
        there = {field: [name for name in theirs if name in names] for field, theirs in self._given.items()}
        return {ours: names[theirs] for ours, theirs in mapped(members, there).items()}

    def check(self, source: TextSource, columns: list[str], mapping: Mapping[str, str]) -> None:
        """FileRefusedError names the field that has no column."""
        has = f"{source.name} has {quote_names(columns)}."
        for field, words in (("query", "the query"), ("answer", "the answer")):
            if field not in mapping:
                raise FileRefusedError(
                    f"Nothing holds {words}. {has} Say which column does: --column {field}=COLUMN."
                )
        if "score" not in mapping and not any(place.startswith("ratings/") for place in mapping):
            raise FileRefusedError(
                f"Nothing holds the human score. {has} Say which column does: --column score=COLUMN, or "
                "--column ratings=COLUMN for single ratings."
            )


def open_table(
    source: TextSource, *, format: str = "auto", given: Given | None = None, header: bool | None = None
) -> ScoreTable:
    """The file as rows; FileRefusedError where it cannot be read or a field has no column.

    `given` names the columns of fields, an empty list keeps one from being looked for. Without `header` the
    first row of a table names the columns, unless columns are chosen by their numbers from 1.
    """
    format = settle_format(source, format, FORMATS)
    table = read_table(source, format=format, header=header, rules=_ScoreColumns(given or {}))
    return ScoreTable(
        source, format, table.description, table.unit, table.columns, table.mapping, table.values
    )
