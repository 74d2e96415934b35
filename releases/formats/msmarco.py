"""MS MARCO v2.1 (Bajaj et al. 2016): SPLIT.json, one object with a member per column.

Each column is an object from record number to value, as in the published files. They come one after the
other, so each is collected in a file of its own while the queries are read once. The curated passages are the
selected ones. The format has no place for earlier turns, opinions and marked entities.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from releases.formats import Written, identifier
from releases.tables import REFERENCES, Row, Source, Table

NAME = "msmarco"
COLUMNS = ("answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers")
NO_ANSWER = "No Answer Present."
#: What the published files have where no rewritten answer exists.
_NOT_WELL_FORMED = "[]"
_BLOCK = 2**20
_SPLIT = REFERENCES.place("split")
_NAMES = REFERENCES.names
_as_json = json.JSONEncoder(ensure_ascii=False).encode


@contextmanager
def open_writer(folder: Path, source: Source) -> Iterator["_Writer"]:
    """One file per split of the reference sets."""
    with tempfile.TemporaryDirectory(dir=folder) as room, ExitStack() as files:
        yield _Writer(folder, Path(room), files)


class _Writer:
    tables = (REFERENCES,)

    def __init__(self, folder: Path, room: Path, files: ExitStack) -> None:
        self._folder, self._room, self._files = folder, room, files
        self._splits: dict[str, _Columns] = {}

    def add(self, table: Table, rows: list[Row]) -> None:
        for row in rows:
            split = row[_SPLIT]
            if split not in self._splits:
                self._splits[split] = _Columns(self._room, split, self._files)
            self._splits[split].add(row)

    def finish(self) -> Written:
        for split, columns in self._splits.items():
            columns.join(self._folder / f"{split}.json")
        return {f"{split}.json": columns.count for split, columns in self._splits.items()}


class _Columns:
    """The columns of one split, each in a file."""

    def __init__(self, room: Path, split: str, files: ExitStack) -> None:
        self.count = 0
        self._files: dict[str, IO[str]] = {
            name: files.enter_context((room / f"{split}-{name}").open("w+", encoding="utf-8"))
            for name in COLUMNS
        }

    def add(self, row: Row) -> None:
        """Add a query."""
        for name, value in record(row).items():
            file = self._files[name]
            file.write(f'{"," if self.count else ""}\n"{self.count}": ')
            file.write(_as_json(value))
        self.count += 1

    def join(self, path: Path) -> None:
        """Write all columns into one object."""
        with path.open("w", encoding="utf-8", newline="\n") as joined:
            joined.write("{")
            for place, name in enumerate(COLUMNS):
                joined.write(f'{"," if place else ""}\n"{name}": {{')
                file = self._files[name]
                file.seek(0)
                while block := file.read(_BLOCK):
                    joined.write(block)
                joined.write("}")
            joined.write("\n}\n")


def record(row: Row) -> dict[str, Any]:
    """A query of the reference sets as one record."""
    values = dict(zip(_NAMES, row, strict=True))
    return {
        "answers": [each["text"] for each in values["answers"]] or [NO_ANSWER],
        "passages": [
            {"is_selected": 1, "passage_text": each["text"], "url": each["url"] or ""}
            for each in values["passages"]
        ],
        "query": values["query"],
        "query_id": identifier(values["query_id"]),
        "query_type": values["type"] or "",
        "wellFormedAnswers": _NOT_WELL_FORMED,
    }
