"""Tables as Arrow: their types, and rows read from the JSON Lines by C++ while Python does other work."""

from array import array
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from releases.tables import RECORDS, Kind, Source, Table, by_split

if TYPE_CHECKING:
    import pyarrow as pa

#: Bytes of lines that are read together; a line must fit.
BLOCK = 1 << 20


def type_of(kind: Kind) -> "pa.DataType":
    """The Arrow type of a column; lists of records are lists of structs."""
    import pyarrow as pa

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
    import pyarrow as pa

    return pa.schema([(column.name, type_of(column.kind)) for column in table.columns])


def records(source: Source, table: Table, split: str) -> Iterator[Any]:
    """The rows of one split of a table as record batches, in their order."""
    import pyarrow as pa
    from pyarrow import json

    schema = schema_of(table)
    if source.lines is None:
        for parts in by_split(source.tables[table.name]):
            if rows := parts.get(split):
                yield pa.RecordBatch.from_pylist(
                    [dict(zip(table.names, row, strict=True)) for row in rows], schema
                )
        return
    block = max(BLOCK, 2 * source.longest.get(table.name, 0))
    reader = json.open_json(
        source.lines / f"{table.name}-{split}.jsonl",
        read_options=json.ReadOptions(block_size=block, use_threads=False),
        parse_options=json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    )
    with reader:
        yield from reader


def json_texts(lists: Any) -> Any:
    """A column of lists as texts of JSON, made column by column; what is not known is an empty list."""
    import pyarrow as pa
    from pyarrow import compute

    if not len(lists.flatten()):
        return pa.repeat(pa.scalar("[]"), len(lists))
    return compute.fill_null(_lists_as_json(lists), "[]")


#: What JSON escapes in a text; most have none of it.
ESCAPED = r'["\\\x00-\x1f]'


def texts_as_json(texts: Any, escaped: str = ESCAPED, encode: Callable[[str], bytes] = to_json) -> Any:
    """A column of texts as JSON, null where it is. Only what matches `escaped` is encoded one by one."""
    import pyarrow as pa
    from pyarrow import compute

    quoted = compute.binary_join_element_wise('"', texts, '"', "")
    needs_escape = compute.fill_null(compute.match_substring_regex(texts, escaped), False)
    if not compute.any(needs_escape).as_py():
        return quoted
    escaped_texts = [encode(text).decode() for text in texts.filter(needs_escape).to_pylist()]
    return compute.replace_with_mask(quoted, needs_escape, pa.array(escaped_texts, pa.string()))


def _as_json(values: Any) -> Any:
    """Each value as JSON; what is not known is null."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_list(values.type):
        return compute.fill_null(_lists_as_json(values), "null")
    if pa.types.is_struct(values.type):
        parts: list[Any] = []
        for number, (field, inner) in enumerate(zip(values.type, values.flatten(), strict=True)):
            parts += [f'{"," if number else "{"}"{field.name}":', _as_json(inner)]
        objects = compute.binary_join_element_wise(*parts, "}", "")
        return compute.if_else(values.is_null(), "null", objects) if values.null_count else objects
    if pa.types.is_string(values.type):
        return compute.fill_null(texts_as_json(values), "null")
    coded = values.dictionary_encode(null_encoding="encode")
    texts = pa.array([to_json(value).decode() for value in coded.dictionary.to_pylist()], pa.string())
    return texts.take(coded.indices)


def _lists_as_json(lists: Any) -> Any:
    """Lists as JSON, null where there is none."""
    import pyarrow as pa
    from pyarrow import compute

    lengths = compute.fill_null(compute.list_value_length(lists), 0).to_numpy()
    ends = array("i", [0])
    ends.frombytes(lengths.cumsum(dtype="i4").tobytes())
    joined = compute.binary_join(
        pa.ListArray.from_arrays(pa.array(ends, pa.int32()), _as_json(lists.flatten())), ","
    )
    arrays = compute.binary_join_element_wise("[", joined, "]", "")
    return (
        compute.if_else(lists.is_null(), pa.scalar(None, pa.string()), arrays) if lists.null_count else arrays
    )
