"""Tables of a release as literal rows, for formats that need no database."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from core.progress import Progress, silent
from releases.formats import RowFormat, Written
from releases.formats.writer import write_rows
from releases.tables import CANDIDATES, RATINGS, REFERENCES, SCORES, TABLES, FilledTable, Row, Source, Table

PASSAGES = [
    {
        "passage_id": "p1",
        "title": "Italy",
        "url": "https://example.org/italy",
        "text": "Rome is the capital.",
    },
    {"passage_id": "p2", "title": "", "url": "", "text": "Milan is a city.\nA large one."},
]


def answer(text: str, opinion: str = "", **fields: Any) -> dict[str, Any]:
    given = {"answer_id": "a1", "worker": "w1", "text": text, "opinion": opinion, "entities": [],
             "simulated": False}  # fmt: skip
    return given | fields


def reference(key: str, query: str, *answers: dict[str, Any], **fields: Any) -> Row:
    given: dict[str, Any] = {
        "query_id": key, "query": query, "context": [], "type": "", "yes_no": False, "weight": 1.0,
        "stratum": "", "passages": PASSAGES, "answers": list(answers), "split": "train",
    }  # fmt: skip
    return row(REFERENCES, given | fields)


def candidate(key: str, system: str, query: str, text: str, **fields: Any) -> Row:
    given = {
        "candidate_id": key, "query_id": query, "system": system, "people": False, "answer": text,
        "opinion": "", "aside": "", "simulated": False, "split": "train",
    }  # fmt: skip
    return row(CANDIDATES, given | fields)


def score(key: str, system: str, query: str, mean: float | None, **fields: Any) -> Row:
    given = {
        "stage": "judging", "candidate_id": key, "query_id": query, "system": system, "n_raw": 3, "n_kept": 2,
        "mean": mean, "sd": 0.5, "median": mean, "trimmed": mean, "adjusted": None,
        "kept": [{"worker": "w1", "score": 4}, {"worker": None, "score": 5}],
        "simulated": False, "split": "train",
    }  # fmt: skip
    return row(SCORES, given | fields)


def rating(key: str, system: str, query: str, points: int, **fields: Any) -> Row:
    given = {
        "rating_id": "r1", "stage": "judging", "candidate_id": key, "query_id": query, "system": system,
        "worker": "w1", "score": points, "aspects": [{"name": "topicality", "score": 3}], "kept": True,
        "rule": "", "reason": "", "simulated": False, "split": "train",
    }  # fmt: skip
    return row(RATINGS, given | fields)


def row(table: Table, given: dict[str, Any]) -> Row:
    return tuple(given[name] for name in table.names)


def source(language: str = "en", **rows: list[Row]) -> Source:
    """A source with these rows by table, one row a batch; tables that are not named are empty."""
    return Source(
        project=SimpleNamespace(language=language, slug="kitchen"),  # type: ignore[arg-type]
        release=SimpleNamespace(version="1.0.0"),  # type: ignore[arg-type]
        tables={table.name: filled(table, rows.get(table.name, [])) for table in TABLES},
        parameters={},
        rows={table.name: counted(table, rows.get(table.name, [])) for table in TABLES},
    )


def filled(table: Table, rows: list[Row]) -> FilledTable:
    return FilledTable(table, lambda: ([each] for each in rows))


def counted(table: Table, rows: list[Row]) -> dict[str, int]:
    splits = [each[table.place("split")] for each in rows]
    return {split: splits.count(split) for split in dict.fromkeys(splits)}


def texts(folder: Path) -> dict[str, str]:
    """All files below a folder by their paths."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write(module: RowFormat, folder: Path, source: Source, progress: Progress = silent) -> Written:
    """Write one format into a folder."""
    inner = folder / module.NAME
    inner.mkdir()
    written = write_rows({module.NAME: module}, folder, source, progress)[module.NAME]
    for path in inner.iterdir():
        path.rename(folder / path.name)
    inner.rmdir()
    return written
