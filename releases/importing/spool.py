"""The rows of a file of scores, put together by query on disk, so that memory does not grow with the file."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

from annotation.importing.records import Passage, folded, query_digest, quoted
from core.files.refusals import FileRefusedError, RowCounts
from judgments.answer_files import RowRefusedError
from releases.importing.rows import ScoredRow

#: More systems than that no comparison has; it is the wrong column.
MOST_SYSTEMS = 1000
_FEW = 500


@dataclass(frozen=True, slots=True)
class SpooledQuery:
    """A query of the file, with everything that its rows say about it."""

    number: int
    key: str
    digest: str
    text: str
    context: list[str]
    passages: list[dict[str, Any]]
    references: list[str]
    type: str
    line: int


@dataclass(frozen=True, slots=True)
class SpooledAnswer:
    """One system's answer to a query, with its score."""

    query: int
    system: int
    text: str
    mean: float
    n: int | None
    ratings: list[float]
    line: int
    simulated: bool


class Spool:
    """Rows by query, in a temporary file. A context manager.

    Without a column for the system the k-th row about a query is the k-th system's; a row that repeats the
    answer and the score of an earlier one with another reference only adds that reference.
    """

    def __init__(self, room: Path, *, named: bool, names: Sequence[str] = ()) -> None:
        self.systems: list[str] = list(names)
        self.queries = self.answers = self.further = self.repeats = self.rows_read = 0
        self._fixed = bool(names)
        self._named = named
        self._numbers = {name: number for number, name in enumerate(self.systems)}
        self._rows = sqlite3.connect(room / "scores.sqlite", isolation_level=None)
        for statement in (
            "PRAGMA journal_mode=OFF",
            "PRAGMA synchronous=OFF",
            "CREATE TABLE query (number INTEGER PRIMARY KEY, identity BLOB UNIQUE, key TEXT, digest TEXT,"
            " text TEXT, context TEXT, passages TEXT, refs TEXT, type TEXT, line INTEGER, seen INTEGER)",
            "CREATE TABLE answer (query INTEGER, system INTEGER, text TEXT, mean REAL, n INTEGER,"
            " ratings TEXT, refs TEXT, line INTEGER, simulated INTEGER, PRIMARY KEY (query, system))"
            " WITHOUT ROWID",
            "BEGIN",
        ):
            self._rows.execute(statement)

    def __enter__(self) -> "Spool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rows.close()

    def add(self, row: ScoredRow) -> None:
        """Take a row. RowRefusedError where it contradicts an earlier one."""
        self.rows_read += 1
        query, seen, known = self._query(row)
        refs = json.dumps(row.references)
        if self._named:
            if not row.system:
                raise RowRefusedError("system", "The row does not name its system.", "Name it in every row.")
            number = self._number(row.system)
            before = self._rows.execute(
                "SELECT text, mean, line, n, ratings, simulated FROM answer WHERE query = ? AND system = ?",
                (query, number),
            ).fetchone()
            if before is not None:
                self._repeated(row, before)
        else:
            if row.references and self._only_reference(query, row):
                self._unite(query, row, known)
                self.further += 1
                return
            number, before = self._next(seen), None
        adds = self._unite(query, row, known)
        if before is not None:
            self.further += adds
            self.repeats += not adds
            return
        self._rows.execute(
            "INSERT INTO answer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                query,
                number,
                row.answer,
                row.mean,
                row.n,
                json.dumps(row.ratings),
                refs,
                row.line,
                row.simulated,
            ),
        )
        self._rows.execute("UPDATE query SET seen = seen + 1 WHERE number = ?", (query,))
        self.answers += 1

    def _query(self, row: ScoredRow) -> tuple[int, int, tuple[str, str]]:
        """Number of the row's query, how many answers it has so far, and its references and passages."""
        identity = _identity(row)
        found = self._rows.execute(
            "SELECT number, seen, refs, passages, text, line FROM query WHERE identity = ?", (identity,)
        ).fetchone()
        if found is not None:
            number, seen, refs, passages, text, line = found
            if folded(text) != folded(row.query):
                raise RowRefusedError(
                    "query",
                    f"The id {quoted(row.query_id)} is another query's in line {line}: {quoted(text)}.",
                    "If the column is no id of a query, map it to nothing: --column query_id= (empty).",
                )
            return number, seen, (refs, passages)
        plain = not row.query_id and not row.passages
        digest = query_digest(row.query, row.context) if plain else identity.hex()
        self.queries += 1
        self._rows.execute(
            "INSERT INTO query VALUES (?, ?, ?, ?, ?, ?, '[]', '[]', ?, ?, 0)",
            (
                self.queries,
                identity,
                row.query_id or f"q-{digest[:16]}",
                digest,
                row.query,
                json.dumps(row.context),
                row.type,
                row.line,
            ),
        )
        return self.queries, 0, ("[]", "[]")

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.systems)
            self.systems.append(name)
            if number >= MOST_SYSTEMS:
                raise FileRefusedError(
                    f"The file names more than {MOST_SYSTEMS:,} systems. "
                    "Look whether another column holds the system."
                )
        return number

    def _next(self, seen: int) -> int:
        if self._fixed and seen >= len(self.systems):
            raise RowRefusedError(
                "query",
                f"This is answer {seen + 1} to the query; systems that are named: {len(self.systems)}.",
                "Name as many systems as a query has rows, or map the column that holds the system.",
            )
        return seen if self._fixed else self._number(f"system-{seen + 1}")

    def _repeated(self, row: ScoredRow, before: tuple[str, float, int, int | None, str, int]) -> None:
        text, mean, line, n, ratings, simulated = before
        if text != row.answer:
            raise RowRefusedError(
                "answer",
                f"The system {quoted(row.system)} has another answer to this query in line {line}.",
                "A system has one answer per query; give a second one to a system of another name.",
            )
        if mean != row.mean:
            raise RowRefusedError(
                "score",
                f"The same answer of {quoted(row.system)} has the score {mean:g} in line {line}.",
                "Write all ratings of an answer into one row, as a list or in columns.",
            )
        if (n, json.loads(ratings)) != (row.n, row.ratings):
            raise RowRefusedError(
                "ratings",
                f"The same answer of {quoted(row.system)} has other ratings in line {line}.",
                "Write all ratings of an answer into one row, as a list or in columns.",
            )
        if bool(simulated) != row.simulated:
            marks = ("simulated", "not simulated")
            here, there = marks if row.simulated else reversed(marks)
            raise RowRefusedError(
                "simulated",
                f"The same answer of {quoted(row.system)} is {here} here and {there} in line {line}.",
                "Mark a score as simulated in all of its rows, or in none.",
            )

    def _only_reference(self, query: int, row: ScoredRow) -> bool:
        """Whether an earlier row has the same answer, score and mark, with none of this row's references."""
        same = self._rows.execute(
            "SELECT refs FROM answer WHERE query = ? AND text = ? AND mean = ? AND simulated = ?",
            (query, row.answer, row.mean, row.simulated),
        )
        given = set(row.references)
        return any(refs != "[]" and given.isdisjoint(json.loads(refs)) for (refs,) in same)

    def _unite(self, query: int, row: ScoredRow, known: tuple[str, str]) -> bool:
        """Add what a row says about its query to what is known; whether that was anything."""
        refs = json.loads(known[0])
        passages = json.loads(known[1])
        texts = {each["text"] for each in passages}
        more = [each for each in row.references if each not in refs]
        others = [_kept(each) for each in row.passages if each.text not in texts]
        if more or others:
            self._rows.execute(
                "UPDATE query SET refs = ?, passages = ? WHERE number = ?",
                (json.dumps(refs + more), json.dumps(passages + others), query),
            )
        return bool(more or others)

    def counts(self) -> RowCounts:
        """What became of every row; one that cannot be taken refuses the file."""
        return RowCounts(self.rows_read, used=self.answers, merged=self.further, repeats=self.repeats)

    def batches(self) -> Iterator[tuple[list[SpooledQuery], list[SpooledAnswer]]]:
        """Queries in the order of the file with their answers, some hundreds at a time."""
        queries = self._rows.execute(
            "SELECT number, key, digest, text, context, passages, refs, type, line FROM query ORDER BY number"
        )
        while some := list(islice(queries, _FEW)):
            answers = self._rows.execute(
                "SELECT query, system, text, mean, n, ratings, line, simulated FROM answer"
                " WHERE query BETWEEN ? AND ? ORDER BY query, system",
                (some[0][0], some[-1][0]),
            )
            yield (
                [
                    SpooledQuery(
                        number,
                        key,
                        digest,
                        text,
                        json.loads(context),
                        json.loads(passages),
                        json.loads(refs),
                        kind,
                        line,
                    )
                    for number, key, digest, text, context, passages, refs, kind, line in some
                ],
                [
                    SpooledAnswer(query, system, text, mean, n, json.loads(ratings), line, bool(simulated))
                    for query, system, text, mean, n, ratings, line, simulated in answers
                ],
            )

    @property
    def simulated(self) -> int:
        """How many of the answers have a score that a program gave."""
        found: int = self._rows.execute("SELECT COUNT(*) FROM answer WHERE simulated").fetchone()[0]
        return found

    def per_system(self) -> dict[str, int]:
        """How many answers each system has."""
        counts = dict(self._rows.execute("SELECT system, COUNT(*) FROM answer GROUP BY system"))
        return {name: counts.get(number, 0) for number, name in enumerate(self.systems)}


def _identity(row: ScoredRow) -> bytes:
    """What rows about one query share: its id, or its text with the same turns and passages."""
    if row.query_id:
        parts = ["id", row.query_id]
    else:
        parts = ["text", folded(row.query), *map(folded, row.context), "", *(p.text for p in row.passages)]
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def _kept(passage: Passage) -> dict[str, Any]:
    return asdict(passage)
