"""A table of labels: which column holds what, labels as codes, spans by text and worker."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from core.files.cells import AmbiguousNumberError
from core.files.reading import NAMES, Reading, plain_name
from core.files.refusals import RowCounts
from core.files.sheets import Sheet, open_sheet
from core.files.text_source import TextSource
from judgments.rating_source import means_yes, number, read_integer, short
from judgments.table_columns import find_column, refuse_unknown_fields
from metrics.agreement.labels import Labels
from metrics.agreement.spans import MarkedText, Span

FIELDS = ("item", "worker", "label", "start", "end", "length", "text", "simulated")
ITEM_NAMES = (("item", "item_id"), NAMES["question_id"], NAMES["id"], NAMES["question"])
_LABEL = (("label",), ("category", "class", "value", "annotation", "judgment"), NAMES["score"])
SIMULATED = (
    "SIMULATED DATA: programs gave {marked:,} of {rows:,} rows in place of people. These figures say nothing "
    "about people; do not use them as evidence."
)
#: Different labels of one question.
_MOST_CATEGORIES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class LabelColumn:
    """The labels of one question; `categories` in their order, as texts, numbers or sets."""

    labels: Labels
    categories: Sequence[str] | Sequence[float] | Sequence[frozenset[str]]
    n_items: int
    n_workers: int
    notes: tuple[str, ...]


@dataclass(slots=True)
class OpenedTable:
    """A table whose columns of items and workers are known, and what was read of it so far."""

    sheet: Sheet
    items: Sequence[int]
    worker: int
    simulated: int
    n_rows: int = 0
    n_simulated: int = 0

    def rows(self) -> Iterator[tuple[int, str, str, Sequence[str]]]:
        """Line, item, worker and all cells of each row; an item of several columns is all their texts."""
        self.n_rows = self.n_simulated = 0
        for line, cells in self.sheet.rows():
            parts = [cells[place].strip() for place in self.items]
            worker = cells[self.worker].strip()
            for role, texts in (("item", parts), ("worker", [worker])):
                if not all(texts):
                    raise self.sheet.error(f"the {role} is empty. Every label needs one.", line=line)
            self.n_rows += 1
            self.n_simulated += self.simulated >= 0 and means_yes(cells[self.simulated].strip())
            yield line, "\x1f".join(parts), worker, cells
        if not self.n_rows:
            raise self.sheet.error("it has a header but no labels under it.")

    def reading(self, **columns: Sequence[int]) -> Reading:
        """How it was read; `columns` beside those of items and workers."""
        names = self.sheet.columns
        places = {"item": self.items, "worker": [self.worker], **columns}
        if self.simulated >= 0:
            places["simulated"] = [self.simulated]
        return self.sheet.reading(
            {role: [names[place] for place in of_role] for role, of_role in places.items() if of_role},
            RowCounts(rows_read=self.n_rows, used=self.n_rows),
        )

    def notes(self) -> Iterator[str]:
        """Sentences about what may be meant otherwise, and what programs gave."""
        yield from self.sheet.notes()
        yield from self.sheet.doubts("say what it is: --encoding NAME")
        if self.n_simulated:
            yield SIMULATED.format(marked=self.n_simulated, rows=self.n_rows)


def open_table(
    path: Path,
    *,
    columns: Mapping[str, str],
    items: Sequence[str] = (),
    fields: Sequence[str] = FIELDS,
    encoding: str = "",
    sheet: str = "",
    header_row: int = 0,
    named: Sequence[str] = (),
) -> OpenedTable:
    """The file with its columns of items and workers; `items` name columns that are a key together.

    `named` are further columns, by which the separator is recognised.
    """
    refuse_unknown_fields(columns, fields)
    usual_names = {plain_name(name) for name in (*columns.values(), *items, *named, *fields)}
    usual_names |= {name for names in (*ITEM_NAMES, NAMES["worker"], *_LABEL) for name in names}
    source = TextSource(path, name=str(path), encoding=encoding, sheet=sheet)
    table = open_sheet(source, column_names=usual_names, header_row=header_row)
    places = [find_column(table, "item", ITEM_NAMES, {"item": name}) for name in items]
    return OpenedTable(
        table,
        places or [find_column(table, "item", ITEM_NAMES, columns)],
        find_column(table, "worker", (NAMES["worker"],), columns),
        find_column(table, "simulated", (NAMES["simulated"],), columns, needed=False),
    )


def label_places(table: OpenedTable, labels: Sequence[str], columns: Mapping[str, str]) -> list[int]:
    """Where the columns of labels are; the usual one where none is named."""
    if labels:
        return [find_column(table.sheet, "label", _LABEL, {"label": name}) for name in labels]
    return [find_column(table.sheet, "label", _LABEL, columns)]


@dataclass(slots=True)
class _Rows:
    """What the labels of a column are until all of them are known."""

    items: list[int] = field(default_factory=list)
    workers: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def read_labels(
    table: OpenedTable, place: int, *, order: Sequence[str] = (), numeric: bool = False, sets: bool = False
) -> LabelColumn:
    """The labels of a column: texts by name or in `order`, numbers, or `sets` of texts with bars between.

    Of two labels of a worker about an item the first counts. An empty cell is no label, but the empty set.
    """
    items, workers = dict[str, int](), dict[str, int]()
    seen: set[tuple[str, str]] = set()
    rows, empty, again = _Rows(), 0, 0
    for line, item, worker, cells in table.rows():
        text = cells[place].strip()
        if not text and not sets:
            empty += 1
            continue
        if (item, worker) in seen:
            again += 1
            continue
        seen.add((item, worker))
        rows.items.append(items.setdefault(item, len(items)))
        rows.workers.append(workers.setdefault(worker, len(workers)))
        rows.texts.append(text)
        rows.lines.append(line)
    name = table.sheet.columns[place]
    if not rows.texts:
        raise table.sheet.error(f"the column {short(name)} is empty.", line=table.sheet.header_row)
    categories, codes = _categories(table, name, rows, order=order, numeric=numeric, sets=sets)
    notes = []
    if empty:
        notes.append(f"{name}: {empty:,} cells are empty, and left out.")
    if again:
        notes.append(f"{name}: {again:,} further labels of a worker about the same item are left out.")
    return LabelColumn(
        Labels(
            np.array(rows.items, dtype=np.int64),
            np.array(rows.workers, dtype=np.int64),
            np.array(codes, dtype=np.int64),
            len(categories),
        ),
        categories,
        len(items),
        len(workers),
        tuple(notes),
    )


def _categories(
    table: OpenedTable, name: str, rows: _Rows, *, order: Sequence[str], numeric: bool, sets: bool
) -> tuple[Sequence[str] | Sequence[float] | Sequence[frozenset[str]], list[int]]:
    """The different labels in order, and the code of each row."""
    _refuse_many(table, name, len(set(rows.texts)))
    if sets:
        by_row = [frozenset(part.strip() for part in text.split("|") if part.strip()) for text in rows.texts]
        different = sorted(set(by_row), key=sorted)
        places = {each: code for code, each in enumerate(different)}
        return different, [places[each] for each in by_row]
    if numeric:
        numbers = [
            _number(table, name, text, line) for text, line in zip(rows.texts, rows.lines, strict=True)
        ]
        values = sorted(set(numbers))
        codes = {value: code for code, value in enumerate(values)}
        return values, [codes[value] for value in numbers]
    texts = list(order) or sorted(set(rows.texts))
    by_text = {text: code for code, text in enumerate(texts)}
    for text, line in zip(rows.texts, rows.lines, strict=True):
        if text not in by_text:
            raise table.sheet.error(
                f"the {name} {short(text)} is not in --order {','.join(order)}. Name every label there.",
                line=line,
            )
    return texts, [by_text[text] for text in rows.texts]


def _refuse_many(table: OpenedTable, name: str, n_categories: int) -> None:
    if n_categories > _MOST_CATEGORIES:
        raise table.sheet.error(
            f"the column {short(name)} has {n_categories:,} different labels, and at most "
            f"{_MOST_CATEGORIES:,} are taken. Is it a column of texts?",
            line=table.sheet.header_row,
        )


def _number(table: OpenedTable, name: str, text: str, line: int) -> float:
    try:
        value = number(table.sheet.commas.point(text))
    except AmbiguousNumberError as error:
        raise table.sheet.error(f"the {name} is ambiguous: {error}", line=line) from error
    if value is None:
        raise table.sheet.error(
            f"the {name} {short(text)} is no number, which this level needs. Name another level, or for "
            "ordinal labels their order: --order A,B,C.",
            line=line,
        )
    return value


def read_spans(table: OpenedTable, columns: Mapping[str, str]) -> tuple[list[MarkedText], Reading]:
    """Texts with the spans of each worker; a row without start and end says that a worker marked nothing."""
    sheet = table.sheet
    start, end = (find_column(sheet, role, ((role,),), columns) for role in ("start", "end"))
    label = find_column(sheet, "label", _LABEL, columns, needed=False)
    length = find_column(sheet, "length", (("length", "characters", "text_length"),), columns, needed=False)
    text = find_column(sheet, "text", (("text", "output", "answer"),), columns, needed=False)
    spans: dict[str, dict[str, list[Span]]] = {}
    lengths: dict[str, int] = {}
    #: Of each text where its last span ends, and in which line that is said.
    last_ends: dict[str, tuple[int, int]] = {}
    for line, item, worker, cells in table.rows():
        own = spans.setdefault(item, {}).setdefault(worker, [])
        limit = _length(sheet, line, cells, length, text)
        if limit is not None and lengths.setdefault(item, limit) != limit:
            raise sheet.error(
                f"its text has {limit:,} characters here and {lengths[item]:,} above. Correct one.", line=line
            )
        ends = [cells[place].strip() for place in (start, end)]
        if ends == ["", ""]:
            continue
        first, last = (read_integer(each) for each in ends)
        if first is None or last is None or not 0 <= first < last:
            raise sheet.error(
                f"the span {ends[0]} to {ends[1]} is none. Start and end are characters from 0, and the end "
                "is the first one behind the span.",
                line=line,
            )
        last_ends[item] = max(last_ends.get(item, (0, 0)), (last, line))
        own.append((first, last, (cells[label].strip() if label >= 0 else "") or "marked"))
    for item, (last, line) in last_ends.items():
        if item in lengths and last > lengths[item]:
            raise sheet.error(
                f"the span ends at {last:,}, and the text has {lengths[item]:,} characters.", line=line
            )
    columns_read = {"label": [label]} if label >= 0 else {}
    for role, place in (("length", length), ("text", text)):
        if place >= 0:
            columns_read[role] = [place]
    reading = table.reading(start=[start], end=[end], **columns_read)
    return [MarkedText(by_worker, lengths.get(item)) for item, by_worker in spans.items()], reading


def _length(sheet: Sheet, line: int, cells: Sequence[str], length: int, text: int) -> int | None:
    """How many characters the text of a row has, where a column tells."""
    if length >= 0 and cells[length].strip():
        value = read_integer(cells[length].strip())
        if value is None or value < 0:
            raise sheet.error(f"the length {short(cells[length])} is no whole number from 0.", line=line)
        return value
    return len(cells[text]) if text >= 0 and cells[text] else None
