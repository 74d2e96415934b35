"""The columns of every table, as sections of the data card."""

from collections.abc import Iterator

from releases.describing.escapes import markdown, table
from releases.describing.facts import Facts
from releases.tables import RECORDS, TABLES, Kind, Table

_WORDS = {
    Kind.TEXT: "text",
    Kind.INTEGER: "whole number",
    Kind.NUMBER: "number",
    Kind.FLAG: "true or false",
    Kind.INTEGERS: "list of whole numbers",
    Kind.NAMES: "list of texts",
}


def columns(facts: Facts) -> Iterator[str]:
    """A section for each table that the release has."""
    there = [each for each in TABLES if facts.rows.get(each.name)]
    if there:
        yield "## Columns"
        yield "A value that is not known is null; CSV has an empty cell for it, and JSON for lists."
    for each in there:
        yield f"### `{each.name}`"
        yield markdown(each.meaning)
        yield _table(each)


def _table(of: Table) -> str:
    return table(
        ("Column", "Holds", "Meaning"),
        [(f"`{each.name}`", kind_words(each.kind), markdown(each.meaning)) for each in of.columns],
    )


def kind_words(kind: Kind) -> str:
    """What a column of a kind holds, in words: `list of worker, score`."""
    if kind in _WORDS:
        return _WORDS[kind]
    return f"list of {{{', '.join(_field(name, inner) for name, inner in RECORDS[kind])}}}"


def _field(name: str, kind: Kind) -> str:
    return f"{name}: {kind_words(kind)}" if kind in RECORDS else name
