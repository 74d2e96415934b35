"""JSON Lines: TABLE-SPLIT.jsonl, UTF-8, keys in the order of the columns."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from releases.formats.lines import line_maker
from releases.formats.registry import Written
from releases.source import Source
from releases.tables import Row, Table

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
