"""Tables that people bring: rows of CSV and TSV, many at a time, and files of rows as values by our names.

    table = read_table(source, format="auto", header=None, rules=rules)
    table.mapping                   {"answer": "response"}: which column holds which field
    for line, values in table.values(refuse): ...

Which fields there are, and which of them a file must have, is the importer's: its `ColumnRules`.

What every line costs is decided here. A chunk of text without quotation marks is split; the csv module takes
lines as an iterator over whole chunks, so that a row costs no Python code before it is looked at.
"""

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from core.files.cells import ColumnError, DecimalCommas, quote_names
from core.files.json_objects import holds_records, read_json_lines, read_json_records
from core.files.reading import Reading
from core.files.refusals import FileRefusedError, Refuse, RowCounts, ignore
from core.files.text_source import TextSource
from core.files.workbooks import Workbook

if TYPE_CHECKING:
    import _csv

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
Row = list[str]
#: Rows that are given at a time.
BATCH = 20_000
#: Characters of a quoted field.
LONGEST_FIELD = 1 << 20
#: What Excel writes above a table to say what separates it.
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE | re.DOTALL)
#: A cell of TSV between quotation marks.
_ENCLOSED = re.compile(r'(?:^|\t)"([^\t\n]*)"(?=\t|$)', re.MULTILINE)
#: What a blank line is read as.
BLANK: tuple[Row, ...] = ([], [""])


def csv_reader(lines: Iterable[str], delimiter: str, *, longest_field: int, **dialect: Any) -> "_csv.Reader":
    """A reader of the csv module, whose limit is one for the process: each reading sets its own.

    `dialect` is what `csv.reader` takes beside the delimiter.
    """
    csv.field_size_limit(longest_field)
    return csv.reader(lines, delimiter=delimiter, **dialect)


def find_delimiter(
    line: str, count_known: Callable[[list[str]], int], *, longest_field: int, **dialect: Any
) -> str:
    """What separates a header: under it most names are known ones, or then there are most. csv.Error."""

    def fit(delimiter: str) -> tuple[int, int]:
        names = next(csv_reader([line], delimiter, longest_field=longest_field, **dialect), [])
        return count_known(names), len(names)

    return max(DELIMITERS, key=fit)


def why_malformed(error: csv.Error, longest_field: int) -> str:
    """What is wrong with a row that the csv module, being strict, does not read, and what to do."""
    if "field larger" in str(error):
        return f"a cell has more than {longest_field:,} characters, or a quotation mark never closes."
    if "unexpected end" in str(error):
        return (
            "a quotation mark opens here and never closes. Close it, or double it where it belongs to "
            "the text."
        )
    return (
        'a quoted cell goes on after its closing mark. Quotation marks inside a cell are doubled (""), '
        'not written \\".'
    )


def names_in(row: Row) -> list[str]:
    """The names in a head; spreadsheets write columns without one, which are called by their place."""
    return [name.strip() or f"column {number}" for number, name in enumerate(row, 1)]


def note_short_rows(count: int) -> list[str]:
    """A sentence about rows without their last, empty cells, which spreadsheets leave out; or none."""
    rows = "1 row ends" if count == 1 else f"{count:,} rows end"
    return [f"{rows} before the head does: the missing cells are empty."] if count else []


def note_enclosed_cells(count: int) -> list[str]:
    """A sentence about marks that a spreadsheet may have put around cells of TSV; or none."""
    sentence = (
        f"Texts between quotation marks, with a comma or doubled marks inside: {count:,}. In TSV the marks "
        "are part of the text. If a spreadsheet put them around it, take the format CSV (on the command "
        "line: --format csv), which has tabs, too."
    )
    return [sentence] if count else []


class DelimitedTable(ABC):
    """A CSV or TSV file as rows of text. TSV has no quoting, as query logs and TREC files are written.

    `mapping` is of fields to columns. `places` says in which column each field is, `width` how many columns
    the first row has. Nothing above `header_row`, where one is named, is read.
    """

    def __init__(
        self,
        source: TextSource,
        *,
        format: str,
        mapping: Mapping[str, str] | None = None,
        header: bool | None = None,
        header_row: int = 0,
    ) -> None:
        if header_row and header is False:
            raise FileRefusedError(
                f"{source.name}: row {header_row} is said to name the columns, and that no row does. "
                "Say one of both."
            )
        self.source, self._above = source, header_row - 1
        #: Rows that ended before the first one does, of the last reading to the end.
        self.short_rows = 0
        #: Cells of TSV between marks that a spreadsheet would have put there, of that reading.
        self.enclosed_cells = 0
        self.format = format
        self.delimiter = "," if source.workbook else "\t" if format == "tsv" else ""
        self._first, row = self._first_row()
        if header_row not in (0, self._first):
            raise FileRefusedError(
                f"{source.name}: row {header_row} is empty, so it names no columns. The next row that holds "
                f"something is {self._first}."
            )
        self.header, self.columns, self.mapping = self.find_columns(
            row, dict(mapping or {}), bool(header_row) or header
        )
        self.width = len(row)
        self.places = {ours: self.columns.index(theirs) for ours, theirs in self.mapping.items()}

    @abstractmethod
    def find_columns(
        self, row: Row, mapping: dict[str, str], header: bool | None
    ) -> tuple[bool, list[str], dict[str, str]]:
        """Whether the first row is a header, the columns' names, and which of them holds which field."""

    @property
    def description(self) -> str:
        """The format in words."""
        named = "with a header" if self.header else "without a header"
        if self.source.workbook:
            return f"a workbook, sheet {self.source.workbook.sheet!r}, {named}"
        separated = DELIMITERS.get(self.delimiter, repr(self.delimiter))
        return f"{self.format.upper()}, {separated}-separated, {named}"

    def reading(self, rows: RowCounts) -> Reading:
        """How it was read."""
        return reading_of(
            self.source,
            {tuple(self.columns): self.mapping},
            rows,
            separator="" if self.source.workbook else self.delimiter,
            header_row=self._first if self.header else 0,
        )

    def notes(self) -> list[str]:
        """What the last reading met that may be meant otherwise, in sentences."""
        return [*note_short_rows(self.short_rows), *note_enclosed_cells(self.enclosed_cells)]

    def _first_row(self) -> tuple[int, Row]:
        """The first row that holds something; what separates its columns is found out by it."""
        if self.source.workbook:
            for place, row in self._sheet_rows(self.source.workbook):
                return place, row
            raise FileRefusedError(
                f"{self.source.name}: the sheet {self.source.workbook.sheet!r} is empty"
                f"{f' from row {self._above + 1} on' if self._above > 0 else ''}."
            )
        lines = chain.from_iterable(StringIO(text, newline="\n") for _line, text in self._chunks(ignore))
        for number, first in enumerate(lines, 1):
            if not first.strip():
                continue
            if self._above < 0 and (match := SEPARATOR_LINE.fullmatch(first.rstrip("\n"))):
                self.delimiter, self._above = match[1], number
            else:
                self.delimiter = self.delimiter or _delimiter(first)
                try:
                    return number, next(self._split(chain([first], lines)))
                except csv.Error as error:
                    why = why_malformed(error, LONGEST_FIELD)
                    raise FileRefusedError(f"{self.source.name}, line {number}: {why}") from error
        below = f" from line {self._above + 1} on" if self._above > 0 else ""
        raise FileRefusedError(f"{self.source.name} has no line that can be read{below}.")

    def _chunks(self, refuse: Refuse) -> Iterator[tuple[int, str]]:
        """The text with lines above the header as empty ones, so that numbers stay right."""
        for line, text in self.source.chunks(refuse):
            lines = text.split("\n") if line <= self._above else []
            above = min(self._above - line + 1, len(lines) - 1)
            yield line, "\n".join([*[""] * above, *lines[above:]]) if lines else text

    def _sheet_rows(self, workbook: Workbook) -> Iterator[tuple[int, Row]]:
        return (each for each in workbook.rows() if each[0] > self._above)

    def _split(self, lines: Iterable[str]) -> "_csv.Reader":
        quoting = csv.QUOTE_NONE if self.format == "tsv" else csv.QUOTE_MINIMAL
        return csv_reader(lines, self.delimiter, longest_field=LONGEST_FIELD, quoting=quoting, strict=True)

    def rows(self, refuse: Refuse) -> Iterator[tuple[list[Row], list[int] | range]]:
        """Rows with the numbers of their lines, many at a time, without the header."""
        skip, short_rows = self.header, 0
        for rows, numbers in self.all_rows(refuse):
            begin = 0
            if skip:
                begin = next((at for at, row in enumerate(rows, 1) if row not in BLANK), 0)
                skip = not begin
            if not skip:
                below = rows[begin:] if begin else rows
                short_rows += self.fill(below)
                yield below, numbers[begin:]
        self.short_rows = short_rows

    def fill(self, rows: list[Row]) -> int:
        """Give rows their last, empty cells, which spreadsheets leave out; how many lacked some."""
        if min(map(len, rows), default=self.width) >= self.width:
            return 0
        short = [row for row in rows if len(row) < self.width and row not in BLANK]
        for row in short:
            row.extend([""] * (self.width - len(row)))
        return len(short)

    def all_rows(
        self, refuse: Refuse, step: int = 0, selects: Callable[[int, int], bool] | None = None
    ) -> Iterator[tuple[list[Row], list[int] | range]]:
        """Up to the first quotation mark, splitting is all that the csv module would do, and much faster.

        `step` rows are given at a time, and none where `selects` says no to their first and last line.
        """
        step = step or BATCH
        if self.source.workbook:
            yield from self._of_workbook(self.source.workbook, step, selects)
            return
        chunks = self._chunks(refuse)
        quotes, enclosed = self.format != "tsv", 0
        for line, text in chunks:
            if quotes and '"' in text:
                yield from self._quoted(chain([(line, text)], chunks), line, refuse)
                return
            if selects is None and '"' in text:
                enclosed += sum("," in each or '""' in each for each in _ENCLOSED.findall(text))
                self.enclosed_cells = enclosed
            lines = text.split("\n")
            lines.pop()
            for begin in range(0, len(lines), step):
                numbers = range(line + begin, line + min(begin + step, len(lines)))
                if selects is None or selects(numbers[0], numbers[-1]):
                    rows = [each.split(self.delimiter) for each in lines[begin : begin + step]]
                    yield rows, numbers

    def _of_workbook(
        self, workbook: Workbook, step: int, selects: Callable[[int, int], bool] | None
    ) -> Iterator[tuple[list[Row], list[int]]]:
        """Rows with their numbers in the sheet."""
        rows = self._sheet_rows(workbook)
        while chunk := list(islice(rows, step)):
            numbers = [number for number, _ in chunk]
            if selects is None or selects(numbers[0], numbers[-1]):
                yield [row for _, row in chunk], numbers

    def _quoted(
        self, chunks: Iterable[tuple[int, str]], line: int, refuse: Refuse
    ) -> Iterator[tuple[list[Row], list[int] | range]]:
        """Rows of text with quoted fields, which may go over several lines."""
        lines = chain.from_iterable(StringIO(text, newline="\n") for _line, text in chunks)
        reader = self._split(lines)
        while True:
            before = line + reader.line_num
            rows: list[Row] = []
            trouble = None
            try:
                rows.extend(islice(reader, BATCH))  # keeps what came before an error
            except csv.Error as error:
                trouble = error
            after = line + reader.line_num
            numbers: list[int] | range = range(before, after)
            if trouble or after - before != len(rows):
                numbers = _numbers(rows, before)
            if trouble:
                start = numbers[-1] + 1 + _ends_in(rows[-1]) if rows else before
                why = why_malformed(trouble, LONGEST_FIELD)
                lost = f" Lines up to {after - 1} are lost." if after - 1 > start else ""
                refuse(start, f"{why[0].upper()}{why[1:]}{lost}")
            if rows:
                yield rows, numbers
            elif not trouble:
                return


def reading_of(
    source: TextSource,
    shapes: Mapping[tuple[str, ...], Mapping[str, str]],
    rows: RowCounts,
    *,
    separator: str = "",
    header_row: int = 0,
) -> Reading:
    """How a file was read: `shapes` are the lists of names that it has, with which of them holds which field.

    Fields that several columns hold are numbered behind a slash in it, and are one role.
    """
    columns: dict[str, dict[str, None]] = {}
    for mapping in shapes.values():
        for ours, theirs in mapping.items():
            columns.setdefault(ours.partition("/")[0], {})[theirs] = None
    used = set(chain.from_iterable(columns.values()))
    return Reading(
        encoding=None if source.workbook else source.encoding,
        separator=separator or None,
        sheet=source.workbook.sheet if source.workbook else None,
        header_row=header_row or None,
        columns={role: list(headers) for role, headers in columns.items()},
        left_out=[name for name in dict.fromkeys(chain.from_iterable(shapes)) if name and name not in used],
        rows=rows,
    )


def _delimiter(line: str) -> str:
    """The separator that the first line has most of, outside of quotes; a comma if there is none."""
    bare = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=lambda each: (bare.count(each), each == ","))


def _numbers(rows: list[Row], before: int) -> list[int]:
    """Numbers of the rows' first lines where some rows have several."""
    numbers, line = [], before
    for row in rows:
        numbers.append(line)
        line += 1 + _ends_in(row)
    return numbers


def _ends_in(row: Row) -> int:
    return sum(value.count("\n") for value in row)


#: What every importer of rows reads, with the words for it.
FORMATS = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSONL, one object a line",
    "json": "a JSON list of objects, or an object of them by their ids",
}
Values = Iterator[tuple[int, dict[str, Any]]]
#: Enough of the first line to see whether it has tabs.
_LOOK = 2**16
#: Combinations of members whose mapping is remembered.
_MOST_SHAPES = 1000


class ColumnRules(ABC):
    """Which columns of a file hold which of an importer's fields. A person named `named_columns`."""

    named_columns: Sequence[str] = ()

    @abstractmethod
    def map(self, columns: Iterable[str]) -> dict[str, str]:
        """Columns by our fields; ColumnError for a choice that the file cannot fulfil."""

    @abstractmethod
    def map_members(self, members: Sequence[str]) -> dict[str, str]:
        """The same for a later object, which may lack what was named."""

    @abstractmethod
    def check(self, source: TextSource, columns: list[str], mapping: Mapping[str, str]) -> None:
        """FileRefusedError where a field that is needed has no column."""


@dataclass(frozen=True, slots=True)
class ValueTable:
    """A file that can be read any number of times. `unit` is what its numbers count: lines or records."""

    source: TextSource
    format: str
    description: str
    unit: str
    columns: list[str]
    mapping: dict[str, str]
    values: Callable[[Refuse], Values]
    reading: Callable[[RowCounts], Reading]
    #: Sentences about what the last reading met that may be meant otherwise.
    notes: Callable[[], list[str]] = list
    commas: DecimalCommas = field(default_factory=lambda: DecimalCommas(apply=False))


def check_format(source: TextSource, format: str, formats: Mapping[str, str]) -> None:
    """FileRefusedError for a format that there is not, or that a workbook cannot have."""
    if format not in formats:
        raise FileRefusedError(f"There is no format {format!r}; there are: {', '.join(formats)}.")
    if source.workbook and format not in ("auto", "csv", "tsv"):
        raise FileRefusedError(f"{source.name} is a workbook, not {formats[format]}.")


def settle_format(
    source: TextSource,
    format: str,
    formats: Mapping[str, str],
    *,
    column_names: Collection[str],
    of_object: Callable[[str], str] = lambda _head: "",
) -> str:
    """The format by its name, or for `auto` by what the file holds; the file's name decides nothing.

    `column_names` are names of columns. `of_object` is asked which further format a file has that begins like
    this and with an object; empty for none.
    """
    check_format(source, format, formats)
    if source.workbook:
        return "xlsx"
    return _detect_format(source, column_names, of_object) if format == "auto" else format


def _detect_format(source: TextSource, column_names: Collection[str], of_object: Callable[[str], str]) -> str:
    for _line, text in source.chunks(ignore):
        head = text.lstrip()[:_LOOK]
        if not head:
            continue
        if head[0] == "[":
            return "json"
        if head[0] == "{":
            return of_object(head) or ("json" if holds_records(source, column_names) else "jsonl")
        return "tsv" if "\t" in head.split("\n", 1)[0] else "csv"
    raise FileRefusedError(f"{source.name} has no line that can be read.")


def refuse_header_row(source: TextSource, format: str, header_row: int) -> None:
    """FileRefusedError for a row of names in a file of objects."""
    if header_row:
        raise FileRefusedError(f"{source.name} is {format}, so no row names its columns. Name no header row.")


def read_table(
    source: TextSource, *, format: str, header: bool | None, rules: ColumnRules, header_row: int = 0
) -> ValueTable:
    """The file in one of `FORMATS`, or the sheet of a workbook, as values; FileRefusedError if it is none.

    Without `header` the first row, or `header_row`, names the columns, unless columns are chosen by their
    numbers from 1.
    """
    if format in ("jsonl", "json"):
        refuse_header_row(source, FORMATS[format], header_row)
        return _read_objects(source, format, rules)
    table = _MappedTable(source, format=format, header=header, rules=rules, header_row=header_row)
    rules.check(source, table.columns, table.mapping)
    return ValueTable(
        source,
        format,
        table.description,
        "line",
        table.columns,
        table.mapping,
        table.values,
        table.reading,
        table.notes,
        DecimalCommas(apply=bool(source.workbook) or table.delimiter != ","),
    )


class _MappedTable(DelimitedTable):
    """A CSV or TSV file, or a sheet, whose columns the rules find."""

    def __init__(
        self,
        source: TextSource,
        *,
        format: str,
        header: bool | None,
        rules: ColumnRules,
        header_row: int = 0,
    ) -> None:
        self._rules = rules
        super().__init__(source, format=format, header=header, header_row=header_row)

    def find_columns(
        self, row: Row, mapping: dict[str, str], header: bool | None
    ) -> tuple[bool, list[str], dict[str, str]]:
        """Whether the first row is a header, the columns' names, and which of them holds which field."""
        names = names_in(row)
        numbers = [str(number) for number in range(1, len(row) + 1)]
        if header is None:
            named = self._rules.named_columns
            header = not named or any(name in names for name in named)
        if header and len(set(names)) < len(names):
            raise FileRefusedError(
                f"{self.source.name}, line {self._first}: two columns have one name: {quote_names(names)}."
            )
        labels = names if header else numbers
        try:
            return header, labels, self._rules.map(labels)
        except ColumnError as error:
            raise FileRefusedError(f"{self.source.name}, line {self._first}: {error}") from error

    def values(self, refuse: Refuse) -> Values:
        """The rows, each with the number of its line."""
        places = tuple(self.places.items())
        for rows, numbers in self.rows(refuse):
            for row, line in zip(rows, numbers, strict=True):
                if len(row) == self.width:
                    yield line, {ours: row[place] for ours, place in places}
                elif row not in BLANK:
                    what = f"The line has {len(row)} columns instead of {self.width}."
                    refuse(line, f"{what} Quote a text that has the separator in it.")


def _read_objects(source: TextSource, format: str, rules: ColumnRules) -> ValueTable:
    """JSONL or a JSON document. The first object says which members are mapped; others may have others."""
    read = read_json_records if format == "json" else read_json_lines
    first = next((value for _, value in read(source, ignore)), None)
    if first is None:
        raise FileRefusedError(f"{source.name} has no object. Write one JSON object a line.")
    try:
        mapping = rules.map(first)
    except ColumnError as error:
        raise FileRefusedError(f"{source.name}: {error}") from error
    rules.check(source, list(first), mapping)
    shapes = {tuple(first): mapping}

    def values(refuse: Refuse) -> Values:
        for line, value in read(source, refuse):
            members = tuple(value)
            where = shapes.get(members)
            if where is None:
                where = rules.map_members(members)
                if len(shapes) < _MOST_SHAPES:
                    shapes[members] = where
            yield line, {ours: value.get(theirs) for ours, theirs in where.items()}

    unit = "record" if format == "json" else "line"
    return ValueTable(
        source,
        format,
        FORMATS[format],
        unit,
        list(first),
        mapping,
        values,
        lambda rows: reading_of(source, shapes, rows),
    )
