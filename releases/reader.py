"""The rows of a built release out of its files, whichever of the plain formats it has."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

#: Formats that hold every table whole, the fastest to read first.
READABLE = ("jsonl", "parquet", "csv")
_SUFFIX = {"jsonl": "jsonl", "parquet": "parquet", "csv": "csv"}
Record = Mapping[str, Any]


def formats_of(manifest: Mapping[str, Any]) -> list[str]:
    """Formats of a release from which its rows can be read."""
    there = {file.get("format") for file in manifest.get("files", ())}
    return [name for name in READABLE if name in there]


def files_of(manifest: Mapping[str, Any], format: str, table: str) -> list[Mapping[str, Any]]:
    """The files of a table in a format, as the manifest names them."""
    suffix = _SUFFIX[format]
    return [
        file
        for file in manifest.get("files", ())
        if file.get("format") == format
        and str(file.get("path", "")).startswith(f"{format}/{table}-")
        and str(file["path"]).endswith(f".{suffix}")
    ]


def records(folder: Path, format: str, files: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
    """The rows of some files of one format, a few at a time."""
    read = {"jsonl": _lines, "parquet": _parquet, "csv": _cells}[format]
    for file in files:
        yield from read(folder / str(file["path"]))


def _lines(path: Path) -> Iterator[Record]:
    with path.open("rb") as file:
        for line in file:
            yield json.loads(line)


def _parquet(path: Path) -> Iterator[Record]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=5_000):
            yield from batch.to_pylist()


def _cells(path: Path) -> Iterator[Record]:
    csv.field_size_limit(1 << 30)
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
