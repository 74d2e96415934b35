"""Scores of answers as CSV or JSONL: a row per answer, in the order of the table, a chunk at a time."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import numpy as np

from core.files.cells import cell
from evaluations.tables.questions import Floats

#: A chunk of a file: columns of texts, None where a cell is empty, and columns of numbers.
Part = tuple[dict[str, Sequence[str | int | None]], dict[str, Floats]]


def write_csv(file: IO[bytes], parts: Iterable[Part]) -> None:
    """CSV in UTF-8; numbers in full precision, an empty cell where there is none.

    A text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", errors="surrogatepass", newline="")
    writer = csv.writer(text, lineterminator="\n")
    for number, (texts, values) in enumerate(parts):
        if not number:
            writer.writerow([cell(name) for name in (*texts, *values)])
        columns = [
            [cell(each) if isinstance(each, str) else ("" if each is None else each) for each in column]
            for column in texts.values()
        ]
        columns += [
            ["" if each is None else repr(each) for each in _numbers(column)] for column in values.values()
        ]
        writer.writerows(zip(*columns, strict=True))
    text.detach()


def write_jsonl(file: IO[bytes], parts: Iterable[Part]) -> None:
    """An object a line; null where there is no number."""
    for texts, values in parts:
        names = [*texts, *values]
        columns: list[Sequence[Any]] = [*texts.values(), *map(_numbers, values.values())]
        for row in zip(*columns, strict=True):
            line = json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
            file.write(line.encode("utf-8", "surrogatepass") + b"\n")


def _numbers(values: Floats) -> list[float | None]:
    gone = np.isnan(values)
    if not gone.any():
        found: list[float | None] = values.tolist()
        return found
    return [None if missing else value for value, missing in zip(values.tolist(), gone.tolist(), strict=True)]


def sliced(values: Floats, size: int) -> Iterator[Floats]:
    """An array in pieces of a size."""
    for begin in range(0, len(values), size):
        yield values[begin : begin + size]
