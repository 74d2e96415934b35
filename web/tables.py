"""Tables of pages: columns and filters are declared once, and serve the page and its file.

    PEOPLE = Grid(
        "people",
        columns=(Column("name", "Name", by="name"), …),
        filters=(Choices("state", "State", {"all": "All", "open": "Open"}, tabs=True), Words("q", "Name")),
        order="name",
    )

    grid = PEOPLE.read_request(request.GET)
    rows = page_of(grid.sort(people(grid["state"])), request)

The address says everything: `?state=open&q=ada&order=-name&page=2`, and with `&format=csv` or `xlsx`
the same rows come as a file. A list that the kit draws shows only the columns that `&columns=name` repeats,
where it does; its files have all. What an address has no meaning for counts as not said.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice
from operator import attrgetter, itemgetter
from tempfile import TemporaryFile
from typing import Any, TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import F, QuerySet
from django.db.models.expressions import OrderBy
from django.db.models.query import ModelIterable
from django.http import FileResponse, HttpRequest, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase

from core.files.cells import csv_text, plain
from web.cells import Draw

T = TypeVar("T")


class LateRows:
    """Rows of a long table for Django's Paginator: only those of a page are read whole.

    A database that is asked for the rows 99,976 to 100,000 makes all the rows before them as well, with all
    that is in them. Here it is asked for the keys of the page alone, from whichever end is nearer, and then
    for those rows.
    """

    def __init__(self, rows: QuerySet[Any]) -> None:
        self._rows = rows

    @cached_property
    def _count(self) -> int:
        return self._rows.order_by().count()

    def count(self) -> int:
        """How many rows there are."""
        return self._count

    def __len__(self) -> int:
        return self._count

    @property
    def ordered(self) -> bool:
        """Whether pages are the same each time they are asked for."""
        return bool(self._rows.ordered)

    def __getitem__(self, window: slice) -> list[Any]:
        start, stop = window.start or 0, min(self._count, window.stop)
        if stop <= start:
            return []
        every = self._rows.select_related(None).values_list("pk", flat=True)
        if start <= self._count - stop or not self._rows.ordered:
            keys = list(every[start:stop])
        else:
            keys = list(every.reverse()[self._count - stop : self._count - start])[::-1]
        by_key = {row.pk: row for row in self._rows.filter(pk__in=keys).order_by()}
        return [by_key[key] for key in keys if key in by_key]


def late(rows: QuerySet[Any] | Sequence[Any]) -> Any:
    """Rows for a Paginator; those that are whole rows of a model are read late."""
    if not isinstance(rows, QuerySet) or rows._iterable_class is not ModelIterable:
        return rows
    query = rows.query
    return rows if query.is_sliced or query.combinator or query.distinct else LateRows(rows)


_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
#: Rows of a page.
ROWS = 25
#: Parameter of addresses that names a column to show, once for each.
COLUMNS = "columns"
#: Rows in memory at a time while a file is written.
AT_ONCE = 1000
_LONGEST_WORDS = 200
Rows = QuerySet[Any] | Sequence[Any]
Complete = Callable[[list[Any]], list[Any]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head on the page, its name in addresses and files, and its value in a row.

    The value is the row's attribute of the column's name, or of the path that `value` says, or what that
    makes of the row; None: it is not in the file.
    `by` is what the database sorts by; without it nobody sorts by this column.
    `down`: the natural order begins with the largest. `gaps`: it may be undefined, and comes last then.
    `then` are further columns of the database among equal ones. Rows that are no query are sorted by `key`,
    or else by the value. A column is on the page, in the file, or in both. `cell` draws it on the page (see
    `web.cells`), `head` makes it the one that names the row, by default the first; an `unseen` label is only
    heard.
    """

    name: str
    label: str
    value: Callable[[Any], object] | str | None = ""
    by: str = ""
    down: bool = False
    number: bool = False
    on_page: bool = True
    gaps: bool = False
    then: tuple[str, ...] = ()
    key: Callable[[Any], Any] | None = None
    cell: Draw | None = None
    head: bool = False
    unseen: bool = False
    read: Callable[[Any], object] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        value = self.value
        read = attrgetter(value or self.name) if isinstance(value, str) else value
        object.__setattr__(self, "read", read)


def count_column(
    name: str, label: str, value: Callable[[Any], object] | str | None = "", by: str = "", **more: Any
) -> Column:
    """A number that the database sorts by, the largest first."""
    return Column(name, label, value, by=by or name, down=True, number=True, **more)


@dataclass(frozen=True, slots=True)
class Choices:
    """A filter with named possibilities, of which the first is taken unless the address names another."""

    name: str
    label: str
    options: Mapping[str, str]
    tabs: bool = False

    def read(self, text: str | None) -> str:
        """The possibility that is meant."""
        return text if text is not None and text in self.options else next(iter(self.options))

    @property
    def default(self) -> str:
        """What is taken where the address says nothing."""
        return next(iter(self.options))


@dataclass(frozen=True, slots=True)
class Words:
    """A filter by words that somebody types. A hidden one comes by links alone."""

    name: str
    label: str
    hidden: bool = False
    tabs: bool = False
    default: str = ""

    def read(self, text: str | None) -> str:
        """The words, of a length that a database looks for."""
        return (text or "").replace("\0", "").strip()[:_LONGEST_WORDS]


Filter = Choices | Words


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column as the page draws it; `sorted` is none, ascending or descending."""

    column: Column
    address: str
    sorted: str


@dataclass(frozen=True, slots=True)
class Grid:
    """What a table has. `order` is a column's name, with a minus for the reverse.

    `aliases` are orders of other names, so that old addresses keep their meaning.
    """

    name: str
    columns: tuple[Column, ...]
    order: str
    filters: tuple[Filter, ...] = ()
    aliases: Mapping[str, str] | None = None

    def read_request(self, parameters: QueryDict, *more: Filter, file_at: str = "") -> "GridRequest":
        """What an address asks for; `more` are filters whose possibilities are known only now.

        `file_at` is the address of the file, where that is not the page's own.
        """
        filters = (*self.filters, *more)
        order = parameters.get("order") or self.order
        order = (self.aliases or {}).get(order, order)
        if order.removeprefix("-") not in {column.name for column in self.columns if column.by}:
            order = self.order
        values = {each.name: each.read(parameters.get(each.name)) for each in filters}
        return GridRequest(self, parameters, filters, values, order, file_at)


@dataclass(frozen=True, slots=True)
class GridRequest:
    """A grid with what an address asks of it."""

    grid: Grid
    parameters: QueryDict
    filters: tuple[Filter, ...]
    values: Mapping[str, str]
    order: str
    file_at: str = ""

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    @property
    def narrows(self) -> bool:
        """Something is filtered out, as far as the filters' defaults do not do so already."""
        return any(self.values[each.name] != each.default for each in self.filters)

    @property
    def column(self) -> Column:
        """What is sorted by."""
        name = self.order.removeprefix("-")
        return next(column for column in self.grid.columns if column.name == name)

    @property
    def descending(self) -> bool:
        """The largest come first."""
        return self.column.down != self.order.startswith("-")

    def sort(self, rows: Rows) -> Rows:
        """The rows in the order that is asked for; what is undefined comes last, equal ones by their key."""
        column = self.column
        if isinstance(rows, QuerySet):
            by, last = F(column.by), True if column.gaps else None
            first: OrderBy = by.desc(nulls_last=last) if self.descending else by.asc(nulls_last=last)
            rest = [each for each in (*column.then, "pk") if each != column.by]
            return rows.order_by(first, *rest)
        key = column.key or column.read
        assert key is not None
        keyed = [(key(row), row) for row in rows]
        with_key: list[tuple[Any, Any]] = [pair for pair in keyed if pair[0] is not None]
        with_key.sort(key=itemgetter(0), reverse=self.descending)
        return [row for _, row in with_key] + [row for value, row in keyed if value is None]

    def address(self, **changes: str | None) -> str:
        """This address with other values; None takes one out."""
        changed = self.parameters.copy()
        for name, value in changes.items():
            changed.pop(name, None)
            if value is not None:
                changed[name] = value
        return f"?{changed.urlencode()}"

    def choices_of_columns(self) -> list[tuple[Column, bool]]:
        """The columns that a person can choose, and whether each is on the page: the first always stays."""
        optional = [column for column in self.grid.columns if column.on_page and not column.unseen][1:]
        chosen = set(self.parameters.getlist(COLUMNS))
        return [(column, not chosen or column.name in chosen) for column in optional]

    @property
    def columns(self) -> list[Column]:
        """The columns on the page that the address chooses; all where it says nothing."""
        left_out = {column.name for column, is_chosen in self.choices_of_columns() if not is_chosen}
        return [column for column in self.grid.columns if column.on_page and column.name not in left_out]

    def list_fields_beside_columns(self) -> Iterator[tuple[str, str]]:
        """What the form that chooses columns has to carry along."""
        for name, values in self.parameters.lists():
            if name not in (COLUMNS, "page"):
                yield from ((name, value) for value in values)

    def chosen_heads(self) -> Iterator[Head]:
        """The heads of the chosen columns."""
        return self.heads(self.columns)

    def heads(self, columns: Sequence[Column] | None = None) -> Iterator[Head]:
        """The heads of the columns on the page, each with the address that sorts by it."""
        for column in self.grid.columns if columns is None else columns:
            if not column.on_page:
                continue
            mine = column.by and column is self.column
            turned = mine and not self.order.startswith("-")
            address = self.address(order=f"-{column.name}" if turned else column.name, page=None)
            state = "" if not mine else "descending" if self.descending else "ascending"
            yield Head(column, address if column.by else "", state)

    def tabs(self) -> Iterator[tuple[Choices, list[tuple[str, str, bool]]]]:
        """Filters that are drawn as links: words, address, and whether it is the chosen one."""
        for each in self.filters:
            if isinstance(each, Choices) and each.tabs:
                yield (
                    each,
                    [
                        (label, self.address(**{each.name: key, "page": None}), key == self.values[each.name])
                        for key, label in each.options.items()
                    ],
                )

    def fields(self) -> Iterator[tuple[Filter, str]]:
        """Filters that are drawn as a form."""
        for each in self.filters:
            if not each.tabs and not (isinstance(each, Words) and each.hidden):
                yield each, self.values[each.name]

    def list_carried_fields(self) -> Iterator[tuple[str, str]]:
        """What the form has to carry along."""
        field_names = {each.name for each, _ in self.fields()}
        for name in ("order", *self.values):
            if name in self.parameters and name not in field_names:
                yield name, self.order if name == "order" else self.values[name]
        yield from ((COLUMNS, name) for name in self.parameters.getlist(COLUMNS))

    def narrowing(self) -> Iterator[tuple[Filter, str, str]]:
        """Filters that leave rows out, beside tabs: its value in words, and the address without it."""
        for each in self.filters:
            if not each.tabs and self.values[each.name] != each.default:
                value = self.values[each.name]
                words = each.options[value] if isinstance(each, Choices) else value
                yield each, words, self.address(**{each.name: None, "page": None})

    @property
    def everything(self) -> str:
        """The address without filters."""
        return self.address(page=None, **{each.name: None for each in self.filters})

    @property
    def workbook(self) -> str:
        """Address of the same rows as a workbook; empty where they come as another file."""
        return "" if self.file_at else self.address(format="xlsx", page=None)

    @property
    def file(self) -> str:
        """Address of the same rows as a file."""
        return (
            f"{self.file_at}{self.address(page=None)}"
            if self.file_at
            else self.address(format="csv", page=None)
        )


def page_of(rows: Rows, request: HttpRequest) -> Page[Any]:
    """The page that the address asks for; the nearest one where it asks for nonsense."""
    return Paginator(late(rows), ROWS).get_page(request.GET.get("page"))


def as_they_are(rows: list[Any]) -> list[Any]:
    """Rows that need nothing more."""
    return rows


def _nothing(_rows: list[Any]) -> Mapping[str, Any]:
    return {}


def respond(
    request: HttpRequest,
    grid: Grid,
    rows: Callable[[GridRequest], Rows],
    show: Callable[..., HttpResponseBase],
    *,
    complete: Complete = as_they_are,
    more_filters: Sequence[Filter] = (),
    file: str = "",
    rows_as: str = "rows",
    file_at: str = "",
    about: Callable[[list[Any]], Mapping[str, Any]] = _nothing,
) -> HttpResponseBase:
    """The page of a table, or its file where the address asks for that.

    `complete` makes what is in a row of the rows of one page, or of a thousand for the file, in few
    statements. `show` gets, by name, the page's rows as `rows_as`, what is asked as `grid`, and what `about`
    makes of the rows of the page; it gives the page.
    """
    grid_request = grid.read_request(request.GET, *more_filters, file_at=file_at)
    ordered = grid_request.sort(rows(grid_request))
    form = "" if file_at else request.GET.get("format")
    if form == "csv":
        return stream(grid, ordered, file or grid.name, complete=complete)
    if form == "xlsx":
        return workbook(grid, ordered, file or grid.name, complete=complete)
    page = page_of(ordered, request)
    page.object_list = complete(list(page.object_list))
    return show(grid=grid_request, **{rows_as: page}, **about(list(page.object_list)))


def stream(grid: Grid, rows: Rows, name: str, *, complete: Complete = as_they_are) -> StreamingHttpResponse:
    """All rows as CSV, a thousand in memory at a time; nothing in it is run by a spreadsheet."""
    answer = StreamingHttpResponse(
        map(csv_text, _read_cells(grid, rows, complete)), content_type="text/csv; charset=utf-8"
    )
    answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return answer


def _read_cells(grid: Grid, rows: Rows, complete: Complete) -> Iterator[list[list[Any]]]:
    """The head, then the rows as plain values, a thousand at a time."""
    columns = [(column.name, column.read) for column in grid.columns if column.read is not None]
    yield [[name for name, _ in columns]]
    source: Iterator[Any] = (
        iter(rows.iterator(chunk_size=AT_ONCE)) if isinstance(rows, QuerySet) else iter(rows)
    )
    while batch := list(islice(source, AT_ONCE)):
        yield [[plain(value(row)) for _, value in columns] for row in complete(batch)]


_OPTIONS = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
#: What a sheet of a workbook can hold: rows, its head included; characters of a cell; whole numbers exactly.
_SHEET_ROWS, _CELL_LENGTH, _EXACT = 1_048_576, 32_767, 2**53
_CUT = " [cut here: a cell of a workbook holds no more; the CSV file has it all]"


def workbook(grid: Grid, rows: Rows, name: str, *, complete: Complete = as_they_are) -> FileResponse:
    """All rows as an Excel workbook, written to a temporary file row by row; texts are never formulas.

    More rows than a sheet holds go on in a further sheet. A text that is longer than a cell says that it was
    cut; numbers that Excel would round, or does not know, are texts.
    """
    from xlsxwriter import Workbook  # noqa: PLC0415  # it would make each start slower

    file = TemporaryFile()  # noqa: SIM115  # the response closes it
    with Workbook(file, _OPTIONS) as book:
        bold = book.add_format({"bold": True})
        head, at = None, _SHEET_ROWS
        for row in chain.from_iterable(_read_cells(grid, rows, complete)):
            head = head or row
            if at == _SHEET_ROWS:
                sheet, at = book.add_worksheet(), 1
                sheet.write_row(0, 0, head, bold)
                sheet.freeze_panes(1, 0)
            if row is not head:
                sheet.write_row(at, 0, map(_fit_cell, row))
                at += 1
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"{name}.xlsx", content_type=_XLSX)


def _fit_cell(value: Any) -> Any:
    """A value as a cell of a workbook can hold it."""
    if isinstance(value, str):
        return value if len(value) <= _CELL_LENGTH else value[: _CELL_LENGTH - len(_CUT)] + _CUT
    is_number = isinstance(value, int | float | Decimal)
    return str(value) if is_number and not abs(value) <= _EXACT else value
