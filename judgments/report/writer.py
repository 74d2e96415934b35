"""Files of a filter run: the report as JSON, the ratings that are kept as CSV."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import IO, TYPE_CHECKING, Any

from pydantic_core import to_json

from core.files.atomic import Write
from core.files.cells import cell
from metrics.agreement.recipes import Z

if TYPE_CHECKING:
    import numpy as np

    from judgments.importing.ratings import RatingsTable
    from metrics.agreement.filters import Run

#: Lists of the report that grow with the data: a row of theirs is a line of the file.
LISTS = ("removed_workers", "undetermined_workers", "removed_ratings", "workers", "items")
_ROWS = 1 << 16
_TO_QUOTE = re.compile('[,"\r\n]')


def json_of(report: Mapping[str, Any]) -> Write:
    """The report as JSON; lists that grow with the data have a line per row."""

    def write(file: IO[bytes]) -> None:

        file.write(b"{")
        for number, (name, value) in enumerate(report.items()):
            file.write((b",\n  " if number else b"\n  ") + to_json(name) + b": ")
            if name in LISTS and value:
                first = next(iter(value[0]))
                between = b'},{"' + first.encode() + b'":'
                # A quotation mark inside a text is escaped, so this stands between rows only.
                rows = to_json(value, inf_nan_mode="null")[1:-1].replace(between, b"},\n    " + between[2:])
                file.write(b"[\n    " + rows + b"\n  ]")
            else:
                file.write(to_json(value, indent=2, inf_nan_mode="null").replace(b"\n", b"\n  "))
        file.write(b"\n}\n")

    return write


def csv_of(table: "RatingsTable", done: "Run") -> Write:
    """The kept ratings in the order of submission; names that a spreadsheet would run get an apostrophe.

    The last column says in every row whether a response filter has been over the ratings, so that whoever
    measures agreement on them later can know: after such a filter even noise agrees.
    """
    kept = done.kept
    mark = _quoted(f"z ({done.recipe.title})") if done.recipe.has(Z) else "none"

    def write(file: IO[bytes]) -> None:
        ratings = table.ratings
        file.write(",".join(["item", "worker", "score", *table.groups, "response_filter"]).encode() + b"\r\n")
        values = ratings.scale.texts
        columns = [
            _cells(ratings.item_names, ratings.items[kept]),
            _cells(ratings.worker_names, ratings.workers[kept]),
            map(values.__getitem__, (ratings.scores[kept].astype(int) - ratings.scale.low).tolist()),
            *(_cells(each.names, each.codes[kept]) for each in table.groups.values()),
            repeat(mark, int(kept.sum())),
        ]
        rows = map(",".join, zip(*columns, strict=True))
        while some := list(islice(rows, _ROWS)):
            file.write(("\r\n".join(some) + "\r\n").encode())

    return write


def text_of(page: str) -> Write:
    """A text as UTF-8."""

    def write(file: IO[bytes]) -> None:
        file.write(page.encode())

    return write


def _cells(names: Sequence[str], codes: "np.ndarray") -> Iterator[str]:
    """The cell of each code; every name is quoted once, not once per row."""
    cells = [_quoted(cell(name)) for name in names]
    return map(cells.__getitem__, codes.tolist())


def _quoted(text: str) -> str:
    if _TO_QUOTE.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text
