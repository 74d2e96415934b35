"""What goes into a release, and the difference between two, in lines for people."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from releases.diff import Difference, TableDifference
from releases.groups import ANSWERS, QUERIES, left_out_of, words_of

if TYPE_CHECKING:
    from releases.selectors import Content


def selection_lines(manifest: Mapping[str, Any]) -> Iterator[str]:
    """What a built release left out by group, and what was brought in; nothing where there is nothing."""
    for of in (QUERIES, ANSWERS):
        if left_out := left_out_of(manifest["steps"], of):
            yield f"{of} left out: {words_of(left_out)}"
    if brought := manifest["parameters"]["brought_in"]:
        yield f"brought in, not accepted: {words_of(brought)}"


def content_lines(content: "Content") -> Iterator[str]:
    """What a release would take now; each group with what became of it."""
    for of, inside, everything, groups in (
        (QUERIES, content.queries, content.all_queries, content.of_queries),
        (ANSWERS, content.answers, content.all_answers, content.of_answers),
    ):
        yield f"{of}: {inside:,} of {everything:,} go in"
        for each in groups:
            if each.count:
                name = each.group.name
                how = (
                    "brought in"
                    if each.taken
                    else f"--include {name}"
                    if each.group.optional
                    else "stays out"
                )
                yield f"  {each.count:>9,}  {each.group.label.lower()} ({how})"
        if of == ANSWERS and content.answers_of_queries:
            yield f"  {content.answers_of_queries:>9,}  of queries that are left out"
    yield f"answers of systems: {content.candidates:,} of {content.all_candidates:,} go in"
    yield f"ratings: {content.ratings:,} of {content.all_ratings:,} go in"
    yield from (f"  {words} (stay out)" for words in content.ratings_words)


def difference_lines(found: Difference) -> Iterator[str]:
    """What differs, the most important first."""
    yield f"{found.a} -> {found.b}"
    if found.same_bytes:
        yield "They are the same, byte by byte."
        return
    if found.same_content:
        yield "The data are the same; what differs is how they are written or described."
    yield from found.cautions
    for table in found.tables:
        yield from _table_lines(table)
    for name, (before, after) in found.steps.items():
        yield f"  {name}: {_count(before)} -> {_count(after)}"
    for name, pair in found.facts.items():
        yield f"  {name}: {pair[0]!r} -> {pair[1]!r}"
    for words, files in (
        ("only in the first", found.files_removed),
        ("only in the second", found.files_added),
        ("with other bytes", found.files_changed),
    ):
        if files:
            yield f"  files {words}: {', '.join(files)}"


def _table_lines(table: TableDifference) -> Iterator[str]:
    said = f"{table.table}: {table.before:,} -> {table.after:,} rows"
    if table.same:
        yield said if table.before != table.after else f"{said}, none changed"
        return
    yield f"{said}; {table.added:,} added, {table.removed:,} removed, {table.changed:,} changed"
    for words, names in (
        ("added", table.first_added),
        ("removed", table.first_removed),
        ("changed", table.first_changed),
    ):
        if names:
            count = getattr(table, words)
            more = f" and {count - len(names):,} more" if count > len(names) else ""
            yield f"  {words}: {', '.join(names)}{more}"
    if table.columns:
        yield "  columns: " + ", ".join(f"{name} ({count:,})" for name, count in table.columns.items())


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
