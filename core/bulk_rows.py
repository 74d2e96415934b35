"""Rows of a model in bulk, written and read without an instance per row: COPY on PostgreSQL.

    table = BulkTable(Answer, "stage_id", "query_id", "text")
    key = table.add(stage.pk, 17, "Paris.")
    table.close()

    insert_columns(Score, {"run_id": 4, "candidate_id": [7, 8], "mean": [2.5, None]})
    insert_batches(Score, (columns_of(some) for some in portions))

    pk, score = integer_columns(Judgment.objects.order_by("pk").values_list("pk", "score"), "i8", "i2")

What is not named has its field's default, the same for all rows. The caller holds a transaction. No signal is
sent and no `pre_save` is asked, as with `bulk_create`.
"""

import io
import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from django.core.exceptions import EmptyResultSet
from django.core.management.color import no_style
from django.db import connection, connections, models
from django.db.models import Max
from pydantic_core import to_json

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Column = npt.NDArray[np.integer]

BATCH = 20_000
#: Batches that may be ready while the database takes one.
_AHEAD = 2
#: Bytes of rows that are taken apart together.
_BLOCK = 1 << 20
_NULL = r"\N"
#: The backslash first: the others become one.
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))
#: Begins what PostgreSQL writes in its binary format: signature, flags, length of an extension.
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER = b"\xff\xff"
#: Bytes of smallint, integer and bigint.
_WHOLE = (2, 4, 8)
_NARROW = 4
#: Compressing with lz4 takes less time than with pglz.
_USE_LZ4 = (
    "SELECT set_config(name, 'lz4', true) FROM pg_settings "
    "WHERE name = 'default_toast_compression' AND 'lz4' = ANY(enumvals)"
)
_PLAIN_FIELDS = (models.IntegerField, models.FloatField, models.BooleanField)
Encode = Callable[[Any], Any]
T = TypeVar("T")


class BulkTable:
    """Rows of one model, written whenever there are enough of them.

    Keys are given by the table, from the highest that is there, so nobody else may write to it meanwhile.
    `first_key` is the least that is given.
    """

    first_key = 1

    def __init__(self, model: type[models.Model], *columns: str) -> None:
        self.model = model
        key = model._meta.pk
        assert key is not None
        self._numbered = key.attname not in columns
        self._fields, self._constant = _fields_of(
            model, ([key.attname] if self._numbered else []) + list(columns)
        )
        self._rows: list[tuple[Any, ...]] = []
        self.count = 0
        self._next = 0
        if self._numbered:
            last = model._default_manager.aggregate(m=Max("pk"))["m"] or 0
            self._next = max(self.first_key, 1 + last)

    def add(self, *values: Any) -> int:
        """One row; its key, where the table gives them."""
        key = self._next
        if self._numbered:
            self._next += 1
            self._rows.append((key, *values, *self._constant))
        else:
            self._rows.append((*values, *self._constant))
        self.count += 1
        if len(self._rows) >= BATCH:
            self._write()
        return key

    def add_all(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Many rows."""
        for row in rows:
            self.add(*row)

    def close(self) -> None:
        """Write what is left; the database counts on from the last key."""
        if self._rows:
            self._write()
        if self._numbered:
            with connection.cursor() as cursor:
                for statement in connection.ops.sequence_reset_sql(no_style(), [self.model]):
                    cursor.execute(statement)

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        _insert(self.model, self._fields, list(zip(*rows, strict=True)))


def insert_columns(model: type[models.Model], columns: Mapping[str, Any]) -> None:
    """Insert rows given as columns; the database gives the keys.

    A column is a sequence of plain values, or one value for all rows. At least one is a sequence.
    """
    insert_batches(model, _parts(columns))


def _parts(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """At most `BATCH` rows at a time."""
    for start in range(0, _count(columns), BATCH):
        part = slice(start, start + BATCH)
        yield {
            name: column[part] if isinstance(column, list | tuple) else column
            for name, column in columns.items()
        }


def _count(columns: Mapping[str, Any]) -> int:
    return next(len(column) for column in columns.values() if isinstance(column, list | tuple))


def insert_batches(model: type[models.Model], batches: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows that come some at a time, each time with the same columns as `insert_columns` takes them.

    While PostgreSQL stores one batch, and looks up the rows that it refers to, a thread works out the next
    ones: what makes them must ask no database.
    """
    rest = iter(batches)
    first = next(rest, None)
    if first is None:
        return
    fields, defaults = _fields_of(model, list(first))

    def columns_of(batch: Mapping[str, Any]) -> list[Iterable[Any]]:
        size = _count(batch)
        return [
            column if isinstance(column, list | tuple) else [column] * size for column in batch.values()
        ] + [[default] * size for default in defaults]

    if connection.vendor != "postgresql":
        for batch in chain([first], rest):
            _insert(model, fields, columns_of(batch))
        return
    encode = [_text_of(field) for field in fields]
    texts = _made_ahead(_lines_of(batch, encode, defaults) for batch in chain([first], rest))
    with connection.cursor() as cursor, closing(texts):
        for lines in texts:
            _copy(cursor, model, fields, lines)
            # Otherwise all that is referred to would be looked up at the commit, while nothing else is done.
            connection.check_constraints()


def _made_ahead(source: Iterator[T]) -> Generator[T]:
    """What a source gives, made by a thread, a few before they are asked for."""
    nothing: Any = object()
    with ThreadPoolExecutor(1) as maker:
        waiting = deque(maker.submit(next, source, nothing) for _ in range(_AHEAD))
        while (entry := waiting.popleft().result()) is not nothing:
            waiting.append(maker.submit(next, source, nothing))
            yield entry


def integer_columns(
    rows: "models.QuerySet[Any, tuple[Any, ...]]", *types: str, narrow: bool = False
) -> "list[Column]":
    """The columns of a `values_list` of whole numbers, none of them null, in the order of the rows.

    `types` are numpy's, one for each column; with `narrow` a column of eight bytes comes in four where all
    its numbers fit. Read by one statement, in constant memory beside the columns.
    """
    import numpy as np  # start-up does without numpy

    postgresql = connections[rows.db].vendor == "postgresql"
    parts: list[list[Column]] = [[np.zeros(0, dtype=each)] for each in types]
    convert = _narrowed if narrow else _as_it_is
    for block in _copied(rows, types, convert) if postgresql else _fetched(rows, types, convert):
        for part, column in zip(parts, block, strict=True):
            part.append(column)
    if narrow:  # no block of eight bytes makes a column wide that has only this one
        parts = [part if len(part) == 1 else part[1:] for part in parts]
    columns = []
    while parts:
        columns.append(np.concatenate(parts.pop(0)))
    return columns


def _as_it_is(column: "Column") -> "Column":
    return column


def _narrowed(column: "Column") -> "Column":
    """In four bytes if it has eight and all its numbers fit."""
    if column.itemsize <= _NARROW or not len(column):
        return column
    fits = int(column.min()) >= -(1 << 31) and int(column.max()) < 1 << 31
    return column.astype(f"i{_NARROW}") if fits else column


def use_fast_compression() -> None:
    """Have PostgreSQL compress large values with lz4, if it can, until this transaction ends."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(_USE_LZ4)


def _escaped(text: str) -> str:
    """A text as COPY takes it. Several passes in C are forty times as fast as `translate`."""
    for character, escape in _ESCAPES:
        text = text.replace(character, escape)
    return text


def _fields_of(
    model: type[models.Model], names: Sequence[str]
) -> "tuple[list[models.Field[Any, Any]], tuple[Any, ...]]":
    """The fields of named columns, then those of the others but the key, and the defaults of the latter."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    assert model._meta.pk is not None
    rest = [name for name in fields if name not in names and name != model._meta.pk.attname]
    defaults = tuple(fields[name].get_default() for name in rest)
    return [fields[name] for name in (*names, *rest)], defaults


def _insert(
    model: type[models.Model], fields: "Sequence[models.Field[Any, Any]]", columns: Sequence[Iterable[Any]]
) -> None:
    """One batch of rows as columns."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            texts = [map(_text_of(field), column) for field, column in zip(fields, columns, strict=True)]
            _copy(cursor, model, fields, _joined(texts))
        else:
            name, names = _quoted(model, fields)
            marks = ", ".join(["%s"] * len(fields))
            values = [_values_of(field, column) for field, column in zip(fields, columns, strict=True)]
            statement = f"INSERT INTO {name} ({names}) VALUES ({marks})"  # noqa: S608 - names are quoted
            cursor.executemany(statement, list(zip(*values, strict=True)))


def _quoted(model: type[models.Model], fields: "Sequence[models.Field[Any, Any]]") -> tuple[str, str]:
    """The table and its columns, as statements name them."""
    quote = connection.ops.quote_name
    return quote(model._meta.db_table), ", ".join(quote(field.column or "") for field in fields)


def _copy(
    cursor: Any, model: type[models.Model], fields: "Sequence[models.Field[Any, Any]]", lines: bytes
) -> None:
    """Have PostgreSQL take rows in one piece, so that a thread that makes others is not stopped often."""
    name, names = _quoted(model, fields)
    cursor.cursor.copy_expert(f"COPY {name} ({names}) FROM STDIN", io.BytesIO(lines), max(1, len(lines)))


def _lines_of(columns: Mapping[str, Any], encode: Sequence[Encode], defaults: Sequence[Any]) -> bytes:
    """Rows given as columns, as COPY takes them."""
    size = _count(columns)
    texts = [
        map(text, column) if isinstance(column, list | tuple) else repeat(text(column), size)
        for text, column in zip(encode, columns.values(), strict=False)
    ]
    return _joined(
        texts
        + [repeat(text(value), size) for text, value in zip(encode[len(texts) :], defaults, strict=True)]
    )


def _joined(texts: Iterable[Iterable[str]]) -> bytes:
    """Rows of these columns."""
    lines = map("\t".join, zip(*texts, strict=True))
    return ("\n".join(lines) + "\n").encode()


def _text_of(field: "models.Field[Any, Any]") -> Callable[[Any], str]:
    """How COPY takes the values of a field."""
    if isinstance(field, models.JSONField):
        return _as_json
    named = field.target_field if isinstance(field, models.ForeignKey) else field
    return _as_text if isinstance(named, models.CharField | models.TextField) else _plain


def _values_of(field: "models.Field[Any, Any]", column: Iterable[Any]) -> Iterable[Any]:
    """How other databases take the values of a field."""
    if isinstance(field, models.JSONField):
        return (None if value is None else json.dumps(value) for value in column)
    named = field.target_field if isinstance(field, models.ForeignKey) else field
    if isinstance(named, _PLAIN_FIELDS):
        return column
    return (field.get_db_prep_save(value, connection) for value in column)


def _as_json(value: Any) -> str:
    return _NULL if value is None else _escaped(to_json(value).decode())


def _as_text(value: Any) -> str:
    if not value:
        return _NULL if value is None else ""
    return str(value) if value.isalnum() else _escaped(value)


def _plain(value: Any) -> str:
    """Numbers, moments, UUIDs, yes and no: nothing in them has to be escaped."""
    return _NULL if value is None else str(value)


def _fetched(
    rows: "models.QuerySet[Any, tuple[Any, ...]]",
    types: Sequence[str],
    convert: "Callable[[Column], Column]",
) -> "Iterator[list[Column]]":
    """Rows as Django gives them, in blocks of columns."""
    import numpy as np

    source = rows.iterator(chunk_size=BATCH)
    while chunk := list(islice(source, BATCH)):
        yield [
            convert(np.array(column, dtype=each))
            for column, each in zip(zip(*chunk, strict=True), types, strict=True)
        ]


def _copied(
    rows: "models.QuerySet[Any, tuple[Any, ...]]",
    types: Sequence[str],
    convert: "Callable[[Column], Column]",
) -> "list[list[Column]]":
    """Rows as PostgreSQL sends them in its binary format, in blocks of columns."""
    try:
        sql, parameters = rows.query.get_compiler(rows.db).as_sql()
    except EmptyResultSet:  # such as for a filter by an empty list
        return []
    records = _Records(types, convert)
    with connections[rows.db].cursor() as cursor:
        plain = cursor.cursor
        question = plain.mogrify(sql, parameters).decode()
        plain.copy_expert(f"COPY ({question}) TO STDOUT (FORMAT binary)", records)
    records.close()
    return records.blocks


class _Records:
    """Takes rows in PostgreSQL's binary format and keeps them as columns.

    Whole numbers that are not null have one length each, so that all rows are records of one length.
    """

    def __init__(self, types: Sequence[str], convert: "Callable[[Column], Column]") -> None:
        self.blocks: list[list[Column]] = []
        self._types = types
        self._kept = convert  # in which form a column stays: there may be millions of rows before the last
        self._waiting = bytearray()
        self._record: np.dtype[np.void] | None = None

    def write(self, data: bytes) -> int:
        """Called by psycopg for every row."""
        self._waiting += data
        if len(self._waiting) > _BLOCK:
            self._take()
        return len(data)

    def close(self) -> None:
        """Take what is left, but for the two bytes that end it all."""
        if not self._waiting.endswith(_TRAILER):
            raise _no_whole_numbers()
        del self._waiting[-len(_TRAILER) :]
        self._take()
        if self._waiting:
            raise _no_whole_numbers()

    def _take(self) -> None:
        import numpy as np

        buffered = self._waiting
        if self._record is None:
            del buffered[: len(_HEADER)]
            if not buffered:
                return
            self._record = self._record_of(buffered)
        size = len(buffered) - len(buffered) % self._record.itemsize
        records = np.frombuffer(bytes(buffered[:size]), dtype=self._record)
        del buffered[:size]
        sizes = [(records["fields"], len(self._types))] + [
            (records[f"size{place}"], self._record[f"value{place}"].itemsize)
            for place in range(len(self._types))
        ]
        if any((lengths != expected).any() for lengths, expected in sizes):
            raise _no_whole_numbers()
        columns = (records[f"value{place}"].astype(each) for place, each in enumerate(self._types))
        self.blocks.append([self._kept(column) for column in columns])

    def _record_of(self, buffered: bytearray) -> "np.dtype[np.void]":
        """The record that begins here: how many fields, then each with its length before it."""
        import numpy as np

        parts, at = [("fields", ">i2")], 2
        for place in range(len(self._types)):
            size = int.from_bytes(buffered[at : at + 4], "big", signed=True)
            if size not in _WHOLE:
                raise _no_whole_numbers()
            parts += [(f"size{place}", ">i4"), (f"value{place}", f">i{size}")]
            at += 4 + size
        return np.dtype(parts)


def _no_whole_numbers() -> ValueError:
    return ValueError("integer_columns reads whole numbers; a column holds something else, or nulls")
