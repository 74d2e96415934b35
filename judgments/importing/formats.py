"""Files of answers in their formats, as a stream of rows."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from core.files.cells import map_columns, quote_names
from core.files.json_objects import Object, read_json_lines
from core.files.refusals import FileRefusedError, UnmappedError
from core.files.text_source import TextSource
from core.files.value_tables import ColumnRules, Values, read_table, settle_format
from judgments.importing.rows import FIELDS, NAMES, Row, RowRefusedError, row_of

# Results as DuReader's evaluation takes them (He et al. 2018): one question a line.
#
#     {"question_id": 181574, "question_type": "YES_NO", "answers": ["…"], "yesno_answers": ["Yes"],
#      "entity_answers": [[]]}
#
# The first release names the members query_id, query_type and entities. Lists go together: the first label
# and the first list of entities are those of the first answer. The evaluation scores the first answer of a
# question, so that one is the system's; further ones are counted. A line without answers is a question that
# the system left out.

ResultObject = dict[str, Any]


def is_result(value: ResultObject) -> bool:
    """Whether an object is a line of results."""
    named = "question_id" in value or "query_id" in value
    return (
        named
        and isinstance(value.get("answers"), list)
        and bool(value.keys() & {"yesno_answers", "entity_answers"})
    )


def row_of_result(value: ResultObject, *, line: int, system: str) -> tuple[Row, int]:
    """The row of a line, and how many answers it gives beyond the first; or RowRefusedError."""
    answers = _list(value, "answers")
    opinions = _list(value, "yesno_answers")
    entities = _list(value, "entity_answers" if "entity_answers" in value else "entities")
    if opinions and len(opinions) != len(answers):
        raise RowRefusedError(
            "yesno_answers",
            f"There are {len(opinions):,} yes-no labels for {len(answers):,} answers.",
            "Give one label per answer, or none.",
        )
    first = entities[0] if entities else []
    named = value.get("question_id", value.get("query_id"))
    row = row_of(
        {
            "query_id": named,
            "query": None if named else value.get("question"),
            "system": None,
            "text": answers[0] if answers else None,
            "opinion": opinions[0] if opinions else None,
            "entities": first if isinstance(first, list) else entities,
        },
        line=line,
        system=system,
    )
    return row, max(0, len(answers) - 1)


def _list(value: ResultObject, name: str) -> list[Any]:
    found = value.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise RowRefusedError(
            name, f"The {name} are no list.", "Write them as DuReader's evaluation takes them."
        )
    return found


FORMATS = {
    "auto": "find out from the file",
    "jsonl": "JSONL, one object a line",
    "json": "a JSON list of objects",
    "csv": "CSV",
    "tsv": "TSV",
    "dureader": "DuReader results",
}
#: Told of a line that cannot be taken: its number, the field, why, and what to do.
Refuse = Callable[[int, str, str, str], None]
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
    values: Callable[[Callable[[int, str], None]], Values]
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


class _AnswerColumns(ColumnRules):
    """Columns of answers: the text, which query it answers, and which system gave it."""

    def __init__(self, given: Mapping[str, str], system: str) -> None:
        self._given, self._system = given, system
        self.chosen = [theirs for theirs in given.values() if theirs]

    def map(self, columns: Iterable[str]) -> dict[str, str]:
        """As given, the rest by the names that people use."""
        return map_columns(columns, self._given, NAMES)

    def map_members(self, members: Sequence[str]) -> dict[str, str]:
        """What was given, as far as this object has it; a member that it lacks is none."""
        there = {ours: theirs if theirs in members else "" for ours, theirs in self._given.items()}
        return map_columns(members, there, NAMES)

    def check(self, source: TextSource, columns: list[str], mapping: Mapping[str, str]) -> None:
        """UnmappedError says which field has no column, and which columns there are."""
        has = f"{source.name} has {quote_names(columns)}."
        if "text" not in mapping:
            raise UnmappedError(f"Nothing holds the answer. {has} Say which of them does.", columns)
        if "query_id" not in mapping and "query" not in mapping:
            raise UnmappedError(
                f"Nothing names the query. {has} Say which of them holds its id or its text.", columns
            )
        if "system" not in mapping and not self._system.strip():
            raise UnmappedError(
                f"Nothing names the system. {has} Give its name, or say which of them holds it.", columns
            )


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
    rules = _AnswerColumns(given or {}, system)

    def of_object(head: str) -> str:
        first = _first_object(head)
        return "dureader" if first is not None and is_result(first) and not rules.chosen else "jsonl"

    format = settle_format(source, format, FORMATS, of_object)
    if format == "dureader":
        if rules.chosen:
            raise FileRefusedError(f"{source.name}: DuReader results have members of their own; map none.")
        if not system.strip():
            raise UnmappedError(f"{source.name}: DuReader results do not name their system. Name it.", [])
        described = "DuReader results, a question per line"
        return Answers(
            source, format, described, "line", system, [], {}, lambda refuse: read_json_lines(source, refuse)
        )
    table = read_table(source, format=format, header=header, rules=rules)
    return Answers(
        source, format, table.description, table.unit, system, table.columns, table.mapping, table.values
    )


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
