"""CSV: TABLE-SPLIT.csv, UTF-8, safe to open with a spreadsheet; columns that are lists hold JSON.

A text that a spreadsheet would run as a formula gets an apostrophe before it, as everywhere in Distillery.
What is not known is an empty cell, an empty text is "". Line breaks inside of a cell are those that people
wrote.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.files.cells import BEGINNING, INSIDE
from releases.formats.arrow import json_texts, schema_of
from releases.tables import Kind, Table

if TYPE_CHECKING:
    import pyarrow as pa

NAME, SUFFIX = "csv", ".csv"
_PLAIN = (Kind.INTEGER, Kind.NUMBER, Kind.FLAG)


@contextmanager
def open_file(path: Path, table: Table) -> Iterator[Callable[[Any], None]]:
    """One file; what is given takes record batches."""
    from pyarrow import csv

    with csv.CSVWriter(
        path, _cells_of(table), write_options=csv.WriteOptions(quoting_style="needed")
    ) as writer:
        yield lambda batch: writer.write_batch(_cells(batch, table))


def _cells_of(table: Table) -> "pa.Schema":
    """The columns as cells: all but numbers and truths are texts."""
    import pyarrow as pa

    schema = schema_of(table)
    return pa.schema(
        [
            (column.name, schema.field(column.name).type if column.kind in _PLAIN else pa.string())
            for column in table.columns
        ]
    )


def _cells(batch: Any, table: Table) -> Any:
    import pyarrow as pa

    arrays = []
    for column, values in zip(table.columns, batch.columns, strict=True):
        if column.kind in _PLAIN:
            arrays.append(values)
        else:
            arrays.append(_guarded(values) if column.kind == Kind.TEXT else json_texts(values))
    return pa.record_batch(arrays, schema=_cells_of(table))


def _guarded(texts: Any) -> Any:
    """Each different text once: ids, names and reasons come again and again."""
    coded = texts.dictionary_encode()
    if len(coded.dictionary) > len(texts) // 2:
        return _guarded_one_by_one(texts)
    return _guarded_one_by_one(coded.dictionary).take(coded.indices)


def _guarded_one_by_one(texts: Any) -> Any:
    from pyarrow import compute

    runs = compute.match_substring_regex(texts, BEGINNING)
    inside = compute.match_substring_regex(texts, INSIDE)
    if compute.any(inside).as_py():
        texts = compute.replace_substring_regex(texts, INSIDE, r"\1'\2")
    if not compute.any(runs).as_py():
        return texts
    return compute.if_else(runs, compute.binary_join_element_wise("'", texts, ""), texts)
