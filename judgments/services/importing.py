"""Imports of systems' answers: a file becomes candidates; what is there already stays as it is."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.services.importing import ImportRefusedError, Progress, refuse_read_only, silent
from core.files.refusals import FileRefusedError, UnmappedError
from core.files.text_source import Limits, TextSource, encoding_of, fingerprint, unchanged
from core.projects.models import Project
from core.projects.services import record
from judgments.importing.formats import Answers, open_answers
from judgments.importing.line_sorter import CandidateLine, LineSorter
from judgments.importing.rows import STORED, Row, Tally
from judgments.models import Candidate, CandidateSource, System

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a file of answers. `system` names rows that name none; `keep_exact` judges copies too."""

    format: str = "auto"
    encoding: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    header: bool | None = None
    system: str = ""
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
        progress("Reading", done, total)

    try:
        with tempfile.TemporaryDirectory(dir=room, prefix="candidates-") as folder:
            source = TextSource(path, name=name, encoding=options.encoding, limits=limits, progress=at)
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
                "query_out": sorting.out,
                "without_reference": sorting.without_reference,
                "further": answers.further,
                "keep_exact": options.keep_exact,
                "dry_run": dry_run,
                "source": None,
            }
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
        source, format=options.format, given=options.columns, header=options.header, system=options.system
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
        while batch := list(islice(new, _BATCH)):
            Candidate.objects.bulk_create(
                Candidate(
                    query_id=each.query,
                    system_id=systems[each.system],
                    source=source,
                    text=each.text,
                    opinion=each.opinion,
                    entities=each.entities,
                    aside=each.aside,
                    kept=each.kept,
                    line=each.line,
                    created_at=source.created_at,
                )
                for each in batch
            )
            done += len(batch)
            self.progress("Storing", done, int(self.report["stored"]))

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


def preview(path: Path, *, name: str = "", options: Options | None = None, size: int = 20) -> Preview:
    """The first rows of a file, nothing looked up; ImportRefusedError as for the import."""
    options = options or Options()
    refused: list[tuple[int, str]] = []

    def note(line: int, field: str, reason: str, remedy: str) -> None:
        if len(refused) < size:
            refused.append((line, " ".join([f"{field}: {reason}", remedy]).strip()))

    try:
        source = TextSource(path, name=name, encoding=options.encoding)
        answers = _opened(source, options)
        rows = list(islice(answers.rows(note), size))
    except UnmappedError as error:
        raise ImportRefusedError(str(error), error.columns) from error
    except FileRefusedError as error:
        raise ImportRefusedError(str(error)) from error
    return Preview(
        answers.format,
        answers.description,
        answers.unit,
        answers.columns,
        answers.mapping,
        rows,
        refused,
        source.encoding_said,
    )
