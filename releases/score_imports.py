"""Human scores from elsewhere: a file becomes a read-only project, or nothing at all."""

import hashlib
import json
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.utils import timezone

from annotation.importing.records import Passage, folded, plain_digest, plain_form, query_digest, quoted
from annotation.models import CandidatePassage, CuratedPassage, CuratedSet, Query, QuerySource
from annotation.services.importing import ImportRefusedError
from core.files.refusals import FileRefusedError, RowCounts
from core.files.text_source import Limits, TextSource, encoding_of, fingerprint, unchanged
from core.progress import Progress, silent
from core.projects.models import Project
from core.projects.services import ProjectError, create_project, record
from judgments.answer_files import LONGEST_SYSTEM, RowRefusedError
from judgments.models import Candidate, CandidateSource, ImportedScore, System
from releases.score_files import Options, Scale, ScoredRow, ScoreTable, open_table

# The rows of a file of scores, put together by query on disk: memory does not grow with the file.

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
        # The file lives as long as the import: nothing in it has to outlast a crash.
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
        query, seen, stored = self._query(row)
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
                self._unite(query, row, stored)
                self.further += 1
                return
            number, before = self._next(seen), None
        adds = self._unite(query, row, stored)
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
        identity = _identity(row, plain_form)
        stored = self._rows.execute(
            "SELECT number, seen, refs, passages, text, line FROM query WHERE identity = ?", (identity,)
        ).fetchone()
        if stored is not None:
            number, seen, refs, passages, text, line = stored
            if plain_form(text) != plain_form(row.query):
                raise RowRefusedError(
                    "query",
                    f"The id {quoted(row.query_id)} is another query's in line {line}: {quoted(text)}.",
                    "If the column is no id of a query, map it to nothing: --column query_id= (empty).",
                )
            return number, seen, (refs, passages)
        plain = not row.query_id and not row.passages
        digest = query_digest(row.query, row.context) if plain else _identity(row, folded).hex()
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
            own_mark, other_mark = marks if row.simulated else reversed(marks)
            raise RowRefusedError(
                "simulated",
                f"The same answer of {quoted(row.system)} is {own_mark} here and {other_mark} in line "
                f"{line}.",
                "Mark a score as simulated in all of its rows, or in none.",
            )

    def _only_reference(self, query: int, row: ScoredRow) -> bool:
        """Whether an earlier row has the same answer, score and mark, with none of this row's references."""
        same = self._rows.execute(
            "SELECT refs FROM answer WHERE query = ? AND text = ? AND mean = ? AND simulated = ?",
            (query, row.answer, row.mean, row.simulated),
        )
        references = set(row.references)
        return any(refs != "[]" and references.isdisjoint(json.loads(refs)) for (refs,) in same)

    def _unite(self, query: int, row: ScoredRow, stored: tuple[str, str]) -> bool:
        """Add what a row says about its query to what is known; whether that was anything."""
        refs = json.loads(stored[0])
        passages = json.loads(stored[1])
        texts = {each["text"] for each in passages}
        more = [each for each in row.references if each not in refs]
        others = [_store_passage(each) for each in row.passages if each.text not in texts]
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
        while batch := list(islice(queries, _FEW)):
            answers = self._rows.execute(
                "SELECT query, system, text, mean, n, ratings, line, simulated FROM answer"
                " WHERE query BETWEEN ? AND ? ORDER BY query, system",
                (batch[0][0], batch[-1][0]),
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
                    for number, key, digest, text, context, passages, refs, kind, line in batch
                ],
                [
                    SpooledAnswer(query, system, text, mean, n, json.loads(ratings), line, bool(simulated))
                    for query, system, text, mean, n, ratings, line, simulated in answers
                ],
            )

    @property
    def simulated(self) -> int:
        """How many of the answers have a score that a program gave."""
        count: int = self._rows.execute("SELECT COUNT(*) FROM answer WHERE simulated").fetchone()[0]
        return count

    def per_system(self) -> dict[str, int]:
        """How many answers each system has."""
        counts = dict(self._rows.execute("SELECT system, COUNT(*) FROM answer GROUP BY system"))
        return {name: counts.get(number, 0) for number, name in enumerate(self.systems)}


def _identity(row: ScoredRow, form: Callable[[str], str]) -> bytes:
    """What rows about one query share: its id, or its text in this form with the same turns and passages."""
    if row.query_id:
        parts = ["id", row.query_id]
    else:
        parts = ["text", form(row.query), *map(form, row.context), "", *(p.text for p in row.passages)]
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def _store_passage(passage: Passage) -> dict[str, Any]:
    return asdict(passage)


# What is stored of them.

FORMAT = "scores"
_REASON = "imported with its human scores"


class Store:
    """Writes the project and everything in it, in one transaction; `report` says what."""

    def __init__(  # noqa: PLR0917  # made in one place
        self,
        options: Options,
        table: ScoreTable,
        spool: Spool,
        digest: str,
        owner: Any,
        actor: Any,
        progress: Progress,
    ) -> None:
        self.options, self.table, self.spool, self.digest = options, table, spool, digest
        self.owner, self.actor, self.progress = owner, actor, progress
        self.now = timezone.now()
        self.report = self._report()
        self.done = 0

    @transaction.atomic
    def run(self) -> Project:
        """Store everything; ProjectError where the project's name is taken."""
        options, name, report = self.options, self.table.source.name, self.report
        try:
            project = create_project(
                slug=options.slug,
                title=(options.title or f"Human scores of {name}")[:200],
                owner=self.owner,
                language=options.language,
                licence=options.licence,
                read_only=True,
                actor=self.actor,
            )
        except ProjectError as error:
            raise ProjectError(
                f"There is already a project {options.slug!r}. Name another one: --project NAME."
            ) from error
        source_fields: dict[str, Any] = {
            "project": project,
            "name": name,
            "format": FORMAT,
            "sha256": self.digest,
            "options": options.reading(),
            "report": report,
            "created_by": self.actor,
            "created_at": self.now,
        }
        queries = QuerySource.objects.create(
            **source_fields, state=QuerySource.State.READY, finished_at=self.now
        )
        answers = CandidateSource.objects.create(**source_fields)
        systems = self._systems(project)
        for batch, theirs in self.spool.batches():
            keys = self._queries(project, queries, batch)
            self._answers(answers, systems, keys, theirs)
            self.done += len(theirs)
            self.progress(self.done, self.spool.answers, "Storing")
        record(
            project=project,
            action="scores.imported",
            subject=name,
            actor=self.actor,
            details={name: report[name] for name in ("queries", "answers", "systems")},
        )
        return project

    def _report(self) -> dict[str, Any]:
        return {
            "file": self.table.source.name,
            "sha256": self.digest,
            "format": self.table.format,
            "format_words": self.table.description,
            "mapping": self.table.mapping,
            "scale": [self.options.scale.low, self.options.scale.high],
            "queries": self.spool.queries,
            "answers": self.spool.answers,
            "further": self.spool.further,
            "simulated": self.spool.simulated,
            **encoding_of(self.table.source),
            "read_as": self.table.reading(self.spool.counts()).as_json(),
            "hints": self.table.hints(),
            "counts": self.spool.counts().as_json(),
            "systems": self.spool.per_system(),
        }

    def _systems(self, project: Project) -> list[int]:
        """Keys of the systems by their numbers."""
        created = System.objects.bulk_create(
            System(
                project=project,
                name=name,
                kind=System.Kind.HUMAN if name == System.PEOPLE else System.Kind.PROGRAM,
                created_at=self.now,
            )
            for name in self.spool.systems
        )
        return [each.pk for each in created]

    def _queries(self, project: Project, source: QuerySource, batch: list[SpooledQuery]) -> dict[int, int]:
        """Store queries with their passages; their keys by their numbers."""
        created = Query.objects.bulk_create(
            Query(
                project=project,
                source=source,
                key=each.key,
                text=each.text,
                digest=each.digest,
                plain_digest=plain_digest(each.text, each.context),
                context=[{"text": turn} for turn in each.context],
                type=each.type,
                line=each.line,
                references=each.references,
                status=Query.Status.ANSWERED,
                status_reason=_REASON,
            )
            for each in batch
        )
        with_passages = [
            (query, each.passages) for query, each in zip(created, batch, strict=True) if each.passages
        ]
        if with_passages:
            self._passages(with_passages)
        return {each.number: query.pk for each, query in zip(batch, created, strict=True)}

    def _passages(self, passages_of_queries: list[tuple[Query, list[dict[str, Any]]]]) -> None:
        """The passages that came with queries are their curated sets: people judged with them in view."""
        candidates = CandidatePassage.objects.bulk_create(
            CandidatePassage(
                query=query,
                rank=rank,
                key=f"p{rank}",
                text=each["text"],
                title=each["title"],
                url=each["url"],
                page=each["page"] or each["url"],
                start=each["start"],
                end=each["end"],
                imported_selected=True,
            )
            for query, passages in passages_of_queries
            for rank, each in enumerate(passages, 1)
        )
        sets = CuratedSet.objects.bulk_create(
            CuratedSet(query=query, rule="imported", created_at=self.now) for query, _ in passages_of_queries
        )
        by_query = {each.query_id: each for each in sets}
        CuratedPassage.objects.bulk_create(
            CuratedPassage(curated_set=by_query[each.query_id], candidate=each, position=each.rank)
            for each in candidates
        )

    def _answers(
        self, source: CandidateSource, systems: list[int], keys: dict[int, int], batch: list[SpooledAnswer]
    ) -> None:
        scale = self.options.scale
        created = Candidate.objects.bulk_create(
            Candidate(
                query_id=keys[each.query],
                system_id=systems[each.system],
                source=source,
                text=each.text,
                line=each.line,
                created_at=self.now,
            )
            for each in batch
        )
        ImportedScore.objects.bulk_create(
            ImportedScore(
                candidate=candidate,
                mean=each.mean,
                n=each.n,
                ratings=each.ratings,
                scale_low=scale.low,
                scale_high=scale.high,
                simulated=each.simulated,
            )
            for candidate, each in zip(created, batch, strict=True)
        )


#: Refused rows that one message names.
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did. `already`: the project has this file, and nothing was changed."""

    project: Project
    already: bool
    report: dict[str, Any]


def import_scores(
    *,
    path: Path,
    name: str = "",
    options: Options | None = None,
    owner: Any = None,
    actor: Any = None,
    room: Path | None = None,
    progress: Progress = silent,
    limits: Limits | None = None,
) -> ImportResult:
    """Import a table of human scores as a read-only project.

    The file is read and checked as a whole first; then everything is stored in one transaction. One row that
    cannot be taken refuses the file: ImportRefusedError names the lines and fields, and nothing was changed.
    A file that was imported before, read in the same way, gives the project that is there.
    """
    options = options or Options()
    name = (name or path.name)[:300]

    def at(done: int, total: int) -> None:
        progress(done, total, "Reading")

    try:
        with tempfile.TemporaryDirectory(dir=room, prefix="scores-") as folder:
            source = TextSource(
                path,
                name=name,
                encoding=options.encoding,
                sheet=options.sheet,
                limits=limits,
                progress=at,
            )
            before, digest = path.stat(), fingerprint(path)
            earlier = _find_earlier(digest, options)
            if earlier is not None:
                return earlier
            _checked(options)
            table = open_table(
                source,
                format=options.format,
                named_columns=options.columns,
                header=options.header,
                header_row=options.header_row,
            )
            _consistent(table, options)
            with Spool(Path(folder), named="system" in table.mapping, names=options.systems) as spool:
                _read(table, options.scale, spool)
                if not unchanged(path, before):
                    raise FileRefusedError(f"{name} was changed while it was read. Import it again.")
                options = replace(options, slug=options.slug or slug_of(name))
                store = Store(options, table, spool, digest, owner, actor, progress)
                return ImportResult(store.run(), False, store.report)
    except (FileRefusedError, ProjectError) as error:
        raise ImportRefusedError(str(error)) from error
    except OSError as error:
        raise ImportRefusedError(f"{name} could not be read: {error}.") from error


def slug_of(name: str) -> str:
    """A short name for the project of a file: `marco_all.csv.gz` becomes `marco_all`."""
    stem = re.sub(r"(\.[A-Za-z]{1,6}){1,2}$", "", Path(name).name)
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_").lower()[:80] or "scores"


def _find_earlier(digest: str, options: Options) -> ImportResult | None:
    """The project that has this file already; FileRefusedError where its name is another's."""
    rows = CandidateSource.objects.filter(sha256=digest, format=FORMAT, project__read_only=True)
    if options.slug:
        rows = rows.filter(project__slug=options.slug)
    for each in rows.select_related("project").order_by("pk"):
        if each.options == options.reading():
            return ImportResult(each.project, True, dict(each.report))
    if options.slug and rows.exists():
        raise FileRefusedError(
            f"The project {options.slug!r} has this file already, read in another way. "
            "To import it once more, give the project another name: --project NAME."
        )
    return None


def _checked(options: Options) -> None:
    try:
        if options.slug:
            validate_slug(options.slug)
    except ValidationError as error:
        raise FileRefusedError(
            f"--project {options.slug!r}: a short name has letters, digits, hyphens and underscores."
        ) from error
    for option, value, most in (("licence", options.licence, 80), ("language", options.language, 35)):
        if len(value) > most:
            raise FileRefusedError(f"--{option}: at most {most} characters are kept.")
    for name in options.systems:
        if not name.strip() or len(name) > LONGEST_SYSTEM:
            raise FileRefusedError(
                f"--system-names: {name!r} is no name of 1 to {LONGEST_SYSTEM} characters."
            )
    if len(set(options.systems)) < len(options.systems):
        raise FileRefusedError("--system-names: two systems have one name.")


def _consistent(table: ScoreTable, options: Options) -> None:
    column = table.mapping.get("system")
    if column and options.systems:
        raise FileRefusedError(
            f"{table.source.name} names its systems in the column {column!r}. "
            "Leave --system-names out, or map the column to nothing: --column system= (empty)."
        )


def _read(table: ScoreTable, scale: Scale, spool: Spool) -> None:
    """Everything into the spool; FileRefusedError with the first refused rows if there are any."""
    refused: list[str] = []
    count = 0

    def refuse(line: int, field: str, reason: str, remedy: str) -> None:
        nonlocal count
        count += 1
        if len(refused) < _SHOWN:
            where = f"{table.source.name}, {table.unit} {line}"
            where = where if field == table.unit else f"{where}, {table.named(field)}"
            refused.append(f"{where}: {reason} {remedy}".rstrip())

    for row in table.rows(scale, refuse):
        try:
            spool.add(row)
        except RowRefusedError as error:
            refuse(row.line, error.field, error.reason, error.remedy)
    if refused:
        more = [f"… and {count - _SHOWN:,} more."] if count > _SHOWN else []
        raise FileRefusedError("\n".join([*refused, *more, "Nothing was imported."]))
    if not spool.answers:
        raise FileRefusedError(f"{table.source.name} has no row with an answer and its score.")
