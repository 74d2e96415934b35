"""The formats of a release by name. A format is a module that is imported only when it is asked for."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from releases.source import Source
from releases.tables import Row, Table

#: Rows by the path of a file within the format's folder, for files that have rows.
Written = dict[str, int]


class RowWriter(Protocol):
    """Takes the tables in `tables` one after the other, in batches, and writes in constant memory."""

    tables: tuple[Table, ...]

    def add(self, table: Table, rows: list[Row]) -> None:
        """One batch."""
        ...

    def finish(self) -> Written:
        """All batches have come: complete the files."""
        ...


class RowFormat(Protocol):
    """A module of a format that is written from rows as Python has them."""

    NAME: str

    def open_writer(self, folder: Path, source: Source) -> AbstractContextManager[RowWriter]:
        """A writer into the format's own empty folder."""
        ...


class RecordFormat(Protocol):
    """A module of a format with one file for each split of a table, written from Arrow's record batches.

    It runs in another thread: it asks no database and leaves Python's lock alone for most of its time.
    """

    NAME: str
    SUFFIX: str

    def open_file(self, path: Path, table: Table) -> AbstractContextManager[Callable[[Any], None]]:
        """A file for rows of a table; what is given takes one batch."""
        ...


#: Where each format is written; a release's folder has one folder per format, with the format's name.
FORMATS: Mapping[str, str] = {
    "jsonl": "releases.formats.jsonl",
    "csv": "releases.formats.csv_files",
    "parquet": "releases.formats.parquet",
    "msmarco": "releases.formats.msmarco",
    "dureader": "releases.formats.dureader",
    "mt-metrics-eval": "releases.formats.mteval",
}
#: In words for people who choose.
LABELS: Mapping[str, str] = {
    "jsonl": "JSON Lines",
    "csv": "CSV, safe to open with a spreadsheet",
    "parquet": "Parquet, for pandas and datasets",
    "msmarco": "MS MARCO v2.1, reference sets as one object per column",
    "dureader": "DuReader, reference sets as one question a line",
    "mt-metrics-eval": "mt-metrics-eval, human scores for tools that evaluate metrics",
}


def format_named(name: str) -> RowFormat | RecordFormat:
    """The module of a format; KeyError where there is none of this name."""
    return cast("RowFormat | RecordFormat", import_module(FORMATS[name]))
