"""CSV and TSV, by batches: what every line costs is decided here.

A chunk of text without quotation marks is split; the csv module takes lines as an iterator over whole chunks,
so that a row costs no Python code before it is looked at. Columns are taken out with comprehensions. Rows
that need care (a wrong number of columns, a count that is none) send their batch through the slow way.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.importing import columns, fields
from annotation.importing.conversations import Conversations
from annotation.importing.reader import BATCH, Batch, Reader, ignore
from annotation.importing.records import (
    MOST_COUNT,
    BadFieldError,
    FileRefusedError,
    Record,
    Refuse,
    UnmappedError,
)
from annotation.importing.source import Source

if TYPE_CHECKING:
    import _csv

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
Row = list[str]
#: Rows that are split together when only some are wanted.
_FEW = 200
_BLANK: tuple[Row, ...] = ([], [""])


class TableReader(Reader):
    """Rows of a CSV or TSV file. TSV has no quoting, as query logs and TREC files are written.

    `given` maps our fields to columns; without a header, columns are named by their numbers from 1.
    """

    def __init__(
        self,
        source: Source,
        room: Path,
        *,
        format: str,
        given: Mapping[str, str] | None = None,
        header: bool | None = None,
    ) -> None:
        super().__init__(source, room)
        self.format = format
        first = self._first_line()
        self.delimiter = "\t" if format == "tsv" else _delimiter(first)
        row: Row = next(self._split([first]), [])
        self.header, self.columns, self.mapping = self._columns(row, dict(given or {}), header)
        self.width = len(row)
        self._places = {ours: self.columns.index(theirs) for ours, theirs in self.mapping.items()}
        self._others = [
            (place, name) for place, name in enumerate(self.columns) if place not in self._places.values()
        ]

    @property
    def said(self) -> str:
        """The format in words."""
        named = "with a header" if self.header else "without a header"
        return f"{self.format.upper()}, {DELIMITERS[self.delimiter]}-separated, {named}"

    def _first_line(self) -> str:
        for _line, text in self.source.chunks(ignore):
            for line in StringIO(text, newline="\n"):
                if line.strip():
                    return line.rstrip("\n")
        raise FileRefusedError(f"{self.source.name} has no line that can be read.")

    def _split(self, lines: Iterable[str]) -> "_csv.Reader":
        if self.format == "tsv":
            return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)
        return csv.reader(lines, delimiter=self.delimiter)

    def _columns(
        self, row: Row, given: dict[str, str], header: bool | None
    ) -> tuple[bool, list[str], dict[str, str]]:
        names = [name.strip() for name in row]
        numbers = [str(number) for number in range(1, len(row) + 1)]
        if header is None:
            header = _looks_like_header(names, given)
        try:
            if header:
                if len(set(names)) < len(names):
                    raise columns.ColumnError(f"Two columns have one name: {columns.named(names)}.")
                mapping = columns.mapped(names, given)
            else:
                mapping = columns.mapped(numbers, given) if given else _by_place(row)
        except columns.ColumnError as error:
            raise FileRefusedError(f"{self.source.name}, line 1: {error}") from error
        if "text" not in mapping:
            raise UnmappedError(
                f"{self.source.name}, line 1: no column holds the query; the columns are "
                f"{columns.named(names)}. Name it: --column text=COLUMN.",
                names if header else numbers,
            )
        return header, names if header else numbers, mapping

    def _rows(self, refuse: Refuse) -> Iterator[tuple[list[Row], list[int] | range]]:
        """Rows with the numbers of their lines, many at a time, without the header."""
        skip = self.header
        for rows, numbers in self._all_rows(refuse):
            if not skip:
                yield rows, numbers
                continue
            at = next((at for at, row in enumerate(rows) if row not in _BLANK), -1)
            if at >= 0:
                skip = False
                yield rows[at + 1 :], numbers[at + 1 :]

    def _all_rows(
        self, refuse: Refuse, step: int = 0, wanted: Callable[[int, int], bool] | None = None
    ) -> Iterator[tuple[list[Row], list[int] | range]]:
        """Up to the first quotation mark, splitting is all that the csv module would do, and much faster.

        `step` rows are given at a time, and none where `wanted` says no to their first and last line.
        """
        step = step or BATCH
        chunks = self.source.chunks(refuse)
        quotes = self.format != "tsv"
        for line, text in chunks:
            if quotes and '"' in text:
                yield from self._quoted(chain([(line, text)], chunks), line, refuse)
                return
            lines = text.split("\n")
            lines.pop()
            for begin in range(0, len(lines), step):
                numbers = range(line + begin, line + min(begin + step, len(lines)))
                if wanted is None or wanted(numbers[0], numbers[-1]):
                    rows = [each.split(self.delimiter) for each in lines[begin : begin + step]]
                    yield rows, numbers

    def _quoted(
        self, chunks: Iterable[tuple[int, str]], line: int, refuse: Refuse
    ) -> Iterator[tuple[list[Row], list[int] | range]]:
        """Rows of text with quoted fields, which may go over several lines."""
        lines = chain.from_iterable(StringIO(text, newline="\n") for _line, text in chunks)
        reader = csv.reader(lines, delimiter=self.delimiter)
        while True:
            before = line + reader.line_num
            rows: list[Row] = []
            trouble = ""
            try:
                rows.extend(islice(reader, BATCH))  # keeps what came before an error
            except csv.Error as error:
                trouble = str(error)
            after = line + reader.line_num
            numbers: list[int] | range = range(before, after)
            if trouble or after - before != len(rows):
                numbers = _numbers(rows, before)
            if trouble:
                start = numbers[-1] + 1 + _ends_in(rows[-1]) if rows else before
                refuse(
                    start,
                    f"A field that begins here does not end ({trouble}); lines up to {after - 1} are lost.",
                )
            if rows:
                yield rows, numbers
            elif not trouble:
                return

    def batches(self, refuse: Refuse) -> Iterator[Batch]:
        """Columns of whole batches; conversations and lists need records."""
        if "conversation" in self._places or "context" in self._places:
            yield from super().batches(refuse)
            return
        for rows, numbers in self._rows(refuse):
            batch = self._fast(rows, numbers) or self._careful(rows, numbers, refuse)
            if batch.texts:
                yield batch

    def _fast(self, rows: list[Row], numbers: list[int] | range) -> Batch | None:
        """The batch, if nothing in it needs care."""
        places = self._places
        if set(map(len, rows)) != {self.width} or places.keys() & {
            "type",
            "yes_no",
            "passages",
            "references",
        }:
            return None
        at = places["text"]
        batch = Batch(ordinals=numbers, lines=numbers, texts=[row[at] for row in rows])
        if "count" in places:
            at = places["count"]
            try:
                batch.counts = [int(row[at]) for row in rows]
            except ValueError:
                return None
            if min(batch.counts) < 1 or max(batch.counts) > MOST_COUNT:
                return None
        if "id" in places:
            at = places["id"]
            batch.ids = [row[at].strip() for row in rows]
            if max(map(len, batch.ids)) > 200:
                return None
        return None if "" in batch.texts else batch

    def _careful(self, rows: list[Row], numbers: list[int] | range, refuse: Refuse) -> Batch:
        found = [
            record
            for row, line in zip(rows, numbers, strict=True)
            if (record := self._record(row, line, refuse)) is not None
        ]
        return Batch(
            ordinals=[each.ordinal for each in found],
            lines=[each.line for each in found],
            texts=[each.text for each in found],
            counts=[each.count for each in found],
            ids=[each.id for each in found],
            labels=[(each.type, each.yes_no) for each in found],
        )

    def _record(self, row: Row, line: int, refuse: Refuse) -> Record | None:
        if row in _BLANK:
            return None
        if len(row) != self.width:
            hint = " A text with the separator in it must be quoted." if len(row) > self.width else ""
            refuse(line, f"The line has {len(row)} columns instead of {self.width}.{hint}")
            return None
        values = {ours: row[place] for ours, place in self._places.items()}
        extra = {name: row[place] for place, name in self._others if row[place]} if self.header else {}
        try:
            return fields.record_of(
                values, line=line, ordinal=line, extra={"columns": extra} if extra else {}
            )
        except BadFieldError as error:
            refuse(line, str(error))
            return None

    def records(self, refuse: Refuse) -> Iterator[Record]:
        """Rows as records; earlier turns of a conversation become the context."""
        conversations = Conversations()
        for rows, numbers in self._rows(refuse):
            for row, line in zip(rows, numbers, strict=True):
                record = self._record(row, line, refuse)
                if record is not None and conversations.joins(record, refuse):
                    yield record

    def take(self, wanted: set[int], refuse: Refuse) -> Iterator[Record]:
        """Rows with these ordinals; other rows are only split."""
        if "conversation" in self._places:
            yield from super().take(wanted, refuse)
            return
        left = sorted(wanted, reverse=True)

        def has_wanted(_first: int, last: int) -> bool:
            return bool(left) and left[-1] <= last

        for rows, numbers in self._all_rows(refuse, _FEW, has_wanted):
            while left and rows and left[-1] <= numbers[-1]:
                line = left.pop()
                at = numbers.index(line)
                record = self._record(rows[at], line, refuse)
                if record is not None:
                    yield record
            if not left:
                return


def _delimiter(line: str) -> str:
    """The separator that the first line has most of, outside of quotes; a comma if there is none."""
    bare = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=lambda each: (bare.count(each), each == ","))


def _looks_like_header(names: list[str], given: Mapping[str, str]) -> bool:
    known = {name for each in columns.NAMES.values() for name in each}
    if any(theirs in names for theirs in given.values() if theirs and not theirs.isdigit()):
        return True
    if given and all(theirs.isdigit() for theirs in given.values() if theirs):
        return any(name.casefold().replace(" ", "_") in columns.NAMES["text"] for name in names)
    found = [name.casefold().replace(" ", "_") in known for name in names]
    return any(found) or (len(names) > 1 and not any(name.isdigit() for name in names))


def _by_place(row: Row) -> dict[str, str]:
    """What a table without header holds: queries alone, or an id or a count beside them."""
    if len(row) == 1:
        return {"text": "1"}
    if len(row) == 2 and row[0].strip().isdigit():
        return {"id": "1", "text": "2"}
    if len(row) == 2 and row[1].strip().isdigit():
        return {"text": "1", "count": "2"}
    return {}


def _numbers(rows: list[Row], before: int) -> list[int]:
    """Numbers of the rows' first lines where some rows have several."""
    numbers, line = [], before
    for row in rows:
        numbers.append(line)
        line += 1 + _ends_in(row)
    return numbers


def _ends_in(row: Row) -> int:
    return sum(value.count("\n") for value in row)
