"""Files of answers in their formats, as a stream of rows."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any

from core.files.columns import ColumnError, map_columns, quote_names
from core.files.json_objects import read_json_lines, read_json_list
from core.files.refusals import FileRefusedError, UnmappedError, ignore
from core.files.text_source import TextSource
from judgments.importing.dureader import is_result, row_of_result
from judgments.importing.rows import FIELDS, NAMES, Row, RowRefusedError, row_of
from judgments.importing.tables import AnswerTable

FORMATS = {
    "auto": "find out from the file",
    "jsonl": "JSONL, one object a line",
    "json": "a JSON list of objects",
    "csv": "CSV",
    "tsv": "TSV",
    "dureader": "DuReader results",
}
Object = dict[str, Any]
#: Told of a line that cannot be taken: its number, the field, why, and what to do.
Refuse = Callable[[int, str, str, str], None]
_LOOK = 2**16
_NOT_READ = "line"


@dataclass(slots=True)
class Answers:
    """A file that gives rows. `columns` and `mapping` say how it is read; `unit` is what its numbers count.

    `further` counts answers of DuReader lines that give several: only the first is the system's.
    """

    source: TextSource
    format: str
    description: str
    unit: str
    system: str
    columns: list[str]
    mapping: dict[str, str]
    values: Callable[[Callable[[int, str], None]], Iterator[tuple[int, Object]]]
    further: int = 0

    def rows(self, refuse: Refuse) -> Iterator[Row]:
        """All rows in the order of the file; what cannot be taken is refused."""

        def unread(line: int, reason: str) -> None:
            refuse(line, _NOT_READ, reason, "")

        self.further = 0
        for line, value in self.values(unread):
            try:
                if self.format == "dureader":
                    row, further = row_of_result(value, line=line, system=self.system)
                    self.further += further
                else:
                    row = row_of(value, line=line, system=self.system)
            except RowRefusedError as error:
                refuse(line, error.field, error.reason, error.remedy)
            else:
                yield row


def open_answers(
    source: TextSource,
    *,
    format: str = "auto",
    given: Mapping[str, str] | None = None,
    header: bool | None = None,
    system: str = "",
) -> Answers:
    """The file as rows. FileRefusedError where it cannot be read; UnmappedError where a field has no column.

    `given` maps our fields to columns or members, an empty one to none; `system` names rows that name none.
    """
    if format not in FORMATS:
        raise FileRefusedError(f"There is no format {format!r}; there are: {', '.join(FORMATS)}.")
    named = {ours: theirs for ours, theirs in (given or {}).items() if theirs}
    if source.workbook:
        if format not in ("auto", "csv", "tsv"):
            raise FileRefusedError(f"{source.name} is a workbook, not {FORMATS[format]}.")
        format = "xlsx"
    elif format == "auto":
        format = _detected(source, mapped=bool(named))
    if format in ("csv", "tsv", "xlsx"):
        table = AnswerTable(source, format=format, given=given, header=header)
        _check(source, table.columns, table.mapping, system)
        return Answers(
            source, format, table.description, "line", system, table.columns, table.mapping, table.values
        )
    if format == "dureader":
        if named:
            raise FileRefusedError(f"{source.name}: DuReader results have members of their own; map none.")
        if not system.strip():
            raise UnmappedError(f"{source.name}: DuReader results do not name their system. Name it.", [])
        said = "DuReader results, a question per line"
        return Answers(
            source, format, said, "line", system, [], {}, lambda refuse: read_json_lines(source, refuse)
        )
    return _of_objects(source, format, given or {}, system)


def _check(source: TextSource, there: list[str], mapping: Mapping[str, str], system: str) -> None:
    has = f"{source.name} has {quote_names(there)}."
    if "text" not in mapping:
        raise UnmappedError(f"Nothing holds the answer. {has} Say which of them does.", there)
    if "query_id" not in mapping and "query" not in mapping:
        raise UnmappedError(
            f"Nothing names the query. {has} Say which of them holds its id or its text.",
            there,
        )
    if "system" not in mapping and not system.strip():
        raise UnmappedError(
            f"Nothing names the system. {has} Give its name, or say which of them holds it.", there
        )


def _of_objects(source: TextSource, format: str, given: Mapping[str, str], system: str) -> Answers:
    """JSONL or a JSON list. The first object says which members are mapped; later ones may have others."""
    read = read_json_list if format == "json" else read_json_lines
    first = next((value for _, value in read(source, ignore)), None)
    if first is None:
        raise FileRefusedError(f"{source.name} has no object. Write one JSON object a line.")
    try:
        mapping = map_columns(first, given, NAMES)
    except ColumnError as error:
        raise FileRefusedError(f"{source.name}: {error}") from error
    _check(source, list(first), mapping, system)
    known: dict[tuple[str, ...], dict[str, str]] = {}

    def values(refuse: Callable[[int, str], None]) -> Iterator[tuple[int, Object]]:
        for line, value in read(source, refuse):
            members = tuple(value)
            where = known.get(members)
            if where is None:
                where = map_columns(members, _there(given, value), NAMES)
                if len(known) < 1000:
                    known[members] = where
            yield line, {ours: value.get(theirs) for ours, theirs in where.items()}

    unit = "record" if format == "json" else "line"
    return Answers(source, format, FORMATS[format], unit, system, list(first), mapping, values)


def _there(given: Mapping[str, str], value: Object) -> dict[str, str]:
    """What was given, as far as this object has it; a member that it lacks is none."""
    return {ours: theirs if theirs in value else "" for ours, theirs in given.items()}


def _detected(source: TextSource, *, mapped: bool) -> str:
    """The format by what the file holds; its name decides nothing."""
    for _line, text in source.chunks(ignore):
        head = text.lstrip()[:_LOOK]
        if not head:
            continue
        if head[0] == "[":
            return "json"
        if head[0] == "{":
            first = _first_object(head)
            return "dureader" if first is not None and is_result(first) and not mapped else "jsonl"
        return "tsv" if "\t" in head.split("\n", 1)[0] else "csv"
    raise FileRefusedError(f"{source.name} has no line that can be read.")


def _first_object(head: str) -> Object | None:
    for line in StringIO(head):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    return None


__all__ = ["FIELDS", "FORMATS", "Answers", "Refuse", "open_answers"]
