"""A file from its first byte to its sample: one pass to count, one to fetch what was drawn."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.importing.design import Design, Drawn
from annotation.importing.reader import Reader, ignore
from annotation.importing.records import MOST_LISTED, FileRefusedError, Record, Refusals
from annotation.importing.screening import RULES, Screen
from annotation.importing.source import unchanged
from annotation.importing.text import normal

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
    records: int
    duplicates: int
    distinct: int
    total: int
    dropped: dict[str, int]
    examples: dict[str, list[tuple[int, str]]]
    design: Design
    rules: frozenset[str]
    drawn: dict[int, Drawn] = field(default_factory=dict)

    def report(self) -> dict[str, Any]:
        """All figures, ready for JSON."""
        listed = sorted(self.refusals.listed, key=lambda each: each.line)[:MOST_LISTED]
        strata: dict[str, int] = {}
        for each in self.drawn.values():
            if each.stratum:
                strata[each.stratum] = strata.get(each.stratum, 0) + 1
        return {
            "format": self.reader.format,
            "format_words": self.reader.said,
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
            "distinct": self.distinct,
            "total_count": self.total,
            "design": {**asdict(self.design), "words": _DESIGNS[self.design.by]},
            "sampled": len(self.drawn),
            "strata": strata,
        }


def survey(reader: Reader, *, screen: Screen, design: Design, room: Path, strict: bool = False) -> Survey:
    """The first pass, and the draw. FileRefusedError if the file is refused; with `strict`, if a line is."""
    from annotation.importing.counting import Counting  # noqa: PLC0415 - brings numpy, which no first page needs
    from annotation.importing.sampling import draw  # noqa: PLC0415
    from annotation.importing.tally import Tally  # noqa: PLC0415

    before = reader.source.path.stat()
    refusals = Refusals(reader.source.name, strict=strict, unit=reader.unit)
    tally = Tally(room)
    counting = Counting(screen, tally, refusals, design.seed)
    counting.run(reader)
    _refuse_conflicts(reader, tally, refusals)
    found = Survey(
        reader=reader,
        refusals=refusals,
        records=counting.records,
        duplicates=tally.duplicates,
        distinct=tally.distinct,
        total=tally.total,
        dropped=dict(counting.dropped),
        examples=counting.examples,
        design=design,
        rules=screen.rules,
    )
    found.drawn = {each.ordinal: each for each in draw(tally.blocks, design)}
    if not unchanged(reader.source.path, before):
        raise FileRefusedError(f"{reader.source.name} was changed while it was read. Import it again.")
    return found


def fetch(found: Survey) -> Iterator[tuple[Record, Drawn]]:
    """The second pass: drawn records in the order of the file, their text normalised."""
    before = found.reader.source.path.stat()
    fetched = 0
    for record in found.reader.take(set(found.drawn), ignore):
        record.text = normal(record.text)
        record.context = [normal(each) for each in record.context]
        record.replies = [normal(each) for each in record.replies]
        fetched += 1
        yield record, found.drawn[record.ordinal]
    if fetched != len(found.drawn) or not unchanged(found.reader.source.path, before):
        raise FileRefusedError(f"{found.reader.source.name} was changed while it was read. Import it again.")


def _refuse_conflicts(reader: Reader, tally: "Tally", refusals: Refusals) -> None:
    """Refuse records that have another query's id, or other labels than the same query before them."""
    groups = [
        (tally.repeated_ids, "The id is that of another query, in {unit} {other}."),
        (
            tally.contradictions,
            "The type or yes-no flag contradicts that of the same query in {unit} {other}.",
        ),
    ]
    shown = {ordinal for conflicts, _ in groups for pair in conflicts[:MOST_LISTED] for ordinal in pair}
    if not shown:
        return
    lines = {each.ordinal: each.line for each in reader.take(shown, ignore)}
    for conflicts, reason in groups:
        for ordinal, other in conflicts:
            line, first = lines.get(ordinal, 0), lines.get(other, 0)
            refusals(line, reason.format(unit=reader.unit, other=first))
