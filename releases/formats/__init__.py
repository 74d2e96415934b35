"""The formats of a release by name, and names and ids as other people's formats take them.

A format is a module of this package that is imported only when it is asked for.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast
from urllib.parse import quote

from releases.tables import Row, Source, Table

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


# Names and ids as other people's formats take them.

_LONGEST = 120
_NUMBER = re.compile(r"0|[1-9][0-9]{0,14}")
_NOT_SAFE = re.compile(r"[^\w+-]+")


def identifier(key: str) -> int | str:
    """An id as formats with numbers for ids write it: a number where it is one in its shortest form."""
    return int(key) if _NUMBER.fullmatch(key) else key


def word(text: str) -> str:
    """A text as one word: white space, control characters and the percent sign are percent-encoded."""
    return "".join(sign if sign.isprintable() and sign not in " %" else quote(sign, safe="") for sign in text)


class FileNames:
    """Names of files for names of people: distinct, also where a file system does not tell case apart."""

    def __init__(self, reserved: re.Pattern[str]) -> None:
        self._reserved = reserved
        self._taken: set[str] = set()

    def of(self, name: str) -> str:
        """The name with _ for dots, slashes, white space and the like; one that is taken gets a number."""
        plain = _NOT_SAFE.sub("_", name).encode()[:_LONGEST].decode(errors="ignore") or "unnamed"
        candidate, number = plain, 1
        while candidate.casefold() in self._taken or self._reserved.fullmatch(candidate):
            number += 1
            candidate = f"{plain}-{number}"
        self._taken.add(candidate.casefold())
        return candidate


def line(text: str) -> str:
    """A text on one line, as formats with one text a line take it."""
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        return text  # nearly all; no white space but the blank is printable
    return " ".join(text.split())
