"""Tables that people give, row by row: CSV of spreadsheets of all countries, a sheet of a workbook, JSON.

    sheet = open_sheet(TextSource(path), column_names={"item", "worker"})
    sheet.columns                           ["item", "worker", "score"]
    for line, cells in sheet.rows(): ...    as many cells as there are columns
    sheet.notes()                           sentences about what was not as it should be, and was read
    sheet.reading({"item": ["item"]}, rows=counts).as_json()

What is wrong is a FileRefusedError that names file, line and remedy.
"""

import csv
import json
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from core.files.cells import DecimalCommas, which_of
from core.files.json_objects import holds_records, read_json_lines, read_json_records
from core.files.reading import Reading, plain_name
from core.files.refusals import FileRefusedError, RowCounts, ignore
from core.files.tables import (
    DELIMITERS,
    SEPARATOR_LINE,
    csv_reader,
    find_delimiter,
    note_short_rows,
    refuse_header_row,
    why_malformed,
)
from core.files.text_source import TextSource

Records = Iterator[tuple[int, list[str]]]


class Sheet:
    """A table whose head has been read. `rows` can be read as often as wanted.

    By `column_names`, as `plain_name` writes them, the separator is recognised. Nothing above `header_row`,
    where one is named, is read.
    """

    #: Characters of one cell.
    longest_cell: ClassVar[int] = 1 << 24
    #: What else may be done where quotation marks are not as they should be, as a sentence behind a blank.
    quotes_remedy: ClassVar[str] = ""

    def __init__(
        self,
        source: TextSource,
        *,
        column_names: Collection[str] = (),
        quotes: bool = True,
        header_row: int = 0,
    ) -> None:
        self.source, self._quotes = source, quotes
        #: Rows without their last, empty cells, which spreadsheets leave out; of the last reading.
        self.short_rows = 0
        self._spread: list[int] = []
        self.delimiter, self._above = "", max(header_row - 1, 0)
        self.columns: list[str] = []
        if source.workbook is None:
            self._find_form(column_names)
        self.header_row, head = next(self._records(), (0, []))
        if not self.header_row:
            what = f"its sheet {source.workbook.sheet!r}" if source.workbook else "it"
            raise self.error(
                f"{what} is empty. Its first line must name the columns, the lines below hold the values."
            )
        if header_row not in (0, self.header_row):
            raise self.error(
                f"it is empty, so it names no columns. The next that holds something is {self.header_row}.",
                line=header_row,
            )
        self.columns = self.name_columns(self.header_row, head)
        self.commas = DecimalCommas(apply=self.delimiter != ",")

    def name_columns(self, line: int, cells: list[str]) -> list[str]:
        """The names in the head; empty ones at its end, which spreadsheets write, are no columns."""
        names = [" ".join(cell.split()) for cell in cells]
        while names and not names[-1]:
            names.pop()
        return names

    def find_column(
        self, role: str, names: Sequence[str], *, remedy: str, excluded: Collection[str] = ()
    ) -> int | None:
        """Where the column is that has one of the names and is not `excluded`; an error for several."""
        plain_names = {*map(plain_name, names)} - {*map(plain_name, excluded)}
        places = [place for place, name in enumerate(self.columns) if plain_name(name) in plain_names]
        if len(places) > 1:
            columns = (self.columns[place] for place in places)
            raise self.error(which_of(role, columns, remedy), line=self.header_row)
        return places[0] if places else None

    def error(self, why: str, *, line: int = 0, column: str = "") -> Exception:
        """An error in this file."""
        place = f", {self._place(line)}" if line else ""
        if column:
            place += f", column {column[:60]}"
        return FileRefusedError(f"{self.source.name}{place}: {why}")

    def refuse(self, line: int, reason: str, /) -> None:
        """What is told of a line that is no text."""
        raise self.error(reason, line=line)

    @property
    def unit(self) -> str:
        """What the numbers of rows count."""
        return "row" if self.source.workbook else "line"

    def rows(self) -> Records:
        """The rows below the head with their lines, as wide as the head; a blank line is none."""
        width = len(self.columns)
        self.short_rows, self._spread = 0, []
        records = self._records()
        next(records, None)
        for line, cells in records:
            if len(cells) == width:
                yield line, cells
                continue
            # Spreadsheets pad rows with empty cells, as far as their widest row goes.
            if any(cells[width:]):
                raise self.error(self._too_wide(cells, width), line=line)
            self.short_rows += len(cells) < width
            yield line, (cells + [""] * (width - len(cells)))[:width]

    def notes(self) -> list[str]:
        """What the last reading met that may be meant otherwise, in sentences."""
        notes = [*note_short_rows(self.short_rows), *self.commas.notes()]
        if self._spread:
            notes.append(
                "Cells that go over several lines and hold a separator, each read as one cell: "
                f"{len(self._spread):,}, the first in line {self._spread[0]}.{self.quotes_remedy}"
            )
        return notes

    def doubts(self, remedy: str = "save the file as UTF-8") -> list[str]:
        """What was guessed of its encoding, as a sentence, where it was not named and is not certain."""
        guess = self.source.guess
        if guess is None or guess.confidence >= 1:
            return []
        return [f"The encoding is {guess.description}. If letters look wrong, {remedy}."]

    def reading(self, columns: Mapping[str, Sequence[str]], rows: RowCounts | None = None) -> Reading:
        """How the file was read, where `columns` are the headers by their roles."""
        used = set(chain.from_iterable(columns.values()))
        workbook = self.source.workbook
        return Reading(
            encoding=None if workbook else self.source.encoding,
            separator=self.delimiter or None,
            sheet=workbook.sheet if workbook else None,
            header_row=self.header_row or None,
            columns=columns,
            left_out=[
                name or f"column {number}" for number, name in enumerate(self.columns, 1) if name not in used
            ],
            rows=rows,
        )

    def _place(self, line: int) -> str:
        return self.source.workbook.place(line) if self.source.workbook else f"line {line}"

    def _records(self) -> Records:
        """Rows that hold something, with the numbers of their first lines."""
        if self.source.workbook is not None:
            yield from (row for row in self.source.workbook.rows() if row[0] > self._above)
            return
        lines = self._lines()
        for _ in range(self._above):
            next(lines, None)
        reader = csv_reader(
            lines,
            self.delimiter,
            longest_field=self.longest_cell,
            quoting=csv.QUOTE_MINIMAL if self._quotes else csv.QUOTE_NONE,
            skipinitialspace=True,
            strict=True,
        )
        begins = self._above + 1
        try:
            for cells in reader:
                ends = self._above + reader.line_num
                if ends > begins:
                    self._look_at_spread(begins, cells)
                if any(map(str.strip, cells)):
                    yield begins, cells
                begins = ends + 1
        except csv.Error as error:
            why = why_malformed(error, self.longest_cell) + self.quotes_remedy
            ends = self._above + reader.line_num
            if ends > begins and "expected after" in str(error):
                why = f"the row goes on to line {ends}, and {why}"
            raise self.error(why, line=begins) from error

    def _look_at_spread(self, line: int, cells: list[str]) -> None:
        """Between two quotation marks that belong to texts, rows would go as one cell and unseen."""
        if not any("\n" in cell and self.delimiter in cell for cell in cells):
            return
        texts = self.delimiter.join(cells).split("\n")
        if self.delimiter == "\t" and {text.count("\t") + 1 for text in texts} == {len(self.columns)}:
            raise self.error(
                f"a cell between quotation marks goes on to line {line + len(texts) - 1}, and each of these "
                "lines is a row by itself. Where the marks belong to the texts, put each such text in "
                f'quotation marks, and double those inside: """a" for "a.{self.quotes_remedy}',
                line=line,
            )
        self._spread.append(line)

    def _lines(self) -> Iterator[str]:
        return chain.from_iterable(
            StringIO(text, newline="\n") for _line, text in self.source.chunks(self.refuse)
        )

    def _find_form(self, column_names: Collection[str]) -> None:
        """What separates cells, and how many lines come before the head: one where it says `sep=;`."""
        number, first = next(
            ((at, line) for at, line in enumerate(self._lines(), 1) if at > self._above and line.strip()),
            (0, ""),
        )
        if match := SEPARATOR_LINE.fullmatch(first.rstrip("\n")):
            self.delimiter, self._above = match[1], number
            return

        def count_known(names: list[str]) -> int:
            return sum(plain_name(name) in column_names for name in names)

        try:
            self.delimiter = find_delimiter(
                first, count_known, longest_field=self.longest_cell, skipinitialspace=True
            )
        except csv.Error as error:
            raise self.error(why_malformed(error, self.longest_cell), line=number) from error

    def _too_wide(self, cells: list[str], width: int) -> str:
        named = f"{width} column{'s' if width != 1 else ''}"
        if self.source.workbook is not None:
            column = next(number for number, cell in enumerate(cells[width:], width + 1) if cell)
            return (
                f"cell {column} has a value, and the head names {named}. "
                "Name its column in the first row, or empty the cell."
            )
        separator = DELIMITERS.get(self.delimiter, self.delimiter)
        return (
            f"the row has {len(cells)} cell{'s' if len(cells) != 1 else ''}, the head has {width}. "
            f"A {separator} inside a cell needs quotation marks around the cell."
        )


class ObjectSheet(Sheet):
    """Objects of JSON lines, or the records of one document, as rows.

    Its columns are all members that some object has.
    """

    def __init__(self, source: TextSource, *, lines: bool) -> None:
        self.source, self.lines = source, lines
        self.short_rows, self._spread = 0, []
        self.delimiter, self.header_row = "", 0
        self.commas = DecimalCommas(apply=False)
        self.columns = list(dict.fromkeys(chain.from_iterable(value for _line, value in self.objects())))
        if not self.columns:
            raise self.error("it has no object. Write one JSON object a line, or a list of objects.")

    def rows(self) -> Records:
        """A cell for every column; other values than texts as JSON has them, none as empty."""
        for line, value in self.objects():
            yield line, [_cell(value.get(name)) for name in self.columns]

    @property
    def unit(self) -> str:
        """Lines, or records of the document."""
        return "line" if self.lines else "record"

    def objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects as they are, with their numbers."""
        if self.lines:
            return read_json_lines(self.source, self.refuse, constants=True)
        return read_json_records(self.source, self.refuse)

    def _place(self, line: int) -> str:
        return f"{self.unit} {line}"


def copied_source(file: BinaryIO, name: str, *, encoding: str = "", sheet: str = "") -> TextSource:
    """An open file, which may have no path, as a source; its copy goes when the source does."""
    with ExitStack() as undo:
        copy = undo.enter_context(tempfile.NamedTemporaryFile(prefix="table-"))
        file.seek(0)
        shutil.copyfileobj(file, copy)
        copy.flush()
        source = TextSource(Path(copy.name), name=name, encoding=encoding, sheet=sheet)
        weakref.finalize(source, undo.pop_all().close)
    return source


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def holds_json_lines(source: TextSource, member_names: Collection[str]) -> bool | None:
    """Whether a file is JSON lines, by what it holds; False for one document of records, None for no JSON.

    `member_names` are names of members. FileRefusedError for a document that holds rows in another way.
    """
    if source.workbook:
        return None
    texts = (text.lstrip() for _line, text in source.chunks(ignore))
    start = next(filter(None, texts), "")[:1]
    return None if start not in ("{", "[") else start == "{" and not holds_records(source, member_names)


def open_sheet(source: TextSource, *, column_names: Collection[str] = (), header_row: int = 0) -> Sheet:
    """The table that a file holds, whatever its name; FileRefusedError where it holds none."""
    lines = holds_json_lines(source, column_names)
    if lines is None:
        return Sheet(source, column_names=column_names, header_row=header_row)
    refuse_header_row(source, "JSON", header_row)
    return ObjectSheet(source, lines=lines)
