"""Tables as Arrow: their types, and rows read from the JSON Lines by C++ while Python does other work."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from releases.source import Source, by_split
from releases.tables import RECORDS, Kind, Table

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes of lines that are read together; a line must fit.
BLOCK = 1 << 20


def type_of(kind: Kind) -> "pa.DataType":
    """The Arrow type of a column; lists of records are lists of structs."""
    import pyarrow as pa  # noqa: PLC0415 - not on the way to a first page

    plain = {
        Kind.TEXT: pa.string,
        Kind.INTEGER: pa.int64,
        Kind.NUMBER: pa.float64,
        Kind.FLAG: pa.bool_,
    }
    if kind in plain:
        return plain[kind]()
    if kind == Kind.INTEGERS:
        return pa.list_(pa.int64())
    if kind == Kind.NAMES:
        return pa.list_(pa.string())
    return pa.list_(pa.struct([(name, type_of(inner)) for name, inner in RECORDS[kind]]))


def schema_of(table: Table) -> "pa.Schema":
    """The columns of a table."""
    import pyarrow as pa  # noqa: PLC0415 - the same

    return pa.schema([(column.name, type_of(column.kind)) for column in table.columns])


def records(source: Source, table: Table, split: str) -> Iterator[Any]:
    """The rows of one split of a table as record batches, in their order."""
    import pyarrow as pa  # noqa: PLC0415 - the same
    from pyarrow import json  # noqa: PLC0415 - the same

    schema = schema_of(table)
    if source.lines is None:
        for parts in by_split(source.tables[table.name]):
            if rows := parts.get(split):
                yield pa.RecordBatch.from_pylist(
                    [dict(zip(table.names, row, strict=True)) for row in rows], schema
                )
        return
    reader = json.open_json(
        source.lines / f"{table.name}-{split}.jsonl",
        read_options=json.ReadOptions(block_size=max(BLOCK, 2 * source.longest), use_threads=False),
        parse_options=json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    )
    with reader:
        yield from reader
