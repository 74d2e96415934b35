"""MS MARCO v2.1 (Bajaj et al. 2016): question answering records, as published and a record a line.

The published files are one JSON object with a member per column (`query`, `passages`, `answers` …), each an
object from record number to value. Columns come one after the other, so a record is whole only at the end of
a file of some gigabytes: its columns are put into a temporary SQLite file and joined there.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from annotation.importing import fields
from annotation.importing.jsonlines import ObjectReader
from annotation.importing.records import Passage, Record
from core.files.json_objects import JsonStream, Object
from core.files.refusals import BadFieldError, FileRefusedError, Refuse, RefuseRecord
from core.files.text_source import TextSource

COLUMNS = ("query", "query_id", "query_type", "answers", "passages", "wellFormedAnswers")
NO_ANSWER = "No Answer Present."
_WRITE = 5000


class MarcoReader(ObjectReader):
    """Column-wise or a record per line; `columnwise` says which."""

    format = "marco"

    def __init__(self, source: TextSource, room: Path, *, columnwise: bool) -> None:
        super().__init__(source, room)
        self.columnwise = columnwise
        self.unit = "record" if columnwise else "line"

    @property
    def description(self) -> str:
        """The format in words."""
        return "MS MARCO v2.1, " + ("a member per column" if self.columnwise else "a record per line")

    def objects(self, refuse: Refuse) -> Iterator[tuple[int, Object]]:
        """Records with their numbers."""
        return self._joined() if self.columnwise else super().objects(refuse)

    def in_object(self, value: Object, line: int, refuse: RefuseRecord) -> Iterator[Record]:
        """One record."""
        kind = value.get("query_type")
        answers = fields.texts_of(value.get("answers"), "answers")
        if NO_ANSWER in answers and len(answers) > 1:
            raise BadFieldError("The answers say that there is no answer, and give one.")
        well_formed = value.get("wellFormedAnswers")
        better = well_formed if isinstance(well_formed, list) else []
        extra: Object = {"query_type": kind} if kind else {}
        if better:
            extra["well_formed_answers"] = fields.texts_of(better, "well formed answers")
        text = value.get("query")
        record = fields.record_of(
            {"text": text, "id": value.get("query_id"), "type": kind}, line=line, ordinal=0, extra=extra
        )
        record.references = [answer for answer in answers if answer != NO_ANSWER]
        record.passages = _passages(value.get("passages"))
        yield record

    def _joined(self) -> Iterator[tuple[int, Object]]:
        store = self.room / "marco.sqlite3"
        if not store.exists():
            unfinished = self.room / "marco.part"
            unfinished.unlink(missing_ok=True)
            self._store_columns(unfinished)
            unfinished.rename(store)
        names = ", ".join(f'"{name}"' for name in COLUMNS)
        with closing(sqlite3.connect(store)) as database:
            rows = database.execute(f"SELECT {names} FROM record ORDER BY rowid")  # noqa: S608  # our own names
            for number, row in enumerate(rows, 1):
                given = zip(COLUMNS, row, strict=True)
                yield number, {name: json.loads(text) for name, text in given if text is not None}

    def _store_columns(self, path: Path) -> None:
        columns = ", ".join(f'"{name}" TEXT' for name in COLUMNS)
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            # A temporary file needs no safety, only speed; the cache is 16 MiB.
            database.execute("PRAGMA journal_mode=OFF")
            database.execute("PRAGMA synchronous=OFF")
            database.execute("PRAGMA cache_size=-16384")
            database.execute(f"CREATE TABLE record (key TEXT PRIMARY KEY, {columns})")
            stream = JsonStream(self.source)
            seen = set()
            database.execute("BEGIN")
            for name in stream.members():
                if name not in COLUMNS:
                    stream.value()
                    continue
                if name in seen:
                    raise FileRefusedError(f"{self.source.name} has the member {name!r} twice.")
                seen.add(name)
                put = (
                    f'INSERT INTO record (key, "{name}") VALUES (?, ?) '  # noqa: S608  # a name of COLUMNS
                    f'ON CONFLICT (key) DO UPDATE SET "{name}" = excluded."{name}"'
                )
                database.executemany(put, self._column(stream, name))
            database.execute("COMMIT")
            stream.finish()
        if "query" not in seen:
            raise FileRefusedError(f"{self.source.name} has no member 'query', so it is no MS MARCO file.")

    def _column(self, stream: JsonStream, name: str) -> Iterator[tuple[str, str]]:
        if stream.peek() != "{":
            raise stream.wrong(f"the column {name!r} is no object")
        for key in stream.members():
            yield key, stream.value()[1]


def _passages(value: Any) -> list[Passage]:
    """Passages as a list of objects, or as an object of lists."""
    if isinstance(value, dict):
        texts = value.get("passage_text")
        if not isinstance(texts, list):
            raise BadFieldError("The passages have no texts.")
        others = {name: value.get(name) for name in ("url", "is_selected")}
        lists = {name: each if isinstance(each, list) else [] for name, each in others.items()}
        if any(each and len(each) != len(texts) for each in lists.values()):
            raise BadFieldError("The passages' texts, urls and selections are not as many.")
        value = [
            {"passage_text": text, **{name: each[place] for name, each in lists.items() if each}}
            for place, text in enumerate(texts)
        ]
    return fields.passages_of(value)
