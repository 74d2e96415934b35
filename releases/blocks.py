"""Rows as columns, for tables of millions of rows: JSON Lines are made without a value of them in Python.

A column is a `CodedColumn` where few values are different, `Lists` where it holds records, `Objects` where
it may hold anything, else Arrow's texts or a list of numbers. The lines are those that `formats.jsonl` makes
of the same rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute
from pydantic_core import to_json

from releases.formats.arrow import texts_as_json
from releases.formats.jsonl import on_one_line
from releases.tables import Row, Table

Codes = npt.NDArray[np.integer[Any]]
#: What `on_one_line` escapes.
_ESCAPED = r'["\\\x00-\x1f\x{85}\x{2028}\x{2029}]'
_ROWS = 5_000


class CodedColumn(NamedTuple):
    """A column by its different values: `codes` are their places."""

    values: Sequence[Any]
    codes: Codes


class Lists(NamedTuple):
    """Lists of records. `ends` are where each list ends, after a 0; `fields` has their columns."""

    ends: Codes
    fields: Mapping[str, "CodedColumn"]


class Objects(NamedTuple):
    """A column of values that are few or of any kind."""

    values: Sequence[Any]


#: Any is Arrow's texts, which have no types.
Column = CodedColumn | Lists | Objects | list[Any] | Any


class SplitLines(NamedTuple):
    """The lines of one split: their bytes, how many there are, and the longest of them."""

    lines: memoryview
    rows: int
    longest: int


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a table, in the order of its columns. `split` is always coded."""

    table: Table
    columns: tuple[Column, ...]

    def __len__(self) -> int:
        return len(self.column("split").codes)

    def column(self, name: str) -> CodedColumn:
        """A coded column."""
        coded_column = self.columns[self.table.place(name)]
        assert isinstance(coded_column, CodedColumn)
        return coded_column

    def counts(self, name: str) -> dict[Any, int]:
        """How many rows have each value of a coded column."""
        values, codes = self.column(name)
        counts = np.bincount(codes, minlength=len(values)).tolist()
        return {value: count for value, count in zip(values, counts, strict=True) if count}

    def batches(self, *, lists: bool = True) -> Iterator[list[Row]]:
        """The rows, some at a time; without `lists` columns of them are None."""
        for start in range(0, len(self), _ROWS):
            part = slice(start, start + _ROWS)
            yield list(zip(*(_values(column, part, lists) for column in self.columns), strict=False))

    def lines(self) -> dict[str, SplitLines]:
        """The rows as JSON Lines by split, each split in the order of the rows."""
        parts: list[Any] = []
        for number, (name, column) in enumerate(zip(self.table.names, self.columns, strict=True)):
            parts += [f'{"," if number else "{"}"{name}":', _json(column)]
        lines = compute.binary_join_element_wise(*parts, "}\n", "")
        splits, codes = self.column("split")
        return {
            splits[code]: _split_lines(lines.filter(pa.array(codes == code)))
            for code in np.unique(codes).tolist()
        }


def constant(value: Any, count: int) -> CodedColumn:
    """A column with the same value in each of its rows."""
    return CodedColumn((value,), np.zeros(count, np.int8))


def truths(flags: npt.NDArray[np.bool_]) -> CodedColumn:
    """A column of yes and no."""
    return CodedColumn((False, True), flags.astype(np.int8))


def coded(values: Sequence[Any]) -> CodedColumn:
    """The different values of a column, in the order of their first row."""
    places: dict[Any, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return CodedColumn(list(places), np.array(codes, np.int32))


def _values(column: Column, part: slice, lists: bool) -> Iterator[Any]:
    if isinstance(column, CodedColumn):
        return (column.values[code] for code in column.codes[part].tolist())
    if isinstance(column, Lists):
        return _lists(column, part) if lists else iter([None] * len(column.ends[1:][part]))
    if isinstance(column, Objects):
        return iter(column.values[part])
    return iter(column[part].to_pylist() if isinstance(column, pa.Array) else column[part])


def _lists(column: Lists, part: slice) -> Iterator[list[dict[str, Any]]]:
    firsts, ends = column.ends[:-1][part].tolist(), column.ends[1:][part].tolist()
    names = tuple(column.fields)
    for first, end in zip(firsts, ends, strict=True):
        records = zip(
            *(_values(each, slice(first, end), True) for each in column.fields.values()), strict=True
        )
        yield [dict(zip(names, record, strict=True)) for record in records]


def _json(column: Column) -> Any:
    """A column as texts of JSON."""
    if isinstance(column, CodedColumn):
        return pa.array([on_one_line(value).decode() for value in column.values]).take(pa.array(column.codes))
    if isinstance(column, Lists):
        return _lists_as_json(column)
    if isinstance(column, Objects):
        return pa.array(
            [on_one_line(value).decode() if value != [] else "[]" for value in column.values], pa.string()
        )
    if isinstance(column, pa.Array):
        return texts_as_json(column, _ESCAPED, on_one_line)
    # Numbers and None: no comma is in any of them.
    return pa.array(to_json(column)[1:-1].decode().split(","), pa.string())


def _lists_as_json(column: Lists) -> Any:
    parts: list[Any] = []
    for number, (name, values) in enumerate(column.fields.items()):
        parts += [f'{"," if number else "{"}"{name}":', _json(values)]
    records = compute.binary_join_element_wise(*parts, "}", "")
    lists = pa.ListArray.from_arrays(pa.array(column.ends, pa.int32()), records)
    return compute.binary_join_element_wise("[", compute.binary_join(lists, ","), "]", "")


def _split_lines(lines: Any) -> SplitLines:
    """The texts of an array lie behind one another already."""
    ends = np.frombuffer(lines.buffers()[1], np.int32)[lines.offset : lines.offset + len(lines) + 1]
    characters = memoryview(lines.buffers()[2])[int(ends[0]) : int(ends[-1])]
    return SplitLines(characters, len(lines), int(np.diff(ends).max()) - 1)
