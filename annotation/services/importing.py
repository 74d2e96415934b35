"""Imports: a file becomes a ready source with its sampled queries, or nothing at all."""

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.candidates import Region, choose
from annotation.importing.datasets import MEMBER
from annotation.importing.detect import open_reader
from annotation.importing.formats import Reader, hints_of
from annotation.importing.records import Part, Record, plain_digest, query_digest, stored_record
from annotation.importing.run import Survey, fetch, survey
from annotation.importing.selection import LONGEST, SHORTEST, Design, SampledQuery, Screen
from annotation.models import CandidatePassage, CuratedPassage, CuratedSet, Query, QuerySource, QueryStep
from annotation.selectors.queries import queries_by_text
from core.files.refusals import (
    BadFieldError,
    FileRefusedError,
    LookedEnoughError,
    Refusals,
    RowCounts,
    UnmappedError,
)
from core.files.text_source import Limits, TextSource, encoding_of, fingerprint
from core.progress import Progress, silent
from core.projects.models import Project
from core.projects.services import record, why_read_only


@transaction.atomic
def fold_candidates(query_pks: Sequence[int]) -> int:
    """Fold repetitions among candidates that an import brought; how many. Chosen ones are never folded.

    For the import, before anybody sees them: what has been shown must not vanish. Again changes nothing.
    """
    by_query: dict[int, list[CandidatePassage]] = defaultdict(list)
    unfolded = CandidatePassage.objects.filter(query__in=query_pks, folded_into=None)
    for candidate in unfolded.order_by("query", "rank"):
        by_query[candidate.query_id].append(candidate)
    folded = []
    for candidates in by_query.values():
        choices = choose([_region(candidate) for candidate in candidates], len(candidates))
        for candidate, choice in zip(candidates, choices, strict=True):
            if choice.folded_into is not None:
                candidate.folded_into = candidates[choice.folded_into]
                candidate.fold_reason = choice.reason
                folded.append(candidate)
    CandidatePassage.objects.bulk_update(folded, ["folded_into", "fold_reason"], batch_size=200)
    return len(folded)


def _region(candidate: CandidatePassage) -> Region:
    return Region(
        candidate.key,
        candidate.text,
        candidate.page,
        candidate.start,
        candidate.end,
        candidate.rank,
        candidate.imported_selected,
    )


IMPORTED_AS_SCREENED = "imported as screened"


def query_of(
    source: QuerySource, each: Record, sampled: SampledQuery, digest: str, *, accepted: bool
) -> Query:
    """A query of a source; accepted ones need no screening."""
    return Query(
        project=source.project,
        source=source,
        key=each.id or f"q-{digest[:16]}",
        text=each.text,
        digest=digest,
        plain_digest=plain_digest(each.text, each.context),
        context=context_of(each),
        conversation=each.conversation,
        turn=each.turn,
        type=each.type,
        yes_no=bool(each.yes_no),
        count=sampled.count,
        stratum=sampled.stratum,
        weight=sampled.weight,
        line=each.line,
        references=each.references,
        extra=each.extra,
        status=Query.Status.ACCEPTED if accepted else Query.Status.WAITING,
        status_reason=IMPORTED_AS_SCREENED if accepted else "",
    )


def context_of(each: Record) -> list[dict[str, str]]:
    """`Query.context`: the turns before it, with what was replied to those where the file says so."""
    replies = each.replies or [""] * len(each.context)
    return [
        {"text": text, "answer": reply} if reply else {"text": text}
        for text, reply in zip(each.context, replies, strict=True)
    ]


def candidates_of(each: Record, query: Query) -> list[CandidatePassage]:
    """The query's passages in their order; one with the key of an earlier one gets a key of its own."""
    rows, keys = [], set()
    for rank, passage in enumerate(each.passages, 1):
        key = passage.key or f"p{rank}"
        if key in keys:
            key = f"{key[:180]}#{rank}"
        keys.add(key)
        rows.append(
            CandidatePassage(
                query=query,
                rank=rank,
                key=key,
                text=passage.text,
                title=passage.title,
                url=passage.url,
                page=passage.page or passage.url,
                start=passage.start,
                end=passage.end,
                imported_selected=passage.selected,
            )
        )
    return rows


def texts_of(queries: Iterable[Query]) -> dict[int, set[str]]:
    """The texts of the queries' passages and references."""
    texts = {query.pk: set(query.references) for query in queries}
    passages = CandidatePassage.objects.filter(query__in=list(texts))
    for query, text in passages.values_list("query", "text").iterator():
        texts[query].add(text)
    return texts


START_AT = {
    "screening": "editors screen them first",
    "curation": "accepted as screened by the rules: passages are chosen next",
    "distillation": "accepted, with the passages that the file has selected: answers are written next",
}
_BATCH = 500
#: Lines that a look reads before it says how many faults there are.
LOOKED_AT = 20_000
_HAS_ALREADY = "The project has this query already:"
_NOT_ADDED = "were not added. The passages of a query come with its first import."
_STATUS = Query.Status
#: Says what is done: words, how far, of how much.


class ImportRefusedError(Exception):
    """The file was not imported, and nothing of it is there; the message says why and what to do.

    `columns` are those of a file in which none was found to hold the query, `sheets` those of a workbook.
    """

    def __init__(self, message: str, columns: Sequence[str] = (), sheets: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.columns, self.sheets = list(columns), list(sheets)


@dataclass(frozen=True, slots=True)
class Options:
    """How to read, screen and sample a file, and where its queries begin. Defaults take everything."""

    format: str = "auto"
    encoding: str = ""
    #: Of a workbook; empty for the first one that holds data.
    sheet: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    header: bool | None = None
    #: The row that names the columns; 0 for the first one that holds something.
    header_row: int = 0
    without: tuple[str, ...] = ()
    words: tuple[str, ...] | None = None
    shortest: int = SHORTEST
    longest: int = LONGEST
    design: Design = field(default_factory=Design)
    strict: bool = False
    start_at: str = "screening"
    #: The queries written so that they stand alone, by id; kept beside the query, never shown as its text.
    rewrites: Mapping[str, str] | None = None

    def check(self) -> Screen:
        """The rules of screening; ImportRefusedError for options that make no sense."""
        if self.start_at not in START_AT:
            raise ImportRefusedError(
                f"Queries cannot start at {self.start_at!r}; they can at: {', '.join(START_AT)}."
            )
        try:
            self.design.check()
            return Screen(
                without=self.without, listed_terms=self.words, shortest=self.shortest, longest=self.longest
            )
        except ValueError as error:
            raise ImportRefusedError(str(error)) from error

    def as_facts(self) -> dict[str, Any]:
        """What the source keeps, ready for JSON; of an own word list and of rewrites how many they are."""
        facts = asdict(self)
        facts["rewrites"] = None if self.rewrites is None else len(self.rewrites)
        facts["words"] = None if self.words is None else len(self.words)
        facts["without"] = list(self.without)
        return facts


def refuse_read_only(project: Project) -> None:
    """ImportRefusedError for a project whose data come from elsewhere."""
    if why := why_read_only(project):
        raise ImportRefusedError(why)


def import_queries(
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
    commit: Callable[[Callable[[], int]], int] | None = None,
) -> dict[str, Any]:
    """Import a file into a project and return the report; `source` in it is the new source's id.

    Reading takes as long as the file is; the database is written at the end, in one transaction, so that
    all rows are there or none. With `dry_run` it is not written at all. Temporary files go into `room`.
    `commit` runs the transaction instead, for a job whose effect it is. ImportRefusedError says why a file
    cannot be imported.
    """
    refuse_read_only(project)
    options = options or Options()
    screen = options.check()
    name = (name or path.name)[:300]
    stage = "Counting"

    def at(done: int, total: int) -> None:
        progress(done, total, stage)

    try:
        with tempfile.TemporaryDirectory(dir=room, prefix="import-") as folder:
            source = TextSource(
                path,
                name=name,
                encoding=options.encoding,
                sheet=options.sheet,
                limits=limits,
                progress=at,
            )
            sha256 = fingerprint(path)
            reader = _opened(source, Path(folder), options)
            first_pass = survey(
                reader, screen=screen, design=options.design, room=Path(folder), strict=options.strict
            )
            stage = "Fetching the sample"
            spool = Path(folder) / "sample.jsonl"
            rewritten = _spool(first_pass, spool, options.rewrites or {})
            report = first_pass.report() | {
                "file": name,
                "sha256": sha256,
                "start_at": options.start_at,
                **encoding_of(source),
                "read_as": reader.reading(first_pass.counts()).as_json(),
                "hints": hints_of(reader, options.columns, first_pass.refusals),
            }
            if options.rewrites:
                report["rewrites"] = _report_rewrites(rewritten, first_pass, options.rewrites, name)
            if dry_run:
                return report | {"stored": 0, "already_there": 0, "dry_run": True}
            progress(0, len(first_pass.sample), "Storing")
            store = _Store(project, name, sha256, reader, options, report, actor, spool, progress)
            (commit or _in_one_transaction)(store.run)
            return store.report
    except FileRefusedError as error:
        raise ImportRefusedError(str(error)) from error
    except OSError as error:
        raise ImportRefusedError(f"{name} could not be read: {error}.") from error


def _opened(source: TextSource, room: Path, options: Options) -> Reader:
    return open_reader(
        source,
        room,
        format=options.format,
        columns=options.columns,
        header=options.header,
        header_row=options.header_row,
    )


def _in_one_transaction(run: Callable[[], int]) -> int:
    with transaction.atomic():
        return run()


def _report_rewrites(rewritten: int, first_pass: Survey, rewrites: Mapping[str, str], name: str) -> int:
    """How many queries got one; FileRefusedError where the two files have nothing to do with each other."""
    if first_pass.sample and not rewritten:
        example = next(iter(rewrites))
        raise FileRefusedError(
            f"{name} has no query with an id of the rewrites, such as {example!r}. Are they of another file?"
        )
    return rewritten


def _spool(first_pass: Survey, path: Path, rewrites: Mapping[str, str]) -> int:
    """The sample as lines of JSON, so that the transaction need not wait for the file; how many rewritten."""
    rewritten = 0
    with path.open("w", encoding="utf-8") as file:
        for each, sampled in fetch(first_pass):
            if each.id in rewrites:
                each.extra[MEMBER] = rewrites[each.id]
                rewritten += 1
            file.write(json.dumps([asdict(each), asdict(sampled)], ensure_ascii=True) + "\n")
    return rewritten


def _spooled(path: Path) -> Iterator[tuple[Record, SampledQuery]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            values, sampled = json.loads(line)
            yield stored_record(values), SampledQuery(**sampled)


class _Store:
    """Writes a sample; `run` must be called in a transaction."""

    def __init__(  # noqa: PLR0917  # made in one place
        self,
        project: Project,
        name: str,
        sha256: str,
        reader: Reader,
        options: Options,
        report: dict[str, Any],
        actor: Any,
        spool: Path,
        progress: Progress,
    ) -> None:
        self.project, self.name, self.sha256, self.reader = project, name, sha256, reader
        self.options, self.report, self.actor = options, report, actor
        self.spool, self.progress = spool, progress
        self.stored = self.already = self.other_spelling = self.curated = self.folded = 0
        self.now: datetime = timezone.now()

    @property
    def _accepted(self) -> bool:
        return self.options.start_at != "screening"

    def run(self) -> int:
        """Write all rows; the id of the source."""
        source = QuerySource.objects.create(
            project=self.project,
            name=self.name,
            format=self.reader.format,
            sha256=self.sha256,
            options=self.options.as_facts(),
            created_by=self.actor,
            created_at=self.now,
        )
        sample = _spooled(self.spool)
        while batch := list(islice(sample, _BATCH)):
            try:
                self._batch(source, batch)
            except IntegrityError as error:
                raise FileRefusedError(
                    f"{self.name}: another import brought in the same queries meanwhile. Import it again."
                ) from error
            self.progress(self.stored + self.already, int(self.report["sampled"]), "Storing")
        counts = RowCounts(**self.report["counts"])
        self.report |= {
            "read_as": self.reader.reading(counts).as_json(),
            "source": source.pk,
            "stored": self.stored,
            "already_there": self.already,
            "other_spelling": self.other_spelling,
            "curated": self.curated,
            "folded": self.folded,
        }
        source.report, source.state, source.finished_at = self.report, QuerySource.State.READY, timezone.now()
        source.save()
        record(
            project=self.project,
            action="queries.imported",
            subject=self.name,
            actor=self.actor,
            details={"source": source.pk, "stored": self.stored, "already_there": self.already},
        )
        return int(source.pk)

    def _batch(self, source: QuerySource, batch: list[tuple[Record, SampledQuery]]) -> None:
        digests = [query_digest(each.text, each.context) for each, _ in batch]
        plain = [plain_digest(each.text, each.context) for each, _ in batch]
        project_queries = Query.objects.filter(project=self.project).only(
            "digest", "plain_digest", "references"
        )
        existing = queries_by_text(project_queries, dict(zip(digests, plain, strict=True)))
        texts = texts_of(existing.values())
        fresh = []
        for (each, sampled), digest in zip(batch, digests, strict=True):
            if query := existing.get(digest):
                self.other_spelling += query.digest != digest
                self._already_there(each, texts[query.pk])
            else:
                fresh.append((each, sampled, digest))
        keys = {each.id for each, _, _ in fresh if each.id}
        used_keys = set(
            Query.objects.filter(project=self.project, key__in=keys).values_list("key", flat=True)
        )
        pairs = []
        for each, sampled, digest in fresh:
            if each.id in used_keys:
                for part in each.parts or [Part(each.line)]:
                    self._refuse(part.line, f"The project has another query with the id {each.id!r}.")
                self._take_back(each)
            else:
                pairs.append((each, query_of(source, each, sampled, digest, accepted=self._accepted)))
        queries = Query.objects.bulk_create([query for _, query in pairs])
        self.stored += len(queries)
        self._passages([(each, query) for (each, _), query in zip(pairs, queries, strict=True)])

    def _already_there(self, each: Record, texts: set[str]) -> None:
        """A query that the project has stays as it is; lines with something that it lacks are refused."""
        self.already += 1
        self._take_back(each)
        for part in each.parts or [Part(each.line, list(range(len(each.passages))), each.references)]:
            passages = sum(each.passages[at].text not in texts for at in part.passages)
            references = sum(reference not in texts for reference in part.references)
            if passages or references:
                lacks = " and ".join(
                    f"{number} {word}{'s' if number != 1 else ''}"
                    for number, word in ((passages, "passage"), (references, "reference"))
                    if number
                )
                self._refuse(part.line, f"{_HAS_ALREADY} {lacks} of this line {_NOT_ADDED}")
            else:
                self.report["counts"]["repeats"] += 1

    def _take_back(self, each: Record) -> None:
        """The lines of a query that is not stored after all are neither used nor merged."""
        self.report["counts"]["used"] -= 1
        self.report["counts"]["merged"] -= max(len(each.parts) - 1, 0)

    def _refuse(self, line: int, reason: str) -> None:
        if self.options.strict:
            raise FileRefusedError(
                f"{self.name}, {self.report['unit']} {line}: {reason} Nothing was imported."
            )
        self.report["refused"] += 1
        self.report["counts"]["refused"] += 1
        if len(self.report["refusals"]) < 1000:
            self.report["refusals"].append({"line": line, "reason": reason})

    def _passages(self, pairs: list[tuple[Record, Query]]) -> None:
        rows = [row for each, query in pairs for row in candidates_of(each, query)]
        candidates = CandidatePassage.objects.bulk_create(rows, batch_size=_BATCH)
        if rows:
            self.folded += fold_candidates([query.pk for _, query in pairs])
        if self.options.start_at == "screening":
            return
        self._steps([query for _, query in pairs], _STATUS.WAITING, _STATUS.ACCEPTED, IMPORTED_AS_SCREENED)
        if self.options.start_at == "distillation":
            self._curate([query for _, query in pairs], candidates)

    def _curate(self, queries: list[Query], candidates: list[CandidatePassage]) -> None:
        """Sets of the passages that the file has selected."""
        selected: dict[int, list[CandidatePassage]] = {}
        for each in candidates:
            if each.imported_selected:
                selected.setdefault(each.query_id, []).append(each)
        curated = [query for query in queries if query.pk in selected]
        sets = CuratedSet.objects.bulk_create(
            [CuratedSet(query=query, rule="imported", created_at=self.now) for query in curated]
        )
        CuratedPassage.objects.bulk_create(
            [
                CuratedPassage(curated_set=each, candidate=candidate, position=position)
                for each in sets
                for position, candidate in enumerate(selected[each.query_id], 1)
            ]
        )
        reason = "imported with its selected passages"
        Query.objects.filter(pk__in=[query.pk for query in curated]).update(
            status=_STATUS.CURATED, status_reason=reason
        )
        self.curated += len(curated)
        self._steps(curated, _STATUS.ACCEPTED, _STATUS.CURATED, reason)

    def _steps(self, queries: list[Query], before: str, after: str, reason: str) -> None:
        QueryStep.objects.bulk_create(
            [
                QueryStep(
                    query=query, at=self.now, actor=self.actor, before=before, after=after, reason=reason
                )
                for query in queries
            ]
        )


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a file as it would be read: format, columns if it has any, the first records.

    `faults` counts the lines that would be refused among those `read`; `is_whole_file`: these are all of it.
    `hints` name columns without which they could be read. `encoding` is in words, `sheets` a workbook's.
    """

    format: str
    description: str
    unit: str
    columns: list[str]
    mapping: dict[str, str]
    records: list[Record]
    refusals: list[tuple[int, str]]
    faults: int = 0
    read: int = 0
    is_whole_file: bool = True
    hints: list[str] = field(default_factory=list)
    encoding: str = ""
    sheets: list[str] = field(default_factory=list)


def preview(path: Path, *, name: str = "", options: Options | None = None, size: int = 20) -> Preview:
    """The first records of a file, and its faults; ImportRefusedError as for the import."""
    options = options or Options()
    refusals = Refusals(name or path.name)
    records: list[Record] = []
    read, is_whole_file = 0, True
    sheets: list[str] = []
    try:
        with tempfile.TemporaryDirectory(prefix="import-") as folder:
            source = TextSource(path, name=name, encoding=options.encoding, sheet=options.sheet)
            sheets = source.workbook.sheets if source.workbook else []
            reader = _opened(source, Path(folder), options)
            for read, each in enumerate(reader.records(refusals.looking(LOOKED_AT)), 1):
                if len(records) < size:
                    records.append(each)
                if read + refusals.total >= LOOKED_AT:
                    is_whole_file = False
                    break
    except LookedEnoughError:
        is_whole_file = False
    except UnmappedError as error:
        raise ImportRefusedError(str(error), error.columns, sheets) from error
    except (FileRefusedError, BadFieldError) as error:
        raise ImportRefusedError(str(error), sheets=sheets) from error
    return Preview(
        format=reader.format,
        description=reader.description,
        unit=reader.unit,
        columns=list(getattr(reader, "columns", [])),
        mapping=dict(getattr(reader, "mapping", {})),
        records=records,
        refusals=[(each.line, each.reason) for each in refusals.listed[:size]],
        faults=refusals.total,
        read=read + refusals.total,
        is_whole_file=is_whole_file,
        hints=hints_of(reader, options.columns, refusals),
        encoding=source.encoding_said,
        sheets=sheets,
    )
