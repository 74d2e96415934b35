"""A file from its first byte to its sample: one pass to count, one to fetch what was drawn."""

import heapq
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.importing.design import Design, SampledQuery
from annotation.importing.merge import Contradictions, QuerySpool, merge
from annotation.importing.reader import Reader
from annotation.importing.records import Record
from annotation.importing.screening import RULES, Screen
from annotation.importing.text import folded, normal, quoted
from core.files.refusals import MOST_LISTED, FileRefusedError, Refusals, RowCounts, ignore
from core.files.text_source import unchanged

if TYPE_CHECKING:
    from annotation.importing.tally import Tally

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
    drawn: dict[int, SampledQuery] = field(default_factory=dict)

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
        listed = sorted(self.refusals.listed, key=lambda each: each.line)[:MOST_LISTED]
        strata: dict[str, int] = {}
        for each in self.drawn.values():
            if each.stratum:
                strata[each.stratum] = strata.get(each.stratum, 0) + 1
        return {
            "format": self.reader.format,
            "format_words": self.reader.description,
            "unit": self.reader.unit,
            "records": self.records,
            "refused": self.refusals.total,
            "refusals": [asdict(each) for each in listed],
            "rules": {
                rule: {
                    "words": words,
                    "dropped": self.dropped.get(rule, 0),
                    "examples": [{"line": line, "text": text} for line, text in self.examples.get(rule, [])],
                }
                for rule, words in RULES.items()
                if rule in self.rules
            },
            "duplicates": self.duplicates,
            "merged": self.merged,
            "counts": self.counts().as_json(),
            "contradictions": self.contradictions.report(),
            "distinct": self.distinct,
            "total_count": self.total,
            "design": {**asdict(self.design), "words": _DESIGNS[self.design.by]},
            "sampled": len(self.drawn),
            "strata": strata,
        }


def survey(reader: Reader, *, screen: Screen, design: Design, room: Path, strict: bool = False) -> Survey:
    """The first pass, and the draw. FileRefusedError if the file is refused; with `strict`, if a line is."""
    from annotation.importing.first_pass import FirstPass
    from annotation.importing.sampling import draw
    from annotation.importing.tally import Tally

    before = reader.source.path.stat()
    refusals = Refusals(reader.source.name, strict=strict, unit=reader.unit)
    tally = Tally(room)
    counting = FirstPass(screen, tally, refusals, design.seed)
    counting.run(reader)
    contradictions = Contradictions()
    _note_conflicts(reader, tally, refusals, contradictions)
    found = Survey(
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
    found.drawn = {each.ordinal: each for each in draw(tally.blocks, design)}
    if not unchanged(reader.source.path, before):
        raise FileRefusedError(f"{reader.source.name} was changed while it was read. Import it again.")
    return found


def fetch(found: Survey) -> Iterator[tuple[Record, SampledQuery]]:
    """The second pass: drawn queries in the order of the file, each with what all its rows bring.

    Their texts are normalised. What a row turns out to be (one that only repeats) is corrected in `found`.
    """
    before = found.reader.source.path.stat()
    fetched = 0
    for record in _gathered(found):
        record.text = normal(record.text)
        record.context = [normal(each) for each in record.context]
        record.replies = [normal(each) for each in record.replies]
        fetched += 1
        yield record, found.drawn[record.ordinal]
    if fetched != len(found.drawn) or not unchanged(found.reader.source.path, before):
        raise FileRefusedError(f"{found.reader.source.name} was changed while it was read. Import it again.")


def _gathered(found: Survey) -> Iterator[Record]:
    """The drawn queries, those of several rows put together."""
    from numpy import fromiter, int64

    drawn = sorted(found.drawn)
    if not found.merged:
        yield from found.reader.take(drawn, ignore)
        return
    owner = {}

    def wanted() -> Iterator[int]:
        members = found.tally.members(fromiter(drawn, int64, len(drawn)))
        for ordinal, first in heapq.merge(((each, each) for each in drawn), members):
            owner[ordinal] = first
            yield ordinal

    gathering = QuerySpool(found.room)
    gathering.fill((owner.pop(row.ordinal), row) for row in found.reader.take(wanted(), ignore))
    for rows in gathering.queries():
        merged = merge(rows, found.contradictions, found.refusals)
        found.merged -= merged.repeats + merged.refused
        found.duplicates -= merged.refused
        yield merged.record


def _note_conflicts(
    reader: Reader, tally: "Tally", refusals: Refusals, contradictions: Contradictions
) -> None:
    """Refuse records that have another query's id, or other labels than the same query before them.

    Where only the ids of one query differ, the first one is kept.
    """
    groups = ((tally.repeated_ids, ("text", "context")), (tally.contradictions, ("type", "yes_no")))
    listed = [pair for conflicts, _ in groups for pair in conflicts[:MOST_LISTED]]
    shown = {ordinal for pair in (*listed, *tally.some_other_ids) for ordinal in pair}
    if not shown:
        return
    records = {each.ordinal: each for each in reader.take(sorted(shown), ignore)}
    for conflicts, names in groups:
        for place, (ordinal, other) in enumerate(conflicts):
            if place >= MOST_LISTED:
                refusals(0, "The line contradicts an earlier line of the same query.", names[0])
                continue
            row, first = records[ordinal], records[other]
            name = next((each for each in names if _differs(first, row, each)), names[-1])
            refusals(row.line, _reason(reader.unit, name, first, row), name)
            kept, value = getattr(first, name), getattr(row, name)
            contradictions.add(name, first, kept, row, value, outcome="line refused")
    for ordinal, other in tally.some_other_ids:
        row, first = records[ordinal], records[other]
        contradictions.add("id", first, first.id, row, row.id)
    if tally.other_ids:
        found = contradictions.of("id")
        found.lines, found.queries = tally.other_ids, tally.other_id_queries


def _differs(first: Record, row: Record, name: str) -> bool:
    kept, value = getattr(first, name), getattr(row, name)
    if name == "text":
        return folded(normal(kept)) != folded(normal(value))
    return kept not in ("", None) and value not in ("", None) and bool(kept != value)


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
    words = {"type": "type", "yes_no": "yes-no flag"}[name]
    return (
        f"The {words} contradicts that of the same query in {unit} {first.line}: {getattr(first, name)} "
        f"there, {getattr(row, name)} here."
    )
