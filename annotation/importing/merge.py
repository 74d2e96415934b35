"""Rows of one query put together: a table with a row per passage becomes queries with all their passages."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from dataclasses import field as made
from itertools import groupby
from pathlib import Path
from typing import Any

from annotation.importing.records import MOST_EXAMPLES, MOST_PASSAGES, Part, Passage, Record, stored_record
from core.files.refusals import RefuseRecord

_LONGEST_VALUE = 160
#: Fields of which a query has one value: that of its first row that has one.
_SINGLE = ("conversation", "turn", "replies")


@dataclass(slots=True)
class Contradiction:
    """A field in which rows of one query differ. `column`: it is a column that is no field of ours."""

    field: str
    outcome: str
    column: bool = False
    lines: int = 0
    queries: int = 0
    examples: list[dict[str, Any]] = made(default_factory=list)


class Contradictions:
    """Counts by field where rows of one query say different things, and keeps the first of each."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, bool], Contradiction] = {}
        self._last_query: dict[tuple[str, bool], int] = {}

    def add(
        self,
        name: str,
        first: Record,
        kept: Any,
        row: Record,
        value: Any,
        *,
        outcome: str = "first kept",
        column: bool = False,
    ) -> None:
        """A row that says something else than an earlier one of its query."""
        found = self.of(name, outcome=outcome, column=column)
        found.lines += 1
        if self._last_query.get((name, column)) != first.ordinal:
            self._last_query[name, column] = first.ordinal
            found.queries += 1
        if len(found.examples) < MOST_EXAMPLES:
            found.examples.append(
                {
                    "query": _short(first.text),
                    "line": row.line,
                    "value": _short(value),
                    "first_line": first.line,
                    "kept": _short(kept),
                }
            )

    def of(self, name: str, *, outcome: str = "first kept", column: bool = False) -> Contradiction:
        """What was found of a field."""
        return self._found.setdefault((name, column), Contradiction(name, outcome, column))

    def report(self) -> list[dict[str, Any]]:
        """All of them, ready for JSON: our fields first."""
        return [asdict(each) for each in sorted(self._found.values(), key=lambda each: each.column)]


class QuerySpool:
    """Rows of queries on disk, so that those of one query come together wherever they are in the file."""

    def __init__(self, room: Path) -> None:
        self._rows = sqlite3.connect(room / "gathered.sqlite3", isolation_level=None)
        # A temporary file needs no safety, only speed.
        self._rows.execute("PRAGMA journal_mode=OFF")
        self._rows.execute("PRAGMA synchronous=OFF")
        self._rows.execute(
            "CREATE TABLE gathered (first INTEGER, ordinal INTEGER, row TEXT, PRIMARY KEY (first, ordinal))"
            " WITHOUT ROWID"
        )

    def fill(self, rows: Iterator[tuple[int, Record]]) -> None:
        """Keep rows, each with the ordinal of its query's first row."""
        self._rows.execute("BEGIN")
        self._rows.executemany(
            "INSERT INTO gathered VALUES (?, ?, ?)",
            ((first, row.ordinal, json.dumps(asdict(row))) for first, row in rows),
        )
        self._rows.execute("COMMIT")

    def queries(self) -> Iterator[Iterator[Record]]:
        """The rows of each query in the order of the file; queries in the order of their first rows."""
        with closing(self._rows):
            rows = self._rows.execute("SELECT first, row FROM gathered ORDER BY first, ordinal")
            for _first, group in groupby(rows, key=lambda row: row[0]):
                yield (stored_record(json.loads(row)) for _, row in group)


@dataclass(slots=True)
class MergedQuery:
    """One query, how many rows added to it, and how many turned out to have nothing new."""

    record: Record
    repeats: int = 0
    refused: int = 0


def merge(rows: Iterator[Record], contradictions: Contradictions, refuse: RefuseRecord) -> MergedQuery:
    """The rows of one query as one record; `parts` of it say which line brought what.

    Passages and references are put one after another, without those that are there already. Of everything
    else the first value counts; a row with another one is noted.
    """
    first = next(rows)
    merged = MergedQuery(first)
    first.parts = [Part(first.line, list(range(len(first.passages))), list(first.references))]
    passages = {_identity(each): each for each in first.passages}
    references = set(first.references)
    for row in rows:
        fresh = [each for each in row.passages if _identity(each) not in passages]
        if len(first.passages) + len(fresh) > MOST_PASSAGES:
            merged.refused += 1
            refuse(row.line, f"The query has more than {MOST_PASSAGES} passages with this line.", "passages")
            continue
        gained = _take_values(first, row, contradictions)
        _note_selections(first, row, passages, contradictions)
        part = Part(row.line, [], [each for each in row.references if each not in references])
        for each in fresh:
            if _identity(each) not in passages:
                passages[_identity(each)] = each
                part.passages.append(len(first.passages))
                first.passages.append(each)
        references.update(part.references)
        first.references += part.references
        if part.passages or part.references or gained:
            first.parts.append(part)
        else:
            merged.repeats += 1
    return merged


def _take_values(first: Record, row: Record, contradictions: Contradictions) -> bool:
    """Give the query what it lacks and the row has; note where both have it and differ."""
    gained = False
    for name in ("id", "type"):
        if not getattr(first, name) and getattr(row, name):
            setattr(first, name, getattr(row, name))
            gained = True
    if first.yes_no is None and row.yes_no is not None:
        first.yes_no, gained = row.yes_no, True
    for name in _SINGLE:
        kept, value = getattr(first, name), getattr(row, name)
        if kept and value and kept != value:
            contradictions.add(name, first, kept, row, value)
    if row.count != first.count and (first.passages or first.references):
        contradictions.add("count", first, first.count, row, row.count)
    _take_extra(first, row, first.extra, row.extra, contradictions)
    return gained


def _take_extra(
    first: Record, row: Record, kept: dict[str, Any], given: dict[str, Any], contradictions: Contradictions
) -> None:
    """Columns and members that are no fields of ours: the first value of each stays with the query."""
    for name, value in given.items():
        there = kept.setdefault(name, value)
        if name == "columns" and isinstance(there, dict) and isinstance(value, dict):
            _take_extra(first, row, there, value, contradictions)
        elif there != value:
            contradictions.add(name, first, there, row, value, column=True)


def _note_selections(
    first: Record, row: Record, passages: dict[Any, Passage], contradictions: Contradictions
) -> None:
    """Passages that an earlier row has with another selection, or another text under the same id."""
    by_key = {each.key: each for each in passages.values() if each.key} if row.passages else {}
    for each in row.passages:
        there = passages.get(_identity(each))
        if there is not None and there.selected != each.selected:
            contradictions.add("selected", first, there.selected, row, each.selected)
        elif there is None and each.key in by_key:
            contradictions.add(
                "passage_id", first, by_key[each.key].text, row, each.text, outcome="both passages kept"
            )


def _identity(passage: Passage) -> tuple[Any, ...]:
    return (
        passage.text,
        passage.title,
        passage.url,
        passage.key,
        passage.page,
        passage.start,
        passage.end,
    )


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
