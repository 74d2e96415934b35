"""First pass of an import: which query a line means, and what becomes of it. Only reads the database."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from annotation.importing.records import folded, normal, query_digest, quoted
from annotation.models import Query, QuerySource
from core.files.refusals import FileRefusedError
from core.projects.models import Project
from judgments.importing.formats import Answers
from judgments.importing.rows import Row, RowRefusedError, Tally
from judgments.models import Candidate, System
from judgments.selectors.candidates import OUT, exact_form, reference_forms

# Which query of the project a line means: by its id, or by its text.

#: Queries that are remembered at most, so that memory does not grow with the file.
_MOST = 5000


class UnknownQueryError(RowRefusedError):
    """The project does not have the query of a line."""


@dataclass(frozen=True, slots=True)
class ProjectQuery:
    """A query of the project; `forms` are its references as copies equal them, `out`: nobody judges it."""

    pk: int
    text: str
    forms: frozenset[str]
    out: bool


class KnownQueries:
    """Finds queries for batches of rows, in a few statements a batch."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._by_key: dict[str, ProjectQuery | None] = {}
        self._by_digest: dict[str, ProjectQuery | None] = {}

    def learn(self, rows: Iterable[Row]) -> None:
        """Look up what `of` needs for these rows."""
        if len(self._by_key) + len(self._by_digest) > _MOST:
            self._by_key.clear()
            self._by_digest.clear()
        found = list(rows)
        keys = {key for row in found for key in (row.query_id, row.query.strip()) if key}
        digests = {_query_digest(row) for row in found if row.query}
        keys -= self._by_key.keys()
        digests -= self._by_digest.keys()
        if not keys and not digests:
            return
        self._by_key.update(dict.fromkeys(keys))
        self._by_digest.update(dict.fromkeys(digests))
        queries = Query.objects.filter(project=self._project, source__state=QuerySource.State.READY)
        wanted = ("pk", "key", "digest", "text", "status")
        values = {
            *(queries.filter(key__in=keys).values_list(*wanted) if keys else ()),
            *(queries.filter(digest__in=digests).values_list(*wanted) if digests else ()),
        }
        forms = reference_forms({pk for pk, *_ in values})
        for pk, key, digest, text, status in values:
            known = ProjectQuery(pk, folded(normal(text)), forms.get(pk, frozenset()), status in OUT)
            self._by_key[key] = self._by_digest[digest] = known

    def of(self, row: Row) -> ProjectQuery:
        """The query of a row that was learned. RowRefusedError: there is none, or its text is another's."""
        by_id = self._by_key.get(row.query_id) if row.query_id else None
        if by_id is not None:
            if row.query and folded(normal(row.query)) != by_id.text:
                raise RowRefusedError(
                    "query_id",
                    f"The query with the id {quoted(row.query_id)} is another than {quoted(row.query)}.",
                    "If this column is no id of a query, map it to nothing: --column query_id= (empty).",
                )
            return by_id
        found = None
        if row.query:
            found = None if row.query_id else self._by_key.get(row.query.strip())
            found = found or self._by_digest.get(_query_digest(row))
        if found is None:
            raise _unknown(row)
        return found


def _unknown(row: Row) -> UnknownQueryError:
    if row.query_id:
        return UnknownQueryError(
            "query_id",
            f"The project has no query with the id {quoted(row.query_id)}.",
            "Import the query first, or correct the id.",
        )
    return UnknownQueryError(
        "query",
        f"The project has no query {quoted(row.query)}, neither as id nor as text.",
        "Import the query first. A query with earlier turns is named by its id.",
    )


def _query_digest(row: Row) -> str:
    return query_digest(normal(row.query), _turns(row.context))


def _turns(context: Sequence[str]) -> list[str]:
    return [normal(turn) for turn in context]


BATCH = 1000
#: More systems than that no comparison has; it is the wrong column.
MOST_SYSTEMS = 1000
_ONE_EACH = "A system has one answer per query; give a second answer to a system of another name."


class FirstAnswers:
    """Remembers the first answer of each system to each query: where it stands, and what it is.

    Both names are numbers of 63 bits; `digest` stands for the answer. A context manager.
    """

    def __init__(self, room: Path) -> None:
        self._rows = sqlite3.connect(room / "seen.sqlite", isolation_level=None)
        self._rows.execute("PRAGMA journal_mode=OFF")
        self._rows.execute("PRAGMA synchronous=OFF")
        self._rows.execute(
            "CREATE TABLE seen (system INTEGER, query INTEGER, line INTEGER, digest BLOB,"
            " PRIMARY KEY (system, query)) WITHOUT ROWID"
        )
        self._rows.execute("BEGIN")

    def __enter__(self) -> "FirstAnswers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rows.close()

    def first(self, system: int, query: int, line: int, digest: bytes) -> tuple[int, bytes] | None:
        """Line and digest of the first answer of this system to this query; None where it is this one."""
        added = self._rows.execute(
            "INSERT OR IGNORE INTO seen VALUES (?, ?, ?, ?)", (system, query, line, digest)
        )
        if added.rowcount:
            return None
        found: tuple[int, bytes] = self._rows.execute(
            "SELECT line, digest FROM seen WHERE system = ? AND query = ?", (system, query)
        ).fetchone()
        return found


class CandidateLine(NamedTuple):
    """A line that becomes a candidate; as JSON it is a list."""

    line: int
    system: str
    query: int
    text: str
    opinion: str
    entities: list[Any]
    aside: str
    kept: bool


@dataclass(frozen=True, slots=True)
class _StoredAnswer:
    """What the database has of a system and a query."""

    digest: bytes
    text: str
    line: int | None
    file: str


class LineSorter:
    """Decides about rows by batches; memory holds one batch and the queries that were looked up last."""

    def __init__(self, project: Project, answers: Answers, tally: Tally, *, keep_exact: bool) -> None:
        self._answers, self._tally, self._keep_exact = answers, tally, keep_exact
        self._queries = KnownQueries(project)
        self._systems = dict(System.objects.filter(project=project).values_list("name", "pk"))
        self._numbers: dict[str, int] = {}
        self.out = self.without_reference = 0

    def run(self, room: Path) -> Iterator[CandidateLine]:
        """The lines that become candidates, in the order of the file; everything is counted meanwhile."""
        rows = self._answers.rows(self._tally.refuse)
        with FirstAnswers(room) as seen:
            while batch := list(islice(rows, BATCH)):
                yield from self._batch(batch, seen)

    def _batch(self, rows: list[Row], seen: FirstAnswers) -> Iterator[CandidateLine]:
        self._queries.learn(rows)
        fresh = [each for row in rows if (each := self._first(row, seen)) is not None]
        there = self._stored([(row, query) for row, query, _ in fresh])
        for row, query, digest in fresh:
            stored = there.get((self._systems.get(row.system, 0), query.pk))
            if stored is None:
                yield self._new(row, query)
            elif stored.digest == digest:
                self._tally.count("unchanged", row.line, row.system, row.text)
            else:
                where = f"in line {stored.line} of {stored.file}" if stored.file else "stored already"
                self._conflict(row, where, same_text=stored.text == row.text)

    def _first(self, row: Row, seen: FirstAnswers) -> tuple[Row, ProjectQuery, bytes] | None:
        """The row with its query, if the file had no answer of this system to this query before."""
        try:
            query = self._queries.of(row)
        except RowRefusedError as error:
            rule = "unknown" if isinstance(error, UnknownQueryError) else "refused"
            self._tally.refuse(
                row.line, error.field, error.reason, error.remedy, rule=rule, system=self._counted(row.system)
            )
            return None
        digest = _digest(row.text, row.opinion, row.entities)
        before = seen.first(self._number(row.system), query.pk, row.line, digest)
        if before is None:
            return row, query, digest
        line, first = before
        if first == digest:
            self._tally.count("repeated", row.line, row.system, row.text)
        else:
            self._conflict(row, f"in {self._answers.unit} {line}", same_text=None)
        return None

    def _counted(self, system: str) -> str:
        """The system's name where its counts are kept."""
        self._number(system)
        return system

    def _number(self, system: str) -> int:
        number = self._numbers.setdefault(system, len(self._numbers))
        if number >= MOST_SYSTEMS:
            raise FileRefusedError(
                f"{self._answers.source.name} names more than {MOST_SYSTEMS:,} systems. Look whether another "
                "column holds the system."
            )
        return number

    def _stored(self, wanted: Sequence[tuple[Row, ProjectQuery]]) -> dict[tuple[int, int], _StoredAnswer]:
        """What the database has of these systems and queries, by both keys."""
        by_system: dict[int, set[int]] = {}
        for row, query in wanted:
            if row.system in self._systems:
                by_system.setdefault(self._systems[row.system], set()).add(query.pk)
        found: dict[tuple[int, int], _StoredAnswer] = {}
        for system, queries in by_system.items():
            rows = Candidate.objects.filter(system=system, query__in=queries, answer=None)
            for query_pk, text, opinion, entities, line, file in rows.values_list(
                "query", "text", "opinion", "entities", "line", "source__name"
            ):
                digest = _digest(text, opinion, entities)
                found[system, query_pk] = _StoredAnswer(digest, text, line, file or "")
        return found

    def _conflict(self, row: Row, where: str, *, same_text: bool | None) -> None:
        what = "the same answer with another label or other entities" if same_text else "another answer"
        self._tally.refuse(
            row.line,
            "text",
            f"The system {quoted(row.system)} has {what} to this query, {where}.",
            _ONE_EACH,
            rule="conflict",
            system=row.system,
        )

    def _new(self, row: Row, query: ProjectQuery) -> CandidateLine:
        rule, aside, kept = "new", "", False
        if not row.text:
            rule, aside = "empty", Candidate.UnjudgedReason.EMPTY.value
        elif query.forms and exact_form(row.text) in query.forms:
            kept = self._keep_exact
            rule, aside = ("kept", "") if kept else ("exact", Candidate.UnjudgedReason.EXACT.value)
        self.out += query.out
        self.without_reference += not query.forms
        self._tally.count(rule, row.line, row.system, row.text)
        return CandidateLine(
            row.line, row.system, query.pk, row.text, row.opinion, list(row.entities), aside, kept
        )


def _digest(text: str, opinion: str, entities: Sequence[Any]) -> bytes:
    spans = [[each["start"], each["end"]] for each in entities] if entities else []
    return hashlib.blake2b(json.dumps([text, opinion, spans]).encode(), digest_size=16).digest()
