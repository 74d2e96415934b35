"""Imports of systems' answers: a file becomes candidates; what is there already stays as it is.

Two passes: `LineSorter` finds out which query each line means and what becomes of it, and only reads the
database; what is new is then stored in one transaction. So a dry run and an import decide alike.
"""

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.importing.records import normal, plain_digest, plain_form, query_digest, quoted
from annotation.models import Query
from annotation.selectors.queries import of_project, queries_by_text
from annotation.services.importing import ImportRefusedError, refuse_read_only
from core.files.refusals import FileRefusedError, UnmappedError
from core.files.text_source import Limits, TextSource, encoding_of, fingerprint, unchanged
from core.progress import Progress, silent
from core.projects.models import Project
from core.projects.services import record
from judgments.answer_files import STORED, Answers, Row, RowRefusedError, Tally, open_answers
from judgments.models import Candidate, CandidateSource, System
from judgments.selectors.candidates import OUT, exact_form, reference_forms

# Which query of the project a line means: by its id, or by its text.

#: Queries that are remembered at most, so that memory does not grow with the file.
_MOST = 5000


class UnknownQueryError(RowRefusedError):
    """The project does not have the query of a line."""


@dataclass(frozen=True, slots=True)
class ProjectQuery:
    """A query of the project; `forms` are its references as copies equal them, `out`: it is not judged.

    `other_spelling`: it was found by a text that has other typographic marks or wide letters.
    """

    pk: int
    text: str
    forms: frozenset[str]
    out: bool
    other_spelling: bool


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
        row_list = list(rows)
        keys = {key for row in row_list for key in (row.query_id, row.query.strip()) if key}
        digests = {_query_digest(row): _query_digest(row, plain_digest) for row in row_list if row.query}
        keys -= self._by_key.keys()
        digests = {digest: plain for digest, plain in digests.items() if digest not in self._by_digest}
        if not keys and not digests:
            return
        self._by_key.update(dict.fromkeys(keys))
        self._by_digest.update(dict.fromkeys(digests))
        queries = of_project(self._project).only("key", "digest", "plain_digest", "text", "status")
        by_key = {query.key: query for query in queries.filter(key__in=keys)}
        by_digest = queries_by_text(queries, digests)
        forms = reference_forms({query.pk for query in (*by_key.values(), *by_digest.values())})

        def to_project_query(query: Query, digest: str) -> ProjectQuery:
            return ProjectQuery(
                query.pk,
                plain_form(normal(query.text)),
                forms.get(query.pk, frozenset()),
                query.status in OUT,
                query.digest != digest,
            )

        self._by_key.update((key, to_project_query(query, query.digest)) for key, query in by_key.items())
        self._by_digest.update(
            (digest, to_project_query(query, digest)) for digest, query in by_digest.items()
        )

    def of(self, row: Row) -> ProjectQuery:
        """The query of a row that was learned. RowRefusedError: there is none, or its text is another's."""
        by_id = self._by_key.get(row.query_id) if row.query_id else None
        if by_id is not None:
            if row.query and plain_form(normal(row.query)) != by_id.text:
                raise RowRefusedError(
                    "query_id",
                    f"The query with the id {quoted(row.query_id)} is another than {quoted(row.query)}.",
                    "If this column has no ids of queries, choose “not in the file” for it "
                    "(on the command line: --column query_id=).",
                )
            return by_id
        query = None
        if row.query:
            query = None if row.query_id else self._by_key.get(row.query.strip())
            query = query or self._by_digest.get(_query_digest(row))
        if query is None:
            raise _unknown(row)
        return query


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


def _query_digest(row: Row, digest: Callable[[str, Sequence[str]], str] = query_digest) -> str:
    return digest(normal(row.query), [normal(turn) for turn in row.context])


ROWS_AT_ONCE = 1000
#: More systems than that no comparison has; it is the wrong column.
MOST_SYSTEMS = 1000
_ONE_EACH = "A system has one answer per query; give a second answer to a system of another name."


class FirstAnswers:
    """Remembers the first answer of each system to each query: where it is, and what it is.

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
        earlier: tuple[int, bytes] = self._rows.execute(
            "SELECT line, digest FROM seen WHERE system = ? AND query = ?", (system, query)
        ).fetchone()
        return earlier


class CandidateLine(NamedTuple):
    """A line that becomes a candidate; as JSON it is a list."""

    line: int
    system: str
    query: int
    text: str
    opinion: str
    entities: list[Any]
    aside: str
    is_kept: bool


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
        self.out = self.without_reference = self.other_spelling = 0

    def run(self, room: Path) -> Iterator[CandidateLine]:
        """The lines that become candidates, in the order of the file; everything is counted meanwhile."""
        rows = self._answers.rows(self._tally.refuse)
        with FirstAnswers(room) as seen:
            while batch := list(islice(rows, ROWS_AT_ONCE)):
                yield from self._batch(batch, seen)

    def _batch(self, rows: list[Row], seen: FirstAnswers) -> Iterator[CandidateLine]:
        self._queries.learn(rows)
        fresh = [each for row in rows if (each := self._first(row, seen)) is not None]
        stored_answers = self._stored([(row, query) for row, query, _ in fresh])
        for row, query, digest in fresh:
            stored = stored_answers.get((self._systems.get(row.system, 0), query.pk))
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

    def _stored(self, pairs: Sequence[tuple[Row, ProjectQuery]]) -> dict[tuple[int, int], _StoredAnswer]:
        """What the database has of these systems and queries, by both keys."""
        by_system: dict[int, set[int]] = {}
        for row, query in pairs:
            if row.system in self._systems:
                by_system.setdefault(self._systems[row.system], set()).add(query.pk)
        stored_answers: dict[tuple[int, int], _StoredAnswer] = {}
        for system, queries in by_system.items():
            rows = Candidate.objects.filter(system=system, query__in=queries, answer=None)
            for query_pk, text, opinion, entities, line, file in rows.values_list(
                "query", "text", "opinion", "entities", "line", "source__name"
            ):
                digest = _digest(text, opinion, entities)
                stored_answers[system, query_pk] = _StoredAnswer(digest, text, line, file or "")
        return stored_answers

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
        rule, aside, is_kept = "new", "", False
        if not row.text:
            rule, aside = "empty", Candidate.UnjudgedReason.EMPTY.value
        elif query.forms and exact_form(row.text) in query.forms:
            is_kept = self._keep_exact
            rule, aside = ("kept", "") if is_kept else ("exact", Candidate.UnjudgedReason.EXACT.value)
        self.out += query.out
        self.without_reference += not query.forms
        self.other_spelling += query.other_spelling
        self._tally.count(rule, row.line, row.system, row.text)
        return CandidateLine(
            row.line, row.system, query.pk, row.text, row.opinion, list(row.entities), aside, is_kept
        )


def _digest(text: str, opinion: str, entities: Sequence[Any]) -> bytes:
    spans = [[each["start"], each["end"]] for each in entities] if entities else []
    return hashlib.blake2b(json.dumps([text, opinion, spans]).encode(), digest_size=16).digest()


_CANDIDATES_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a file of answers.

    `system` names rows that name none. Each column of `systems_from` has the answers of the system of its
    name. `keep_exact` judges copies too.
    """

    format: str = "auto"
    encoding: str = ""
    #: Of a workbook; empty for the first one that holds data.
    sheet: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    header: bool | None = None
    #: The row that names the columns; 0 for the first one that holds something.
    header_row: int = 0
    system: str = ""
    systems_from: Sequence[str] = ()
    strict: bool = False
    keep_exact: bool = False


def import_candidates(
    *,
    project: Project,
    path: Path,
    name: str = "",
    options: Options | None = None,
    actor: Any = None,
    dry_run: bool = False,
    room: Path | None = None,
    progress: Progress = silent,
    limits: Limits | None = None,
    commit: Callable[[Callable[[], Any]], Any] | None = None,
) -> dict[str, Any]:
    """Import a file of answers into a project and return the report; `source` in it is the new source's id.

    The file is read and sorted first; then all new candidates are stored in one transaction, or none. Where
    nothing is new, nothing is stored and `source` is None, so that importing a file again changes nothing.
    With `dry_run` the database is only read. `commit` runs the transaction instead, for a job whose effect it
    is. ImportRefusedError says why a file cannot be imported.
    """
    refuse_read_only(project)
    options = options or Options()
    name = (name or path.name)[:300]

    def at(done: int, total: int) -> None:
        progress(done, total, "Reading")

    try:
        with tempfile.TemporaryDirectory(dir=room, prefix="candidates-") as folder:
            source = TextSource(
                path,
                name=name,
                encoding=options.encoding,
                sheet=options.sheet,
                limits=limits,
                progress=at,
            )
            before = path.stat()
            answers = _opened(source, options)
            tally = Tally(name, answers.unit, strict=options.strict)
            sorting = LineSorter(project, answers, tally, keep_exact=options.keep_exact)
            spool = Path(folder) / "new.jsonl"
            _spool(sorting.run(Path(folder)), spool)
            report = tally.report() | {
                "file": name,
                "sha256": fingerprint(path),
                "format": answers.format,
                "format_words": answers.description,
                "unit": answers.unit,
                **encoding_of(source),
                "read_as": answers.read_as(tally.counts()).as_json(),
                "lines_read": answers.lines_read,
                "hints": answers.hints(),
                "query_out": sorting.out,
                "without_reference": sorting.without_reference,
                "other_spelling": sorting.other_spelling,
                "further": answers.further,
                "keep_exact": options.keep_exact,
                "dry_run": dry_run,
                "source": None,
            }
            # The digest was taken after the rows: it must be that of the file they were read from.
            if not unchanged(path, before):
                raise FileRefusedError(f"{name} was changed while it was read. Import it again.")
            if not dry_run:
                store = _Store(project, options, report, actor, spool, progress)
                (commit or _in_one_transaction)(store.run)
            return report
    except UnmappedError as error:
        raise ImportRefusedError(str(error), error.columns) from error
    except FileRefusedError as error:
        raise ImportRefusedError(str(error)) from error
    except OSError as error:
        raise ImportRefusedError(f"{name} could not be read: {error}.") from error


def _opened(source: TextSource, options: Options) -> Answers:
    return open_answers(
        source,
        format=options.format,
        mapping=options.columns,
        header=options.header,
        header_row=options.header_row,
        system=options.system,
        systems_from=options.systems_from,
    )


def _in_one_transaction(run: Callable[[], Any]) -> Any:
    with transaction.atomic():
        return run()


def _spool(rows: Iterator[CandidateLine], path: Path) -> None:
    """What is new as lines of JSON, so that the transaction need not wait for the file."""
    with path.open("w", encoding="utf-8") as file:
        for each in rows:
            file.write(json.dumps(each) + "\n")


def _spooled(path: Path) -> Iterator[CandidateLine]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield CandidateLine(*json.loads(line))


class _Store:
    """Writes what is new; `run` must be called in a transaction."""

    def __init__(  # noqa: PLR0917  # made in one place
        self,
        project: Project,
        options: Options,
        report: dict[str, Any],
        actor: Any,
        spool: Path,
        progress: Progress,
    ) -> None:
        self.project, self.options, self.report, self.actor = project, options, report, actor
        self.spool, self.progress = spool, progress

    def run(self) -> dict[str, Any]:
        """Write all rows; the report."""
        if not self.report["stored"]:
            return self.report
        source = CandidateSource.objects.create(
            project=self.project,
            name=self.report["file"],
            format=self.report["format"],
            sha256=self.report["sha256"],
            options=asdict(self.options) | {"columns": dict(self.options.columns)},
            created_by=self.actor,
            created_at=timezone.now(),
        )
        try:
            self._rows(source)
        except IntegrityError as error:
            raise FileRefusedError(
                f"{self.report['file']}: another import brought in the same answers meanwhile. "
                "Import it again."
            ) from error
        self.report["source"] = source.pk
        source.report = self.report
        source.save(update_fields=["report"])
        record(
            project=self.project,
            action="candidates.imported",
            subject=self.report["file"],
            actor=self.actor,
            details={
                "source": source.pk,
                "stored": self.report["stored"],
                "systems": sorted(self.report["systems"])[:20],
            },
        )
        return self.report

    def _rows(self, source: CandidateSource) -> None:
        new, systems, done = _spooled(self.spool), self._systems(source), 0
        while batch := list(islice(new, _CANDIDATES_AT_ONCE)):
            Candidate.objects.bulk_create(
                Candidate(
                    query_id=each.query,
                    system_id=systems[each.system],
                    source=source,
                    text=each.text,
                    opinion=each.opinion,
                    entities=each.entities,
                    aside=each.aside,
                    kept=each.is_kept,
                    line=each.line,
                    created_at=source.created_at,
                )
                for each in batch
            )
            done += len(batch)
            self.progress(done, int(self.report["stored"]), "Storing")

    def _systems(self, source: CandidateSource) -> dict[str, int]:
        """Keys of all systems of the file; new ones are made."""
        kinds = {System.PEOPLE: System.Kind.HUMAN}
        System.objects.bulk_create(
            (
                System(
                    project=self.project,
                    name=name,
                    kind=kinds.get(name, System.Kind.PROGRAM),
                    created_at=source.created_at,
                )
                for name, counts in self.report["systems"].items()
                if any(counts[rule] for rule in STORED)
            ),
            ignore_conflicts=True,
        )
        return dict(System.objects.filter(project=self.project).values_list("name", "pk"))


@dataclass(frozen=True, slots=True)
class Preview:
    """A file of answers as it would be read: its format, its columns if it has any, and its first rows."""

    format: str
    description: str
    unit: str
    columns: list[str]
    mapping: dict[str, str]
    rows: list[Row]
    refusals: list[tuple[int, str]]
    encoding: str = ""
    sheets: list[str] = field(default_factory=list)


def preview(path: Path, *, name: str = "", options: Options | None = None, size: int = 20) -> Preview:
    """The first rows of a file, nothing looked up; ImportRefusedError as for the import."""
    options = options or Options()
    refused: list[tuple[int, str]] = []
    sheets: list[str] = []

    def note(line: int, field: str, reason: str, remedy: str) -> None:
        if len(refused) < size:
            refused.append((line, " ".join([f"{field}: {reason}", remedy]).strip()))

    try:
        source = TextSource(path, name=name, encoding=options.encoding, sheet=options.sheet)
        sheets = source.workbook.sheets if source.workbook else []
        answers = _opened(source, options)
        rows = list(islice(answers.rows(note), size))
    except UnmappedError as error:
        raise ImportRefusedError(str(error), error.columns, sheets) from error
    except FileRefusedError as error:
        raise ImportRefusedError(str(error), sheets=sheets) from error
    return Preview(
        answers.format,
        answers.description,
        answers.unit,
        answers.columns,
        answers.mapping,
        rows,
        refused,
        source.encoding_said,
        sheets,
    )
