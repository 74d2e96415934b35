"""Tables that people upload: CSV as spreadsheets of all countries write it, or a workbook; exact words where
it is neither.

The file is read row by row and never held. What is wrong is said with file, line, column and remedy.
"""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from core.files import sheets
from core.files.encodings import USUAL
from core.files.refusals import FileRefusedError
from core.files.tables import DELIMITERS
from marketplace.errors import Refusal

MAX_NAME = 100
#: Characters of one cell: more than a question may have bytes.
MAX_CELL = 65_535
#: Encodings that a form offers, beside finding out.
ENCODINGS: Mapping[str, str] = {"auto": "Find out", **USUAL}
#: What a page's file chooser shows.
ACCEPTED = ".csv,.txt,.tsv,.xlsx,.xlsm,.xlsb,.xls,.ods,text/csv"
#: What neither XML nor every database can hold.
_UNHOLDABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a file is taken."""

    megabytes: int
    columns: int
    rows: int


#: A table of tasks.
TASKS = Limits(megabytes=50, columns=500, rows=100_000)
#: Results that come back: the columns of a table of tasks and many more, several rows for a task.
RESULTS = Limits(megabytes=500, columns=2_000, rows=1_000_000)


class SheetError(Refusal):
    """A file that cannot be taken as it is; nothing of it was."""

    def __init__(self, message: str) -> None:
        super().__init__("FileRefused", message)


@contextmanager
def _refusals() -> Iterator[None]:
    """What the reader of files refuses, as errors of the marketplace."""
    try:
        yield
    except FileRefusedError as error:
        raise SheetError(str(error)) from error


class Row(NamedTuple):
    """A row: the line it begins on, or its number in the sheet, and its cells in the order of the head."""

    line: int
    cells: list[str]


class Sheet(sheets.Sheet):
    """A CSV file or a workbook whose head has been read. `rows` can be read as often as wanted.

    `encoding` is a name, or "auto" to find it out; `sheet` names one of a workbook, which otherwise gives
    its first with data.
    """

    longest_cell = 1 << 17

    def __init__(
        self, file: BinaryIO, name: str, *, encoding: str = "auto", sheet: str = "", limits: Limits = TASKS
    ) -> None:
        self._limits = limits
        self.name = " ".join(name.split())[:200] or "the file"
        if (size := file.seek(0, io.SEEK_END)) > limits.megabytes * 1_000_000:
            raise SheetError(
                f"{self.name}: it has {size / 1_000_000:.0f} MB; at most {limits.megabytes} are taken. "
                "Split it into several files."
            )
        named = "" if encoding == "auto" else encoding
        with _refusals():
            super().__init__(sheets.copied_source(file, self.name, encoding=named, sheet=sheet))

    @property
    def description(self) -> str:
        """How the file was read, in words: a guessed encoding, and, once it was read, rows that end early."""
        return "; ".join([self._form, *(note.removesuffix(".") for note in self.notes())])

    @property
    def _form(self) -> str:
        if workbook := self.source.workbook:
            of = f" of {len(workbook.sheets)}" if len(workbook.sheets) > 1 else ""
            return f"a workbook, sheet {workbook.sheet!r}{of}"
        separator = DELIMITERS.get(self.delimiter, repr(self.delimiter))
        return f"{self.source.encoding_said}; cells separated by {separator}s"

    def rows(self) -> Iterator[Row]:
        """The rows below the head; blank lines are none. Raises SheetError at the first that is not right."""
        count = 0
        with _refusals():
            for line, cells in super().rows():
                count += 1
                if count > self._limits.rows:
                    raise self.error(
                        f"it has more than {self._limits.rows:,} rows. Split it into several files.",
                        line=line,
                    )
                self._check_cells(line, cells)
                yield Row(line, cells)
        if not count:
            raise self.error("it has a head and no rows below it.")

    def name_columns(self, line: int, cells: list[str]) -> list[str]:
        """Names that templates and files can have, each once."""
        names = super().name_columns(line, cells)
        if not names:
            raise self.error("its first line names no column.", line=line)
        if len(names) > self._limits.columns:
            raise self.error(
                f"it has {len(names):,} columns; at most {self._limits.columns} are taken. Leave out those "
                "that the template does not show.",
                line=line,
            )
        seen: dict[str, int] = {}
        for number, name in enumerate(names, start=1):
            if not name:
                raise self.error(f"column {number} has no name in the head.", line=line)
            if len(name) > MAX_NAME:
                raise self.error(
                    f"the name has {len(name)} characters; at most {MAX_NAME} are taken.",
                    line=line,
                    column=name,
                )
            if _UNHOLDABLE.search(name):
                raise self.error(f"the name of column {number} has a control character.", line=line)
            if name in seen:
                raise self.error(
                    f"columns {seen[name]} and {number} have the same name. Rename one.",
                    line=line,
                    column=name,
                )
            seen[name] = number
        return names

    def error(self, why: str, *, line: int = 0, column: str = "") -> SheetError:
        """An error in this file."""
        return SheetError(str(super().error(why, line=line, column=column)))

    def _check_cells(self, line: int, cells: list[str]) -> None:
        for column, cell in zip(self.columns, cells, strict=True):
            if len(cell) > MAX_CELL:
                raise self.error(
                    f"the cell has {len(cell):,} characters; a cell may have {MAX_CELL:,}.",
                    line=line,
                    column=column,
                )
            if match := _UNHOLDABLE.search(cell):
                raise self.error(
                    f"the cell has a character that no page can hold (U+{ord(match[0]):04X}). Take it out.",
                    line=line,
                    column=column,
                )
