"""Files of rows (CSV, TSV, a workbook, JSONL, a JSON list) as values by our names.

    table = read_table(source, format="auto", header=None, rules=rules)
    table.mapping                   {"answer": "response"}: which column holds which field
    for line, values in table.values(refuse): ...

Which fields there are, and which of them a file must have, is the importer's: its `ColumnRules`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.files.cells import ColumnError, quote_names
from core.files.csv_tables import BLANK, DelimitedTable, Row
from core.files.json_objects import read_json_lines, read_json_list
from core.files.refusals import FileRefusedError, Refuse, ignore
from core.files.text_source import TextSource

#: What every importer of rows reads, with the words for it.
FORMATS = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSONL, one object a line",
    "json": "a JSON list of objects",
}
Values = Iterator[tuple[int, dict[str, Any]]]
#: Enough of the first line to see whether it has tabs.
_LOOK = 2**16
#: Combinations of members whose mapping is remembered.
_MOST_SHAPES = 1000


class ColumnRules(ABC):
    """Which columns of a file hold which of an importer's fields. `chosen` are those that were named."""

    chosen: Sequence[str] = ()

    @abstractmethod
    def map(self, columns: Iterable[str]) -> dict[str, str]:
        """Columns by our fields; ColumnError for a choice that the file cannot fulfil."""

    @abstractmethod
    def map_members(self, members: Sequence[str]) -> dict[str, str]:
        """The same for a later object, which may lack what was named."""

    @abstractmethod
    def check(self, source: TextSource, columns: list[str], mapping: Mapping[str, str]) -> None:
        """FileRefusedError where a field that is needed has no column."""


@dataclass(frozen=True, slots=True)
class ValueTable:
    """A file that can be read any number of times. `unit` is what its numbers count: lines or records."""

    source: TextSource
    format: str
    description: str
    unit: str
    columns: list[str]
    mapping: dict[str, str]
    values: Callable[[Refuse], Values]


def check_format(source: TextSource, format: str, formats: Mapping[str, str]) -> None:
    """FileRefusedError for a format that there is not, or that a workbook cannot have."""
    if format not in formats:
        raise FileRefusedError(f"There is no format {format!r}; there are: {', '.join(formats)}.")
    if source.workbook and format not in ("auto", "csv", "tsv"):
        raise FileRefusedError(f"{source.name} is a workbook, not {formats[format]}.")


def settle_format(
    source: TextSource, format: str, formats: Mapping[str, str], of_object: Callable[[str], str] | None = None
) -> str:
    """The format by its name, or for `auto` by what the file holds; the file's name decides nothing.

    `of_object` is asked which format a file has that begins like this and with an object; JSONL if None.
    """
    check_format(source, format, formats)
    if source.workbook:
        return "xlsx"
    return _detect_format(source, of_object) if format == "auto" else format


def _detect_format(source: TextSource, of_object: Callable[[str], str] | None) -> str:
    for _line, text in source.chunks(ignore):
        head = text.lstrip()[:_LOOK]
        if not head:
            continue
        if head[0] == "[":
            return "json"
        if head[0] == "{":
            return of_object(head) if of_object else "jsonl"
        return "tsv" if "\t" in head.split("\n", 1)[0] else "csv"
    raise FileRefusedError(f"{source.name} has no line that can be read.")


def read_table(source: TextSource, *, format: str, header: bool | None, rules: ColumnRules) -> ValueTable:
    """The file in one of `FORMATS`, or the sheet of a workbook, as values; FileRefusedError if it is none.

    Without `header` the first row names the columns, unless columns are chosen by their numbers from 1.
    """
    if format in ("jsonl", "json"):
        return _read_objects(source, format, rules)
    table = _MappedTable(source, format=format, header=header, rules=rules)
    rules.check(source, table.columns, table.mapping)
    return ValueTable(source, format, table.description, "line", table.columns, table.mapping, table.values)


class _MappedTable(DelimitedTable):
    """A CSV or TSV file, or a sheet, whose columns the rules find."""

    def __init__(self, source: TextSource, *, format: str, header: bool | None, rules: ColumnRules) -> None:
        self._rules = rules
        super().__init__(source, format=format, header=header)

    def find_columns(
        self, row: Row, given: dict[str, str], header: bool | None
    ) -> tuple[bool, list[str], dict[str, str]]:
        """Whether the first row is a header, the columns' names, and which of them holds which field."""
        names = [name.strip() for name in row]
        numbers = [str(number) for number in range(1, len(row) + 1)]
        if header is None:
            chosen = self._rules.chosen
            header = not chosen or any(name in names for name in chosen)
        if header and len(set(names)) < len(names):
            raise FileRefusedError(
                f"{self.source.name}, line 1: two columns have one name: {quote_names(names)}."
            )
        there = names if header else numbers
        try:
            return header, there, self._rules.map(there)
        except ColumnError as error:
            raise FileRefusedError(f"{self.source.name}, line 1: {error}") from error

    def values(self, refuse: Refuse) -> Values:
        """The rows, each with the number of its line."""
        places = tuple(self.places.items())
        for rows, numbers in self.rows(refuse):
            for row, line in zip(rows, numbers, strict=True):
                if len(row) == self.width:
                    yield line, {ours: row[place] for ours, place in places}
                elif row not in BLANK:
                    hint = " Quote a text that has the separator in it." if len(row) > self.width else ""
                    refuse(line, f"The line has {len(row)} columns instead of {self.width}.{hint}")


def _read_objects(source: TextSource, format: str, rules: ColumnRules) -> ValueTable:
    """JSONL or a JSON list. The first object says which members are mapped; later ones may have others."""
    read = read_json_list if format == "json" else read_json_lines
    first = next((value for _, value in read(source, ignore)), None)
    if first is None:
        raise FileRefusedError(f"{source.name} has no object. Write one JSON object a line.")
    try:
        mapping = rules.map(first)
    except ColumnError as error:
        raise FileRefusedError(f"{source.name}: {error}") from error
    rules.check(source, list(first), mapping)
    known: dict[tuple[str, ...], dict[str, str]] = {}

    def values(refuse: Refuse) -> Values:
        for line, value in read(source, refuse):
            members = tuple(value)
            where = known.get(members)
            if where is None:
                where = rules.map_members(members)
                if len(known) < _MOST_SHAPES:
                    known[members] = where
            yield line, {ours: value.get(theirs) for ours, theirs in where.items()}

    unit = "record" if format == "json" else "line"
    return ValueTable(source, format, FORMATS[format], unit, list(first), mapping, values)
