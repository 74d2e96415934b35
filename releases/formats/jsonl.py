"""JSON Lines: TABLE-SPLIT.jsonl, UTF-8, keys in the order of the columns."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from releases.formats import Written
from releases.tables import Row, Source, Table

NAME = "jsonl"


@contextmanager
def open_writer(folder: Path, source: Source) -> Iterator["_Writer"]:
    """Files that are written already are taken as they are, else they are written from the tables."""
    yield _Writer(folder, source)


class _Writer:
    def __init__(self, folder: Path, source: Source) -> None:
        self._folder, self._source = folder, source
        self._makers: dict[str, Callable[[Sequence[Row]], bytes]] = {}
        self.tables = () if source.lines else tuple(filled.table for filled in source.filled)

    def add(self, table: Table, rows: list[Row]) -> None:
        make = self._makers.setdefault(table.name, line_maker(table))
        place = table.place("split")
        for split in dict.fromkeys(row[place] for row in rows):
            with (self._folder / f"{table.name}-{split}.jsonl").open("ab") as file:
                file.write(make([row for row in rows if row[place] == split]))

    def finish(self) -> Written:
        written: Written = {}
        for filled in self._source.filled:
            table = filled.table.name
            for split in self._source.splits(table):
                name = f"{table}-{split}.jsonl"
                written[name] = self._source.rows[table][split]
                if self._source.lines is not None:
                    _take(self._source.lines / name, self._folder / name)
        return written


def _take(path: Path, to: Path) -> None:
    try:
        os.link(path, to)
    except OSError:
        shutil.copyfile(path, to)


# Rows as JSON Lines: UTF-8, one object per line with its keys in the order of the columns.

#: Line ends to some readers, none to JSON: written as escapes, so that a line is a line to everybody.
_SEPARATORS = tuple((sign.encode(), f"\\u{ord(sign):04x}".encode()) for sign in "\u0085\u2028\u2029")


def on_one_line(value: Any) -> bytes:
    """A value as JSON without a sign that any reader takes for the end of a line."""
    plain = to_json(value)
    if plain.isascii():
        return plain
    for sign, escape in _SEPARATORS:
        if sign in plain:
            plain = plain.replace(sign, escape)
    return plain


def line_maker(table: Table) -> Callable[[Sequence[Row]], bytes]:
    """What turns rows of a table into lines, each with its line feed; no rows are no lines.

    Rows are encoded together, which is three times as fast as one by one, and taken apart where one object
    ends and the next begins with the first column. That cannot stand in a text, whose quotation marks are
    escaped, and records inside a column have no field of that name.
    """
    names = table.names
    first = b'"' + names[0].encode() + b'":'
    between, apart = b"},{" + first, b"}\n{" + first

    def lines(rows: Sequence[Row]) -> bytes:
        if not rows:
            return b""
        together = on_one_line([dict(zip(names, row, strict=True)) for row in rows])
        return together[1:-1].replace(between, apart) + b"\n"

    return lines
