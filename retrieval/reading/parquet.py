"""Parquet: only the columns that are ours are read, some hundred rows at a time."""

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from retrieval.reading.fields import named

if TYPE_CHECKING:
    from retrieval.reading.file import PassageFile

_ROWS = 500


def records(file: "PassageFile", raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows by our names, numbered from 1."""
    import pyarrow  # noqa: PLC0415  # heavy
    import pyarrow.parquet as parquet  # noqa: PLC0415, PLR0402

    number = 0
    try:
        table = parquet.ParquetFile(raw, buffer_size=2**20)
        names = _columns(file, table.schema_arrow.names)
        every = max(table.metadata.num_rows, 1)
        for batch in table.iter_batches(batch_size=_ROWS, columns=list(names.values())):
            columns = {ours: batch.column(theirs).to_pylist() for ours, theirs in names.items()}
            for values in zip(*columns.values(), strict=True):
                number += 1
                yield number, dict(zip(columns, values, strict=True))
            file.bytes_done = file.bytes_total * number // every
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        what = f"it cannot be read as Parquet ({str(error)[:200]})"
        raise file.stop(number + 1, "", what, "Unpack it, or write it again.") from error


def _columns(file: "PassageFile", theirs: list[str]) -> dict[str, str]:
    found = dict(named(theirs))
    for name in ("id", "text"):
        if name not in found:
            what = f"there is no column {name!r}, only {', '.join(theirs[:10])}"
            raise file.stop(1, name, what, "Name the columns id and text.")
    return found
