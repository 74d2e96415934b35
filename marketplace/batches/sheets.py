"""Tables that people upload: CSV as spreadsheets of all countries write it, or a workbook; exact words where
it is neither.

The file is read row by row and never held. What is wrong is said with file, line, column and remedy.
"""

import codecs
import csv
import io
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.files.encodings import USUAL, EncodingError, Guess, guess_encoding, marked_encoding, text_encoding
from core.files.tables import csv_reader
from core.files.workbooks import MAGIC, Workbook, WorkbookError, open_workbook
from marketplace.errors import Refusal

MAX_NAME = 100
#: Characters of one cell: more than a question may have bytes.
MAX_CELL = 65_535
#: Encodings that a form offers, beside finding out.
ENCODINGS: Mapping[str, str] = {"auto": "Find out", **USUAL}
#: What a page's file chooser shows.
ACCEPTED = ".csv,.txt,.tsv,.xlsx,.xlsm,.xlsb,.xls,.ods,text/csv"
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
#: Characters of a quoted cell.
_LONGEST_FIELD = 1 << 17
_PIECE = 1 << 20
_HEAD = 1 << 17
#: What neither XML nor every database can hold.
_UNHOLDABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)


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


@dataclass(frozen=True, slots=True)
class Row:
    """A row: the line it begins on, or its number in the sheet, and its cells in the order of the head."""

    line: int
    cells: list[str]


class Sheet:
    """A CSV file or a workbook whose head has been read. `rows` can be read as often as wanted.

    `encoding` is a name, or "auto" to find it out; `sheet` names one of a workbook, which otherwise gives
    its first with data.
    """

    def __init__(
        self, file: BinaryIO, name: str, *, encoding: str = "auto", sheet: str = "", limits: Limits = TASKS
    ) -> None:
        self._file, self._limits = file, limits
        self.name = " ".join(name.split())[:200] or "the file"
        self._check_size()
        self._file.seek(0)
        start = self._file.read(max(map(len, MAGIC)))
        self.workbook = self._workbook(sheet) if start.startswith(MAGIC) else None
        self.delimiter, self._skip = ",", 0
        #: Rows without their last, empty cells, which spreadsheets leave out; of the last reading.
        self.short_rows = 0
        if self.workbook is None:
            if sheet:
                raise self.error(f"it is no workbook, so it has no sheet {sheet[:60]!r}. Name none.")
            self._guess = self._encoding(start, encoding)
            self._decode(self._guess.encoding)
            self.delimiter, self._skip = self._dialect()
        first = next(self._read(), None)
        if first is None:
            raise self.error(
                "it is empty. Its first line must name the columns, the lines below hold the values."
            )
        self.columns = self._head(first)

    @property
    def description(self) -> str:
        """How the file was read, in words: a guessed encoding, and, once it was read, rows that end early."""
        return f"{self._form}{self._short_words}"

    @property
    def _short_words(self) -> str:
        if not self.short_rows:
            return ""
        rows = "1 row ends" if self.short_rows == 1 else f"{self.short_rows:,} rows end"
        return f"; {rows} before the head does, with empty cells"

    @property
    def _form(self) -> str:
        if self.workbook is not None:
            of = f" of {len(self.workbook.sheets)}" if len(self.workbook.sheets) > 1 else ""
            return f"a workbook, sheet {self.workbook.sheet!r}{of}"
        separator = _DELIMITERS.get(self.delimiter, repr(self.delimiter))
        return f"{self._guess.description}; cells separated by {separator}"

    def error(self, why: str, *, line: int = 0, column: str = "") -> SheetError:
        """An error in this file."""
        place = ""
        if line:
            place = f", {self.workbook.place(line) if self.workbook is not None else f'line {line}'}"
        if column:
            place += f", column {column[:60]}"
        return SheetError(f"{self.name}{place}: {why}")

    def rows(self) -> Iterator[Row]:
        """The rows below the head; blank lines are none. Raises SheetError at the first that is not right."""
        reading = self._read()
        next(reading)
        width, count = len(self.columns), 0
        self.short_rows = 0
        for row in reading:
            if not any(row.cells):
                continue
            count += 1
            if count > self._limits.rows:
                raise self.error(
                    f"it has more than {self._limits.rows:,} rows. Split it into several files.",
                    line=row.line,
                )
            cells = row.cells
            # Spreadsheets pad rows with empty cells, as far as their widest row goes.
            if len(cells) > width and not any(cells[width:]):
                del cells[width:]
            if len(cells) > width:
                raise self._wrong_width(row, width)
            if len(cells) < width:
                self.short_rows += self.workbook is None
                cells += [""] * (width - len(cells))
            self._check_cells(row)
            yield row
        if not count:
            raise self.error("it has a head and no rows below it.")

    def _check_size(self) -> None:
        size = self._file.seek(0, io.SEEK_END)
        if size > self._limits.megabytes * 1_000_000:
            raise self.error(
                f"it has {size / 1_000_000:.0f} MB; at most {self._limits.megabytes} are taken. "
                "Split it into several files."
            )

    def _workbook(self, sheet: str) -> Workbook:
        """Readers of workbooks want a path, which an upload may not have."""
        with tempfile.NamedTemporaryFile(prefix="workbook-") as copy:
            self._file.seek(0)
            shutil.copyfileobj(self._file, copy)
            copy.flush()
            try:
                return open_workbook(Path(copy.name), name=self.name, sheet=sheet)
            except WorkbookError as error:
                raise SheetError(str(error)) from error

    def _encoding(self, start: bytes, asked: str) -> Guess:
        """A mark decides, then what is asked for; without either, what the bytes look like."""
        if marked := marked_encoding(start):
            return Guess(marked, 1)
        if asked and asked != "auto":
            try:
                return Guess(text_encoding(asked), 1)
            except EncodingError as error:
                raise self.error(str(error)) from error
        self._file.seek(0)
        return guess_encoding(iter(lambda: self._file.read(_PIECE), b""))

    def _decode(self, encoding: str) -> None:
        # The whole file before its first row: a wrong byte at its end is found before anything is stored.
        decoder = codecs.getincrementaldecoder(encoding)()
        self._file.seek(0)
        line = 1
        try:
            while piece := self._file.read(_PIECE):
                line += decoder.decode(piece).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            known = Guess(encoding, 1).description
            meaningless = error.object[error.start : error.start + 4].hex(" ")
            raise self.error(
                f"it is not {known} (the bytes {meaningless} mean nothing there). "
                "Save it as UTF-8, or choose its encoding.",
                line=line + error.object[: error.start].count(b"\n"),
            ) from error

    def _text(self) -> io.TextIOWrapper:
        self._file.seek(0)
        borrowed = io.BufferedReader(_UnclosedFile(self._file))
        return io.TextIOWrapper(borrowed, encoding=self._guess.encoding, newline="")

    def _dialect(self) -> tuple[str, int]:
        """What separates cells, and how many lines come before the head: one where it says `sep=;`."""
        start = self._text().read(_HEAD)
        if said := _SEPARATOR_LINE.match(start):
            return said[1], 1
        line, quoted = [], False
        for character in start.lstrip():
            quoted ^= character == '"'
            if character in "\r\n" and not quoted:
                break
            if not quoted:
                line.append(character)
        # Where none is more frequent than another it is the comma: a table of one column has none at all.
        return max(_DELIMITERS, key=lambda each: (line.count(each), each == ",")), 0

    def _read(self) -> Iterator[Row]:
        if self.workbook is not None:
            return (Row(number, cells) for number, cells in self.workbook.rows())
        return self._read_text()

    def _read_text(self) -> Iterator[Row]:
        lines = _Lines(self._text())
        for _ in range(self._skip):
            next(lines, None)
        reader = csv_reader(lines, self.delimiter, longest_field=_LONGEST_FIELD, strict=True)
        while True:
            begin = lines.number + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self._malformed(error, begin) from error
            if cells:
                yield Row(begin, cells)

    def _malformed(self, error: csv.Error, line: int) -> SheetError:
        if "field larger" in str(error):
            why = f"a cell has more than {_LONGEST_FIELD:,} characters, or a quotation mark never closes."
        elif "unexpected end" in str(error):
            why = (
                "a quotation mark opens here and never closes. Close it, or double it where it belongs to "
                "the text."
            )
        else:
            why = (
                'a quoted cell goes on after its closing mark. Quotation marks inside a cell are doubled: "".'
            )
        return self.error(why, line=line)

    def _head(self, row: Row) -> list[str]:
        names = [" ".join(cell.split()) for cell in row.cells]
        while names and not names[-1]:
            names.pop()
        if not names:
            raise self.error("its first line names no column.", line=row.line)
        if len(names) > self._limits.columns:
            raise self.error(
                f"it has {len(names):,} columns; at most {self._limits.columns} are taken. Leave out those "
                "that the template does not show.",
                line=row.line,
            )
        seen: dict[str, int] = {}
        for number, name in enumerate(names, start=1):
            if not name:
                raise self.error(f"column {number} has no name in the head.", line=row.line)
            if len(name) > MAX_NAME:
                raise self.error(
                    f"the name has {len(name)} characters; at most {MAX_NAME} are taken.",
                    line=row.line,
                    column=name,
                )
            if _UNHOLDABLE.search(name):
                raise self.error(f"the name of column {number} has a control character.", line=row.line)
            if name in seen:
                raise self.error(
                    f"columns {seen[name]} and {number} have the same name. Rename one.",
                    line=row.line,
                    column=name,
                )
            seen[name] = number
        return names

    def _wrong_width(self, row: Row, width: int) -> SheetError:
        if self.workbook is not None:
            column = next(number for number, cell in enumerate(row.cells[width:], width + 1) if cell)
            return self.error(
                f"cell {column} has a value, and the head names {width} column{'s' if width != 1 else ''}. "
                "Name its column in the first row, or empty the cell.",
                line=row.line,
            )
        separator = _DELIMITERS.get(self.delimiter, self.delimiter).removesuffix("s")
        return self.error(
            f"the row has {len(row.cells)} cell{'s' if len(row.cells) != 1 else ''}, the head has {width}. "
            f"A {separator} inside a cell needs quotation marks around the cell.",
            line=row.line,
        )

    def _check_cells(self, row: Row) -> None:
        for column, cell in zip(self.columns, row.cells, strict=True):
            if len(cell) > MAX_CELL:
                raise self.error(
                    f"the cell has {len(cell):,} characters; a cell may have {MAX_CELL:,}.",
                    line=row.line,
                    column=column,
                )
            if found := _UNHOLDABLE.search(cell):
                raise self.error(
                    f"the cell has a character that no page can hold (U+{ord(found[0]):04X}). Take it out.",
                    line=row.line,
                    column=column,
                )


class _UnclosedFile(io.RawIOBase):
    """Another person's file: reading it to its end does not close it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        piece = self._file.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class _Lines:
    """Lines with the number of the last one given: the reader's own count leaves blank lines out of sight."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.number = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._text.readline()
        if not line:
            raise StopIteration
        self.number += 1
        return line
