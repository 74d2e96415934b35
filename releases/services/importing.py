"""Human scores from elsewhere: a file becomes a read-only project, or nothing at all."""

import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import transaction
from django.utils import timezone

from annotation.models import CandidatePassage, CuratedPassage, CuratedSet, Query, QuerySource
from annotation.services.importing import ImportRefusedError, Progress, silent
from core.files.refusals import FileRefusedError
from core.files.text_source import Limits, TextSource, encoding_of, fingerprint, unchanged
from core.projects.models import Project
from core.projects.services import ProjectError, create_project, record
from judgments.answer_files import LONGEST_SYSTEM, RowRefusedError
from judgments.models import Candidate, CandidateSource, ImportedScore, System
from releases.importing.rows import Options, Scale, ScoreTable, open_table
from releases.importing.spool import Spool, SpooledAnswer, SpooledQuery

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
        kept: dict[str, Any] = {
            "project": project,
            "name": name,
            "format": FORMAT,
            "sha256": self.digest,
            "options": options.reading(),
            "report": report,
            "created_by": self.actor,
            "created_at": self.now,
        }
        queries = QuerySource.objects.create(**kept, state=QuerySource.State.READY, finished_at=self.now)
        answers = CandidateSource.objects.create(**kept)
        systems = self._systems(project)
        for some, theirs in self.spool.batches():
            keys = self._queries(project, queries, some)
            self._answers(answers, systems, keys, theirs)
            self.done += len(theirs)
            self.progress("Storing", self.done, self.spool.answers)
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
            "counts": self.spool.counts().as_json(),
            "systems": self.spool.per_system(),
        }

    def _systems(self, project: Project) -> list[int]:
        """Keys of the systems by their numbers."""
        made = System.objects.bulk_create(
            System(
                project=project,
                name=name,
                kind=System.Kind.HUMAN if name == System.PEOPLE else System.Kind.PROGRAM,
                created_at=self.now,
            )
            for name in self.spool.systems
        )
        return [each.pk for each in made]

    def _queries(self, project: Project, source: QuerySource, some: list[SpooledQuery]) -> dict[int, int]:
        """Store queries with their passages; their keys by their numbers."""
        made = Query.objects.bulk_create(
            Query(
                project=project,
                source=source,
                key=each.key,
                text=each.text,
                digest=each.digest,
                context=[{"text": turn} for turn in each.context],
                type=each.type,
                line=each.line,
                references=each.references,
                status=Query.Status.ANSWERED,
                status_reason=_REASON,
            )
            for each in some
        )
        with_passages = [
            (query, each.passages) for query, each in zip(made, some, strict=True) if each.passages
        ]
        if with_passages:
            self._passages(with_passages)
        return {each.number: query.pk for each, query in zip(some, made, strict=True)}

    def _passages(self, found: list[tuple[Query, list[dict[str, Any]]]]) -> None:
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
            for query, passages in found
            for rank, each in enumerate(passages, 1)
        )
        sets = CuratedSet.objects.bulk_create(
            CuratedSet(query=query, rule="imported", created_at=self.now) for query, _ in found
        )
        by_query = {each.query_id: each for each in sets}
        CuratedPassage.objects.bulk_create(
            CuratedPassage(curated_set=by_query[each.query_id], candidate=each, position=each.rank)
            for each in candidates
        )

    def _answers(
        self, source: CandidateSource, systems: list[int], keys: dict[int, int], some: list[SpooledAnswer]
    ) -> None:
        scale = self.options.scale
        made = Candidate.objects.bulk_create(
            Candidate(
                query_id=keys[each.query],
                system_id=systems[each.system],
                source=source,
                text=each.text,
                line=each.line,
                created_at=self.now,
            )
            for each in some
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
            for candidate, each in zip(made, some, strict=True)
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
        progress("Reading", done, total)

    try:
        with tempfile.TemporaryDirectory(dir=room, prefix="scores-") as folder:
            source = TextSource(path, name=name, encoding=options.encoding, limits=limits, progress=at)
            before, digest = path.stat(), fingerprint(path)
            there = _there(digest, options)
            if there is not None:
                return there
            _checked(options)
            table = open_table(source, format=options.format, given=options.columns, header=options.header)
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


def _there(digest: str, options: Options) -> ImportResult | None:
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
