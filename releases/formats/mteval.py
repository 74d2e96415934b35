"""The layout of mt-metrics-eval V2 (Google): what tools that evaluate metrics of translation read.

    sources/LANG-LANG.txt  documents/LANG-LANG.docs  references/LANG-LANG.refN.txt
    system-outputs/LANG-LANG/SYSTEM.txt  human-scores/LANG-LANG.STAGE.seg.score  …sys.score

A segment is a query that a system answered, on one line of every file, in the order of the reference sets.
Its document is the query's id, its domain the split. The N-th reference file has each query's N-th answer, an
empty line where there are fewer. Scores are means of the kept ratings; None where there is none. A second
answer of people to a query is that of the system `human-2`.
"""

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from math import fsum
from pathlib import Path

from releases.formats import FileNames, Written, line, word
from releases.tables import CANDIDATES, REFERENCES, SCORES, Row, Source, Table

NAME = "mt-metrics-eval"
#: References of one query that have a file; more than that no metric takes.
MOST_REFERENCES = 100
#: Names that the layout keeps for references and for itself.
_RESERVED = re.compile(r"ref\d+|all|src", re.IGNORECASE)
_NONE = re.compile(r"(?!)")
_WITHDRAWN = "withdrawn"


@contextmanager
def open_writer(folder: Path, source: Source) -> Iterator["_Writer"]:
    """All files; none where no system's answer is in the release."""
    language = re.split(r"[-_]", source.project.language)[0].lower() or "en"
    with tempfile.TemporaryDirectory(dir=folder) as room, closing(_Cells(Path(room))) as cells:
        yield _Writer(folder, f"{language}-{language}", cells)


class _Writer:
    tables = (REFERENCES, CANDIDATES, SCORES)

    def __init__(self, folder: Path, pair: str, cells: "_Cells") -> None:
        self._folder, self._pair, self._cells = folder, pair, cells
        self._takers = {
            REFERENCES.name: cells.add_queries,
            CANDIDATES.name: cells.add_answers,
            SCORES.name: cells.add_scores,
        }

    def add(self, table: Table, rows: list[Row]) -> None:
        self._takers[table.name](rows)

    def finish(self) -> Written:
        self._cells.finish()
        return _Layout(self._folder, self._pair, self._cells).write()


class _Cells:
    """Queries, answers and scores in a temporary file, so that they can be read by system."""

    def __init__(self, room: Path) -> None:
        self.systems: dict[tuple[str, int], int] = {}
        self.stages: dict[str, int] = {}
        self._segments: dict[str, int] = {}
        self._rows = sqlite3.connect(room / "cells.sqlite", isolation_level=None)
        for statement in (
            "PRAGMA journal_mode=OFF",
            "PRAGMA synchronous=OFF",
            "CREATE TABLE segment (number INTEGER PRIMARY KEY, query TEXT, text TEXT, split TEXT,"
            " refs TEXT, n_refs INTEGER)",
            "CREATE TABLE output (system INTEGER, segment INTEGER, candidate TEXT UNIQUE, text TEXT,"
            " PRIMARY KEY (system, segment)) WITHOUT ROWID",
            "CREATE TABLE score (stage INTEGER, candidate TEXT, mean REAL,"
            " PRIMARY KEY (stage, candidate)) WITHOUT ROWID",
            "BEGIN",
        ):
            self._rows.execute(statement)

    def close(self) -> None:
        self._rows.close()

    def add_queries(self, rows: list[Row]) -> None:
        """Each query is a segment, numbered in their order."""
        query, text, split, answers = map(REFERENCES.place, ("query_id", "query", "split", "answers"))
        segments = []
        for row in rows:
            refs = [line(each["text"]) for each in row[answers][:MOST_REFERENCES]]
            number = self._segments[row[query]] = len(self._segments) + 1
            segments.append((number, row[query], line(row[text]), row[split], "\n".join(refs), len(refs)))
        self._rows.executemany("INSERT INTO segment VALUES (?, ?, ?, ?, ?, ?)", segments)

    def add_answers(self, rows: list[Row]) -> None:
        """A further answer of a system to a query is that of a further system."""
        key, query, name, text, aside = map(
            CANDIDATES.place, ("candidate_id", "query_id", "system", "answer", "aside")
        )
        for row in rows:
            number = self._segments.get(row[query])
            if number is None or row[aside] == _WITHDRAWN:
                continue
            turn, added = 0, 0
            while not added:
                turn += 1
                system = self.systems.setdefault((row[name], turn), len(self.systems))
                added = self._rows.execute(
                    "INSERT OR IGNORE INTO output VALUES (?, ?, ?, ?)",
                    (system, number, row[key], line(row[text])),
                ).rowcount

    def add_scores(self, rows: list[Row]) -> None:
        """Means by stage."""
        stage, key, mean = map(SCORES.place, ("stage", "candidate_id", "mean"))
        self._rows.executemany(
            "INSERT INTO score VALUES (?, ?, ?)",
            (
                (self.stages.setdefault(row[stage], len(self.stages)), row[key], row[mean])
                for row in rows
                if row[mean] is not None
            ),
        )

    def finish(self) -> None:
        """Queries that no system answered are no segments."""
        self._rows.execute("DELETE FROM segment WHERE number NOT IN (SELECT segment FROM output)")

    def segments(self) -> Iterator[tuple[str, str, str, list[str]]]:
        """Query, text, split and references, in order."""
        rows = self._rows.execute("SELECT query, text, split, refs FROM segment ORDER BY number")
        return ((query, text, split, refs.split("\n")) for query, text, split, refs in rows)

    def most_references(self) -> int:
        row = self._rows.execute("SELECT MAX(n_refs) FROM segment").fetchone()
        return int(row[0] or 0)

    def outputs(self, system: int) -> Iterator[str]:
        """A system's answers, one per segment; empty where it gave none."""
        rows = self._rows.execute(
            "SELECT output.text FROM segment LEFT JOIN output"
            " ON output.segment = segment.number AND output.system = ? ORDER BY segment.number",
            (system,),
        )
        return (text or "" for (text,) in rows)

    def scores(self, stage: int, system: int) -> Iterator[float | None]:
        """A system's scores, one per segment."""
        rows = self._rows.execute(
            "SELECT score.mean FROM segment LEFT JOIN output"
            " ON output.segment = segment.number AND output.system = ?"
            " LEFT JOIN score ON score.candidate = output.candidate AND score.stage = ?"
            " ORDER BY segment.number",
            (system, stage),
        )
        return (mean for (mean,) in rows)


class _Layout:
    """Writes the files of a pair of languages."""

    def __init__(self, folder: Path, pair: str, cells: _Cells) -> None:
        self.folder, self.pair, self.cells = folder, pair, cells
        names = FileNames(_RESERVED)
        self.names = {
            number: names.of(name if turn == 1 else f"{name}-{turn}")
            for (name, turn), number in sorted(cells.systems.items(), key=lambda each: each[1])
        }
        self.written: Written = {}

    def write(self) -> Written:
        if self.cells.systems:
            self._texts()
            for number, name in self.names.items():
                self._lines(f"system-outputs/{self.pair}/{name}.txt", self.cells.outputs(number))
            stages = FileNames(_NONE)
            for stage, number in self.cells.stages.items():
                self._scores(stages.of(stage), number)
        return self.written

    def _texts(self) -> None:
        """Sources, documents and references, together."""
        count = max(1, self.cells.most_references())
        names = [
            f"sources/{self.pair}.txt",
            f"documents/{self.pair}.docs",
            *(f"references/{self.pair}.ref{number}.txt" for number in range(1, count + 1)),
        ]
        with ExitStack() as files:
            sources, documents, *references = (
                files.enter_context(self._path(name).open("w", encoding="utf-8", newline="\n"))
                for name in names
            )
            segments = 0
            for query, text, split, refs in self.cells.segments():
                sources.write(f"{text}\n")
                documents.write(f"{split}\t{word(query)}\n")
                for place, file in enumerate(references):
                    file.write(f"{refs[place] if place < len(refs) else ''}\n")
                segments += 1
        self.written |= dict.fromkeys(names, segments)

    def _scores(self, name: str, stage: int) -> None:
        """A stage's means by system and by segment; systems without any are in neither file."""
        start = f"human-scores/{self.pair}.{name}"
        names = f"{start}.sys.score", f"{start}.seg.score"
        system_file, parts = (self._path(each).open("w", encoding="utf-8", newline="\n") for each in names)
        self.written |= dict.fromkeys(names, 0)
        with system_file, parts:
            for system, plain in self.names.items():
                scores = list(self.cells.scores(stage, system))
                defined = [score for score in scores if score is not None]
                if defined:
                    system_file.write(f"{plain}\t{fsum(defined) / len(defined)!r}\n")
                    parts.writelines(f"{plain}\t{score!r}\n" for score in scores)
                    self.written[names[0]] += 1
                    self.written[names[1]] += len(scores)

    def _lines(self, name: str, lines: Iterator[str]) -> None:
        count = 0
        with self._path(name).open("w", encoding="utf-8", newline="\n") as file:
            for each in lines:
                file.write(f"{each}\n")
                count += 1
        self.written[name] = count

    def _path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path
