"""Parquet: only the columns that are wanted are read, as many rows at a time as some megabytes hold.

A text that occurs once in the file and is referred to by many rows is kept once; so is a column read whose
texts are encoded so. It is a bomb only if it is written out for every row.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

_ROWS = 500
#: Bytes of a column in a batch, and of texts that are made of a batch at a time.
_BATCH, _SLICE = 2**24, 2**23


class ParquetError(ValueError):
    """Why a file cannot be read on; `row` is the first that was not."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row = row


def read_rows(
    raw: IO[bytes],
    find_columns: Callable[[list[str]], Mapping[str, str]],
    progress: Callable[[int, int], None],
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows by the names that `find_columns` gives for those of the file, numbered from 1.

    `progress` is told how many of how many rows are read. To be run under a limit of memory.
    """
    import pyarrow  # heavy
    from pyarrow import parquet

    number = 0
    try:
        table = parquet.ParquetFile(raw, buffer_size=2**20)
        names = find_columns(list(table.schema_arrow.names))
        theirs = list(dict.fromkeys(names.values()))
        every = max(table.metadata.num_rows, 1)
        table = parquet.ParquetFile(raw, buffer_size=2**20, read_dictionary=_dictionaries(table, theirs))
        for batch in table.iter_batches(
            batch_size=_rows_at_once(table.metadata), columns=theirs, use_threads=False
        ):
            for part in _slices(batch):
                columns = {ours: _values(part.column(name)) for ours, name in names.items()}
                for values in zip(*columns.values(), strict=True):
                    number += 1
                    yield number, dict(zip(columns, values, strict=True))
            progress(number, every)
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ParquetError(number + 1, str(error)[:200]) from error


def _rows_at_once(metadata: Any) -> int:
    """As many rows as have some megabytes in the fullest row group, going by what the file says of itself."""
    groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
    fullest = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=1)
    return int(min(_ROWS, max(1, _BATCH // max(fullest, 1))))


def _dictionaries(table: Any, theirs: list[str]) -> list[str]:
    """Columns of texts that are dictionaries and references to them, at least in a part of the file."""
    from pyarrow import types  # heavy

    metadata, schema = table.metadata, table.schema_arrow
    paths = set()
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            column = metadata.row_group(group).column(at)
            if column.has_dictionary_page and column.path_in_schema in theirs:
                paths.add(column.path_in_schema)
    return [name for name in paths if _is_text(types, schema.field(name).type)]


def _slices(batch: Any) -> Iterator[Any]:
    """A batch in parts whose texts, written out, have some megabytes, or one row."""
    from pyarrow import compute  # heavy

    sizes = [0] * batch.num_rows
    for column in batch.columns:
        lengths = _lengths(compute, column)
        if lengths is not None:
            sizes = [size + (length or 0) for size, length in zip(sizes, lengths.to_pylist(), strict=True)]
    begin = slice_size = 0
    for at, size in enumerate(sizes):
        if at > begin and slice_size + size > _SLICE:
            yield batch.slice(begin, at - begin)
            begin, slice_size = at, 0
        slice_size += size
    yield batch.slice(begin)


def _lengths(compute: Any, column: Any) -> Any:
    from pyarrow import types  # heavy

    if types.is_dictionary(column.type):
        if _is_text(types, column.type.value_type):
            return compute.take(compute.binary_length(column.dictionary), column.indices)
    elif _is_text(types, column.type):
        return compute.binary_length(column)
    return None


def _is_text(types: Any, kind: Any) -> bool:
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def _values(column: Any) -> list[Any]:
    """Python values of a part; those of a dictionary that the part refers to, and no others."""
    from pyarrow import types  # heavy

    values: list[Any] = (
        column.dictionary_decode() if types.is_dictionary(column.type) else column
    ).to_pylist()
    return values
