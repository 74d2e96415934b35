"""Files of human scores in their formats, as a stream of rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.files.columns import ColumnError, quote_names
from core.files.csv_tables import BLANK, DelimitedTable, Row
from core.files.json_objects import read_json_lines, read_json_list
from core.files.refusals import FileRefusedError, ignore
from core.files.text_source import TextSource
from judgments.importing.rows import RowRefusedError
from releases.importing import columns
from releases.importing.rows import Scale, ScoredRow, row_of

FORMATS = {
    "auto": "find out from the file",
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSONL, one object a line",
    "json": "a JSON list of objects",
}
Given = Mapping[str, Sequence[str]]
#: Told of a row that cannot be taken: its line, the field, why, and what to do.
Refuse = Callable[[int, str, str, str], None]
_Values = Iterator[tuple[int, dict[str, Any]]]
#: Enough of the first line to see whether it has tabs.
_LOOK = 2**16


@dataclass(slots=True)
class ScoreTable:
    """A file that gives rows. `mapping` says which column holds what; `unit` is what its numbers count."""

    source: TextSource
    format: str
    description: str
    unit: str
    columns: list[str]
    mapping: dict[str, str]
    values: Callable[[Callable[[int, str], None]], _Values]

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


def open_table(
    source: TextSource, *, format: str = "auto", given: Given | None = None, header: bool | None = None
) -> ScoreTable:
    """The file as rows; FileRefusedError where it cannot be read or a field has no column.

    `given` names the columns of fields, an empty list keeps one from being looked for. Without `header` the
    first row of a table names the columns, unless columns are chosen by their numbers from 1.
    """
    if format not in FORMATS:
        raise FileRefusedError(f"There is no format {format!r}; there are: {', '.join(FORMATS)}.")
    given = given or {}
    if source.workbook:
        if format not in ("auto", "csv", "tsv"):
            raise FileRefusedError(f"{source.name} is a workbook, not {FORMATS[format]}.")
        format = "xlsx"
    elif format == "auto":
        format = _detected(source)
    if format in ("csv", "tsv", "xlsx"):
        table = _DelimitedTable(source, format=format, given=_flat(given), header=header)
        _check(source, table.columns, table.mapping)
        return ScoreTable(
            source, format, table.description, "line", table.columns, table.mapping, table.values
        )
    return _of_objects(source, format, given)


class _DelimitedTable(DelimitedTable):
    """A CSV or TSV file; what is given travels through `Table` as names joined by newlines."""

    def find_columns(
        self, row: Row, given: dict[str, str], header: bool | None
    ) -> tuple[bool, list[str], dict[str, str]]:
        """Whether the first row is a header, the columns' names, and which of them holds which field."""
        names = [name.strip() for name in row]
        numbers = [str(number) for number in range(1, len(row) + 1)]
        chosen = {field: theirs.split("\n") for field, theirs in given.items()}
        if header is None:
            wanted = [name for theirs in chosen.values() for name in theirs if name]
            header = not wanted or any(name in names for name in wanted)
        if header and len(set(names)) < len(names):
            raise FileRefusedError(
                f"{self.source.name}, line 1: two columns have one name: {quote_names(names)}."
            )
        there = names if header else numbers
        try:
            return header, there, columns.mapped(there, chosen)
        except ColumnError as error:
            raise FileRefusedError(f"{self.source.name}, line 1: {error}") from error

    def values(self, refuse: Callable[[int, str], None]) -> _Values:
        """The rows, each with the number of its line."""
        places = tuple(self.places.items())
        for rows, numbers in self.rows(refuse):
            for row, line in zip(rows, numbers, strict=True):
                if len(row) == self.width:
                    yield line, {ours: row[place] for ours, place in places}
                elif row not in BLANK:
                    hint = " Quote a text that has the separator in it." if len(row) > self.width else ""
                    refuse(line, f"The line has {len(row)} columns instead of {self.width}.{hint}")


def _flat(given: Given) -> dict[str, str]:
    return {field: "\n".join(theirs) for field, theirs in given.items()}


def _of_objects(source: TextSource, format: str, given: Given) -> ScoreTable:
    """JSONL or a JSON list. The first object says which members are mapped; later ones may have others."""
    read = read_json_list if format == "json" else read_json_lines
    first = next((value for _, value in read(source, ignore)), None)
    if first is None:
        raise FileRefusedError(f"{source.name} has no object. Write one JSON object a line.")
    try:
        mapping = columns.mapped(first, given)
    except ColumnError as error:
        raise FileRefusedError(f"{source.name}: {error}") from error
    _check(source, list(first), mapping)
    known: dict[tuple[str, ...], dict[str, str]] = {}

    def values(refuse: Callable[[int, str], None]) -> _Values:
        for line, value in read(source, refuse):
            members = tuple(value)
            where = known.get(members)
            if where is None:
                names = {name.strip(): name for name in reversed(members)}
                there = {field: [name for name in theirs if name in names] for field, theirs in given.items()}
                where = {ours: names[theirs] for ours, theirs in columns.mapped(members, there).items()}
                if len(known) < 1000:
                    known[members] = where
            yield line, {ours: value.get(theirs) for ours, theirs in where.items()}

    unit = "record" if format == "json" else "line"
    return ScoreTable(source, format, FORMATS[format], unit, list(first), mapping, values)


def _check(source: TextSource, there: list[str], mapping: Mapping[str, str]) -> None:
    has = f"{source.name} has {quote_names(there)}."
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


def _detected(source: TextSource) -> str:
    """The format by what the file holds; its name decides nothing."""
    for _line, text in source.chunks(ignore):
        head = text.lstrip()[:_LOOK]
        if head:
            starts = {"[": "json", "{": "jsonl"}
            return starts.get(head[0]) or ("tsv" if "\t" in head.split("\n", 1)[0] else "csv")
    raise FileRefusedError(f"{source.name} has no line that can be read.")
