"""Parquet: TABLE-SPLIT.parquet, compressed with zstd, in row groups of a fixed number of rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from releases.formats.arrow import schema_of
from releases.tables import Kind, Table

if TYPE_CHECKING:
    import pyarrow as pa

NAME, SUFFIX = "parquet", ".parquet"
_ROWS, _LARGE_ROWS = 25_000, 500


@contextmanager
def open_file(path: Path, table: Table) -> Iterator[Callable[[Any], None]]:
    """One file; the same rows give the same bytes with the same version of Arrow."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema_of(table), compression="zstd", version="2.6") as writer:
        groups = _Groups(writer.write_table, _size(table))
        yield groups.add
        groups.close()


def _size(table: Table) -> int:
    large = {Kind.PASSAGES, Kind.ANSWERS}
    return _LARGE_ROWS if any(column.kind in large for column in table.columns) else _ROWS


class _Groups:
    """Tables of `size` rows each but the last, whatever sizes the batches have."""

    def __init__(self, write: "Callable[[pa.Table], None]", size: int) -> None:
        self._write, self._size = write, size
        self._waiting: list[Any] = []
        self._count = 0

    def add(self, batch: Any) -> None:
        """Write the groups that are complete with this batch."""
        import pyarrow as pa

        self._waiting.append(batch)
        self._count += batch.num_rows
        while self._count >= self._size:
            together = pa.Table.from_batches(self._waiting)
            self._write(together.slice(0, self._size))
            rest = together.slice(self._size)
            self._waiting, self._count = rest.to_batches(), rest.num_rows

    def close(self) -> None:
        """Write what is left."""
        import pyarrow as pa

        if self._count:
            self._write(pa.Table.from_batches(self._waiting))
