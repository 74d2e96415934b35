"""MS MARCO v2.1 (Bajaj et al. 2016): SPLIT.json, one object with a member per column.

Each column is an object from record number to value, as in the published files. They come one after the
other, so each is collected in a file of its own while the queries are read once. The curated passages are the
selected ones. The format has no place for earlier turns, opinions and marked entities.
"""

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from releases.formats.identifiers import identifier
from releases.formats.registry import Written
from releases.source import Progress, Source
from releases.tables import REFERENCES, Row

NAME = "msmarco"
COLUMNS = ("answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers")
NO_ANSWER = "No Answer Present."
#: What the published files have where nobody wrote the answer anew.
_NOT_WELL_FORMED = "[]"
_BLOCK = 2**20
_SPLIT = REFERENCES.place("split")


def write(folder: Path, source: Source, progress: Progress) -> Written:
    """One file per split of the reference sets."""
    rows, done = source.rows.get(REFERENCES.name, {}), 0
    total = sum(rows.values())
    with tempfile.TemporaryDirectory(dir=folder) as room, ExitStack() as files:
        splits: dict[str, _Columns] = {}
        for batch in source.tables[REFERENCES.name].batches():
            for row in batch:
                split = row[_SPLIT]
                if split not in splits:
                    splits[split] = _Columns(Path(room), split, files)
                splits[split].add(row)
            done += len(batch)
            progress(done, total, "MS MARCO")
        for split, columns in splits.items():
            columns.join(folder / f"{split}.json")
    return {f"{split}.json": columns.count for split, columns in splits.items()}


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
            file.write(json.dumps(value, ensure_ascii=False))
        self.count += 1

    def join(self, path: Path) -> None:
        """Write all columns into one object."""
        with path.open("w", encoding="utf-8", newline="\n") as whole:
            whole.write("{")
            for place, name in enumerate(COLUMNS):
                whole.write(f'{"," if place else ""}\n"{name}": {{')
                file = self._files[name]
                file.seek(0)
                while block := file.read(_BLOCK):
                    whole.write(block)
                whole.write("}")
            whole.write("\n}\n")


def record(row: Row) -> dict[str, Any]:
    """A query of the reference sets as one record."""
    values = dict(zip(REFERENCES.names, row, strict=True))
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
