"""A file from its first byte to its sample: one pass to count, one to fetch what was drawn; and its report.

Rows of one query are merged on the way. The report's sentences are the same on the page and on the command
line.
"""

import dataclasses
import heapq
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.importing.formats import Reader
from annotation.importing.records import (
    MOST_EXAMPLES,
    MOST_PASSAGES,
    Part,
    Passage,
    Record,
    normal,
    plain_form,
    quoted,
    stored_record,
)
from annotation.importing.selection import RULES, Design, SampledQuery, Screen
from core.files.refusals import MOST_LISTED, FileRefusedError, Refusals, RefuseRecord, RowCounts, ignore
from core.files.text_source import unchanged

if TYPE_CHECKING:
    from annotation.importing.tally import Tally

# Rows of one query put together: a table with a row per passage becomes queries with all their passages.

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
    examples: list[dict[str, Any]] = dataclasses.field(default_factory=list)


class Contradictions:
    """Counts by field where rows of one query say different things, and keeps the first of each."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, bool], Contradiction] = {}
        self._last_query: dict[tuple[str, bool], int] = {}

    def add(
        self,
        name: str,
        first: Record,
        first_value: Any,
        row: Record,
        value: Any,
        *,
        outcome: str = "first kept",
        column: bool = False,
    ) -> None:
        """A row that says something else than an earlier one of its query."""
        contradiction = self.of(name, outcome=outcome, column=column)
        contradiction.lines += 1
        if self._last_query.get((name, column)) != first.ordinal:
            self._last_query[name, column] = first.ordinal
            contradiction.queries += 1
        if len(contradiction.examples) < MOST_EXAMPLES:
            contradiction.examples.append(
                {
                    "query": _short(first.text),
                    "line": row.line,
                    "value": _short(value),
                    "first_line": first.line,
                    "kept": _short(first_value),
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
        first_value, value = getattr(first, name), getattr(row, name)
        if first_value and value and first_value != value:
            contradictions.add(name, first, first_value, row, value)
    if row.count != first.count and (first.passages or first.references):
        contradictions.add("count", first, first.count, row, row.count)
    _take_extra(first, row, first.extra, row.extra, contradictions)
    return gained


def _take_extra(
    first: Record,
    row: Record,
    first_extra: dict[str, Any],
    row_extra: dict[str, Any],
    contradictions: Contradictions,
) -> None:
    """Columns and members that are no fields of ours: the first value of each stays with the query."""
    for name, value in row_extra.items():
        first_value = first_extra.setdefault(name, value)
        if name == "columns" and isinstance(first_value, dict) and isinstance(value, dict):
            _take_extra(first, row, first_value, value, contradictions)
        elif first_value != value:
            contradictions.add(name, first, first_value, row, value, column=True)


def _note_selections(
    first: Record, row: Record, passages: dict[Any, Passage], contradictions: Contradictions
) -> None:
    """Passages that an earlier row has with another selection, or another text under the same id."""
    by_key = {each.key: each for each in passages.values() if each.key} if row.passages else {}
    for each in row.passages:
        passage = passages.get(_identity(each))
        if passage is not None and passage.selected != each.selected:
            contradictions.add("selected", first, passage.selected, row, each.selected)
        elif passage is None and each.key in by_key:
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


_DESIGNS = {
    "all": "all distinct queries, without sampling",
    "uniform": "simple random sample of the distinct queries",
    "count": "systematic sample proportional to count, in random order with a random start",
    "strata": "simple random sample within each stratum",
}


@dataclass(slots=True)
class Survey:
    """What the first pass found, and which records were drawn."""

    reader: Reader
    refusals: Refusals
    tally: "Tally"
    room: Path
    records: int
    unreadable: int
    duplicates: int
    merged: int
    distinct: int
    total: int
    dropped: dict[str, int]
    examples: dict[str, list[tuple[int, str]]]
    design: Design
    rules: frozenset[str]
    contradictions: Contradictions
    sample: dict[int, SampledQuery] = field(default_factory=dict)

    def counts(self) -> RowCounts:
        """What became of every row; used are those that made a distinct query, drawn or not."""
        return RowCounts(
            rows_read=self.records + self.unreadable,
            used=self.distinct,
            merged=self.merged,
            repeats=self.duplicates - self.merged,
            refused=self.refusals.total + sum(self.dropped.values()),
        )

    def report(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        refusals = sorted(self.refusals.listed, key=lambda each: each.line)[:MOST_LISTED]
        strata: dict[str, int] = {}
        for each in self.sample.values():
            if each.stratum:
                strata[each.stratum] = strata.get(each.stratum, 0) + 1
        return {
            "format": self.reader.format,
            "format_words": self.reader.description,
            "unit": self.reader.unit,
            "records": self.records,
            "refused": self.refusals.total,
            "refusals": [asdict(each) for each in refusals],
            "rules": {
                rule: {
                    "words": label,
                    "dropped": self.dropped.get(rule, 0),
                    "examples": [{"line": line, "text": text} for line, text in self.examples.get(rule, [])],
                }
                for rule, label in RULES.items()
                if rule in self.rules
            },
            "duplicates": self.duplicates,
            "merged": self.merged,
            "counts": self.counts().as_json(),
            "contradictions": self.contradictions.report(),
            "distinct": self.distinct,
            "total_count": self.total,
            "design": {**asdict(self.design), "words": _DESIGNS[self.design.by]},
            "sampled": len(self.sample),
            "strata": strata,
        }


def survey(reader: Reader, *, screen: Screen, design: Design, room: Path, strict: bool = False) -> Survey:
    """The first pass, and the draw. FileRefusedError if the file is refused; with `strict`, if a line is."""
    from annotation.importing.tally import FirstPass, Tally, draw

    before = reader.source.path.stat()
    refusals = Refusals(reader.source.name, strict=strict, unit=reader.unit)
    tally = Tally(room)
    counting = FirstPass(screen, tally, refusals, design.seed)
    counting.run(reader)
    contradictions = Contradictions()
    _note_conflicts(reader, tally, refusals, contradictions)
    first_pass = Survey(
        reader=reader,
        refusals=refusals,
        tally=tally,
        room=room,
        records=counting.records,
        unreadable=counting.unreadable,
        duplicates=tally.duplicates,
        merged=tally.merged,
        distinct=tally.distinct,
        total=tally.total,
        dropped=dict(counting.dropped),
        examples=counting.examples,
        design=design,
        rules=screen.rules,
        contradictions=contradictions,
    )
    first_pass.sample = {each.ordinal: each for each in draw(tally.blocks, design)}
    if not unchanged(reader.source.path, before):
        raise FileRefusedError(f"{reader.source.name} was changed while it was read. Import it again.")
    return first_pass


def fetch(first_pass: Survey) -> Iterator[tuple[Record, SampledQuery]]:
    """The second pass: drawn queries in the order of the file, each with what all its rows bring.

    Their texts are normalised. What a row turns out to be (one that only repeats) is corrected there.
    """
    before = first_pass.reader.source.path.stat()
    fetched = 0
    for record in _gathered(first_pass):
        record.text = normal(record.text)
        record.context = [normal(each) for each in record.context]
        record.replies = [normal(each) for each in record.replies]
        fetched += 1
        yield record, first_pass.sample[record.ordinal]
    if fetched != len(first_pass.sample) or not unchanged(first_pass.reader.source.path, before):
        raise FileRefusedError(
            f"{first_pass.reader.source.name} was changed while it was read. Import it again."
        )


def _gathered(first_pass: Survey) -> Iterator[Record]:
    """The drawn queries, those of several rows put together."""
    from numpy import fromiter, int64

    ordinals = sorted(first_pass.sample)
    if not first_pass.tally.has_members:
        yield from first_pass.reader.take(ordinals, ignore)
        return
    owner: dict[int, tuple[int, bool, bool]] = {}
    spellings: dict[int, str] = {}

    def list_ordinals() -> Iterator[int]:
        members = first_pass.tally.members(fromiter(ordinals, int64, len(ordinals)))
        for ordinal, first, adds, spells in heapq.merge(
            ((each, each, True, False) for each in ordinals), members
        ):
            owner[ordinal] = (first, adds, spells)
            yield ordinal

    def parts() -> Iterator[tuple[int, Record]]:
        for row in first_pass.reader.take(list_ordinals(), ignore):
            first, adds, spells = owner.pop(row.ordinal)
            if spells:
                spellings[first] = row.text
            if adds:
                yield first, row

    gathering = QuerySpool(first_pass.room)
    gathering.fill(parts())
    for rows in gathering.queries():
        merged = merge(rows, first_pass.contradictions, first_pass.refusals)
        merged.record.text = spellings.pop(merged.record.ordinal, merged.record.text)
        first_pass.merged -= merged.repeats + merged.refused
        first_pass.duplicates -= merged.refused
        yield merged.record


def _note_conflicts(
    reader: Reader, tally: "Tally", refusals: Refusals, contradictions: Contradictions
) -> None:
    """Refuse records that have another query's id, or other labels than the same query before them.

    Where only the ids of one query differ, the first one is kept.
    """
    groups = ((tally.repeated_ids, ("text", "context")), (tally.contradictions, ("type", "yes_no")))
    listed_pairs = [pair for conflicts, _ in groups for pair in conflicts[:MOST_LISTED]]
    ordinals = {ordinal for pair in (*listed_pairs, *tally.some_other_ids) for ordinal in pair}
    if not ordinals:
        return
    records = {each.ordinal: each for each in reader.take(sorted(ordinals), ignore)}
    for conflicts, names in groups:
        for place, (ordinal, other) in enumerate(conflicts):
            if place >= MOST_LISTED:
                refusals(0, "The line contradicts an earlier line of the same query.", names[0])
                continue
            row, first = records[ordinal], records[other]
            name = next((each for each in names if _differs(first, row, each)), names[-1])
            refusals(row.line, _reason(reader.unit, name, first, row), name)
            first_value, value = getattr(first, name), getattr(row, name)
            contradictions.add(name, first, first_value, row, value, outcome="line refused")
    for ordinal, other in tally.some_other_ids:
        row, first = records[ordinal], records[other]
        contradictions.add("id", first, first.id, row, row.id)
    if tally.other_ids:
        id_contradiction = contradictions.of("id")
        id_contradiction.lines, id_contradiction.queries = tally.other_ids, tally.other_id_queries


def _differs(first: Record, row: Record, name: str) -> bool:
    first_value, value = getattr(first, name), getattr(row, name)
    if name == "text":
        return plain_form(normal(first_value)) != plain_form(normal(value))
    return first_value not in ("", None) and value not in ("", None) and bool(first_value != value)


def _reason(unit: str, name: str, first: Record, row: Record) -> str:
    if name == "text":
        return (
            f"The id {quoted(row.id)} is that of another query, in {unit} {first.line}: "
            f"{quoted(first.text)} there, {quoted(row.text)} here."
        )
    if name == "context":
        return (
            f"The id {quoted(row.id)} is that of the same words after other earlier turns, in {unit} "
            f"{first.line}."
        )
    label = {"type": "type", "yes_no": "yes-no flag"}[name]
    return (
        f"The {label} contradicts that of the same query in {unit} {first.line}: {getattr(first, name)} "
        f"there, {getattr(row, name)} here."
    )


#: Columns that one sentence names; the report has all of them.
_MOST_COLUMNS = 12
_FIELDS = {
    "text": "text",
    "context": "earlier turns",
    "yes_no": "yes-no flag",
    "passage_id": "id of a passage",
    "selected": "selection of a passage",
    "replies": "replies to earlier turns",
}
_OUTCOMES = {
    "first kept": "the first value was kept",
    "line refused": "these lines were refused",
    "both passages kept": "both passages were kept",
}


def differences_in_words(report: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each field in which rows of one query differ, and one for all columns that are no field.

    How many rows, what was kept, and the first example with its lines and values.
    """
    contradictions = report.get("contradictions", ())
    for each in contradictions:
        if each["column"]:
            continue
        name = _FIELDS.get(each["field"], each["field"])
        sentence = f"The {name} differs in {_how_many(each)}: {_OUTCOMES[each['outcome']]}."
        if each["examples"]:
            first = each["examples"][0]
            sentence += (
                f" {report['unit'].capitalize()} {first['line']} of {quoted(first['query'])} has "
                f"{quoted(first['value'])}, {report['unit']} {first['first_line']} {quoted(first['kept'])}."
            )
        yield sentence
    columns = [f"{quoted(each['field'])} ({_how_many(each)})" for each in contradictions if each["column"]]
    if columns:
        further = f" and {len(columns) - _MOST_COLUMNS:,} more" if len(columns) > _MOST_COLUMNS else ""
        yield (
            "Columns that are no field stay as the first row of each query has them; they differ in "
            f"{', '.join(columns[:_MOST_COLUMNS])}{further}."
        )


def _how_many(each: Mapping[str, Any]) -> str:
    rows = "1 row" if each["lines"] == 1 else f"{each['lines']:,} rows"
    queries = "1 query" if each["queries"] == 1 else f"{each['queries']:,} queries"
    return f"{rows} of {queries}"


def nothing_new(report: Mapping[str, Any]) -> bool:
    """Whether an import found nothing that the project did not have."""
    return bool(report.get("already_there")) and not report.get("stored") and not report.get("dry_run")
