"""Everything that a release is written from, read once in one state of the database and kept on disk."""

import gc
import hashlib
import marshal
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from django.db.models import Count

from annotation.models import Answer
from core.progress import Progress
from core.projects.models import Project
from crowd.models import Stage
from judgments.judging_config import LABELS, labels_by_score
from judgments.models import Candidate, Judgment
from judgments.selectors.ratings import scale_of
from metrics.agreement.quotes import OVERALL
from releases.formats.jsonl import line_maker
from releases.options import COMMENTS, Options
from releases.privacy import refuse_unread_comments
from releases.questionnaires import files_of
from releases.reports import accounts_of, agreement, costs, steps_of, without_accounts
from releases.row_reader import tables_of
from releases.scope import (
    FoundPassages,
    JudgedStage,
    Scope,
    answers_of,
    inside,
    queries_of,
    scope_of,
    snapshot,
)
from releases.tables import RATINGS, SCORES, SPLITS, Batches, FilledTable, Row, RowBlock, Table

# The tables of a release on disk.
#
# Each table is kept twice: as JSON Lines by split, which are the files of the format `jsonl` and what the C++
# readers of other formats take, and as batches of plain values, which Python reads back several times faster
# than it would parse them. The digests of the lines are the digest of the content. What comes in blocks of
# columns is kept as lines, and of scores the rows without their lists, which no format made from rows reads;
# none reads answers or ratings.

#: Bytes of the length before each batch.
_LENGTH = 8
#: Draws of the interval of an agreement that is computed from the rows of the release.
_REPLICATES = 1000
_LEAST_ALLOCATIONS = 50_000
#: Batches that are read already while the one before is written.
_AHEAD = 2


@dataclass(slots=True)
class Spool:
    """Tables on disk. `rows` by table and split, `digests` of the lines by file, `longest` line
    of each table in bytes.

    `verdicts` counts ratings by stage and rule, "" for those that are kept; `simulated` counts rows of each
    table that a program made in place of a person.
    """

    folder: Path
    tables: dict[str, FilledTable] = field(default_factory=dict)
    rows: dict[str, dict[str, int]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    longest: dict[str, int] = field(default_factory=dict)
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    simulated: Counter[str] = field(default_factory=Counter)

    @property
    def kinds(self) -> tuple[Table, ...]:
        """The tables with the columns that they have here."""
        return tuple(filled.table for filled in self.tables.values())

    @property
    def lines(self) -> Path:
        """The folder with TABLE-SPLIT.jsonl."""
        return self.folder / "lines"


class _Lines:
    """The files of one table's lines, opened when a split has its first row."""

    def __init__(self, spool: Spool, table: Table) -> None:
        self._spool, self.table, self._make = spool, table, line_maker(table)
        self._files: dict[str, tuple[BinaryIO, hashlib._Hash]] = {}
        self.rows = dict.fromkeys(SPLITS, 0)

    def write(self, split: str, rows: list[Row]) -> None:
        lines = self._make(rows)
        self.add(split, lines, len(rows), max(map(len, lines.split(b"\n"))))

    def add(self, split: str, lines: "bytes | memoryview", rows: int, longest: int) -> None:
        """Lines that are made already."""
        file, digest = self._open(split)
        file.write(lines)
        digest.update(lines)
        self.rows[split] += rows
        longest_lines = self._spool.longest
        longest_lines[self.table.name] = max(longest_lines.get(self.table.name, 0), longest)

    def _open(self, split: str) -> tuple[BinaryIO, "hashlib._Hash"]:
        if split not in self._files:
            path = self._spool.lines / f"{self.table.name}-{split}.jsonl"
            self._files[split] = (path.open("wb"), hashlib.sha256())
        return self._files[split]

    def close(self) -> dict[str, str]:
        for file, _ in self._files.values():
            file.close()
        return {
            f"{self.table.name}-{split}": digest.hexdigest() for split, (_, digest) in self._files.items()
        }


def spooled(tables: Mapping[str, FilledTable], folder: Path, progress: Progress) -> Spool:
    """Read every table once, in their order, into an empty folder."""
    spool = Spool(folder)
    fill(spool, tables, progress)
    return spool


def fill(
    spool: Spool,
    tables: Mapping[str, FilledTable],
    progress: Progress,
    total: int = 0,
    then: Callable[[FilledTable], None] | None = None,
) -> None:
    """Read every table once, in their order; `then` is told of each that is complete."""
    done = 0
    spool.lines.mkdir()
    with _Writer() as writer:
        for name, filled in tables.items():
            table, path = filled.table, spool.folder / f"{name}.batches"
            lines = _Lines(spool, table)
            try:
                with path.open("wb") as file:
                    for batch in (filled.parts or filled.batches)():
                        writer.submit(partial(_take, spool, lines, file, batch))
                        done += len(batch)
                        progress(done, max(done, total), f"Reading {table.title.lower()}")
                    writer.finish()
            finally:
                # Before its files are closed, for the thread may be writing to them.
                writer.stop()
                spool.digests |= lines.close()
            spool.rows[name] = {split: count for split, count in lines.rows.items() if count}
            spool.tables[name] = FilledTable(table, partial(_batches, path))
            if then is not None:
                then(spool.tables[name])


class _Writer:
    """Writes batches in their order in a thread of its own while the database makes the next one.

    At most `_AHEAD` batches wait. What goes wrong in the thread is raised by the next call.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spool")
        self._waiting: deque[Future[None]] = deque()

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._pool.shutdown()

    def submit(self, work: Callable[[], None]) -> None:
        while len(self._waiting) >= _AHEAD:
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(work))

    def finish(self) -> None:
        """All that was submitted is written."""
        while self._waiting:
            self._waiting.popleft().result()

    def stop(self) -> None:
        """Nothing more is written: what waits is dropped, and what is under way is over."""
        for future in self._waiting:
            future.cancel()
        wait(self._waiting)
        self._waiting.clear()


def _take(spool: Spool, lines: _Lines, file: BinaryIO, batch: list[Row] | RowBlock) -> None:
    """Keep a batch both ways, and count what is in it."""
    table = lines.table
    if not isinstance(batch, list):
        _take_block(spool, lines, file, batch)
        return
    _store(file, batch)
    place = table.place("split")
    for split in SPLITS:
        rows = [row for row in batch if row[place] == split]
        if rows:
            lines.write(split, rows)
    if table.name == RATINGS.name:
        _count(spool, batch)
    if "simulated" in table.names:
        mark = table.place("simulated")
        spool.simulated[table.name] += sum(row[mark] for row in batch)


def _take_block(spool: Spool, lines: _Lines, file: BinaryIO, block: RowBlock) -> None:
    name = block.table.name
    for split, split_lines in block.lines().items():
        lines.add(split, *split_lines)
    if name == RATINGS.name:
        rules = block.counts("rule")
        spool.verdicts.update(
            {(stage, rule): n for stage in block.counts("stage") for rule, n in rules.items()}
        )
    if name == SCORES.name:
        for rows in block.batches(lists=False):
            _store(file, rows)
    spool.simulated[name] += block.counts("simulated").get(True, 0)


def _count(spool: Spool, batch: list[Row]) -> None:
    stage, rule = RATINGS.place("stage"), RATINGS.place("rule")
    spool.verdicts.update((row[stage], row[rule]) for row in batch)


def _store(file: BinaryIO, batch: list[Row]) -> None:
    packed = marshal.dumps(batch)
    file.write(len(packed).to_bytes(_LENGTH, "big"))
    file.write(packed)


def _batches(path: Path) -> Batches:
    """What was stored; the file is our own, written a moment ago by this process."""
    with path.open("rb") as file:
        while size := file.read(_LENGTH):
            yield marshal.loads(file.read(int.from_bytes(size, "big")))  # noqa: S302 - see above


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Rows are no garbage; looking through them again and again takes a third of the time."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _LEAST_ALLOCATIONS), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@dataclass(frozen=True, slots=True)
class ReleaseTables:
    """The tables on disk, and what is beside them.

    `about` has what was brought in, steps, stages with their recipes, and costs, for the digest of the
    content and the manifest. `reports` are those of judging stages by slug. `workers` wrote or judged;
    `simulated` of them are no people, `joined` workers came by another way and count once, `by_person` says
    whether it makes a difference that pseudonyms are those of people, and `simulated_rows` counts the rows of
    each table that are theirs.
    `questionnaires` are texts of files by their paths. `passage_counts` counts the candidate passages by
    origin and ranker.
    """

    spool: Spool
    judged_stages: Sequence[JudgedStage]
    about: dict[str, Any]
    reports: dict[str, dict[str, Any]]
    costs: dict[str, Any]
    workers: int
    simulated: int
    joined: int
    by_person: bool
    simulated_rows: dict[str, dict[str, int]]
    passage_counts: Mapping[tuple[str, str], FoundPassages]
    libraries: dict[str, str]
    questionnaires: dict[str, str] = field(default_factory=dict)

    @property
    def by_programs(self) -> bool:
        """Programs did something in place of people: as workers here, or in scores that were imported."""
        return self.simulated > 0 or bool(self.simulated_rows)


def gather(
    project: Project,
    options: Options,
    spool: Spool,
    progress: Progress,
    then: Callable[[FilledTable], None] | None = None,
) -> ReleaseTables:
    """Read a project into a spool that is empty; `then` is told of each table that is complete."""
    progress(0, 0, "Splits")
    with snapshot() as using:
        scope = scope_of(project, options, using)
        if COMMENTS in options.include:  # some may have come since the release was planned
            refuse_unread_comments(project, using)
        fill(spool, tables_of(scope), progress, _total(scope), then)
        steps = steps_of(scope, spool.rows, spool.verdicts)
        paid = costs(project)
        reports = {
            judged_stage.stage.slug: agreement(judged_stage, scope.people, progress)
            for judged_stage in scope.judged_stages
        }
        for judged_stage in scope.judged_stages:
            report = reports[judged_stage.stage.slug]
            inside = report["in_release"] = _in_release(
                judged_stage.stage.slug, report["n_ratings"], scope, spool
            )
            if inside["ratings"] and (inside["left_out"] or inside["later"]):
                from releases.released_agreement import agreement_of_rows  # noqa: PLC0415 - loads numpy

                inside |= agreement_of_rows(
                    spool.lines,
                    judged_stage,
                    aspects=[row["aspect"] for row in report.get("aspects", ()) if row["aspect"] != OVERALL],
                    replicates=_REPLICATES,
                    seed=report["seed"],
                )
        brought_in = _brought_in(scope)
        questionnaires = files_of(scope)
    about = {
        "brought_in": brought_in,
        "steps": steps,
        "stages": [_stage(judged_stage) for judged_stage in scope.judged_stages],
        "costs": paid,
        "project": [project.slug, project.title, project.language, project.licence],
        "redacted_spans": len(scope.redactions),
    }
    return ReleaseTables(
        spool,
        scope.judged_stages,
        about,
        reports,
        paid,
        len(scope.people),
        scope.people.simulated_people,
        scope.people.joined,
        scope.people.joined > 0 or scope.people.by_person,
        {
            name: {"simulated": count, "of": sum(spool.rows[name].values())}
            for name, count in spool.simulated.items()
            if count
        },
        scope.passage_counts,
        {"pyarrow": version("pyarrow")},
        questionnaires,
    )


def _in_release(slug: str, reported: int, scope: Scope, spool: Spool) -> dict[str, Any]:
    """How many of a stage's good ratings are in the release, and why the others are not.

    Together they are those that its report is about and `later` ones, which came after the filters ran.
    """
    left_out = {why: n for (stage, why), n in sorted(scope.passed_over.items()) if stage == slug and n}
    ratings = sum(n for (stage, _), n in spool.verdicts.items() if stage == slug)
    later = ratings + sum(left_out.values()) - reported
    return {"ratings": ratings, "left_out": left_out, "later": later}


def _brought_in(scope: Scope) -> dict[str, int]:
    """How many queries, answers and comments are in the release of each group that a person brought in."""
    if not scope.include:
        return {}
    queries = queries_of(scope.project, scope.using, scope.include)
    answers = answers_of(scope.project, scope.using).filter(
        query__in=queries.filter(why__in=inside(scope.include)).values("pk")
    )
    counts: dict[str, int] = {COMMENTS: scope.comments}
    for rows in (queries, answers):
        counts |= dict(rows.order_by().values_list("why").annotate(n=Count("pk")))
    return {name: counts[name] for name in scope.include if counts.get(name)}


def _total(scope: Scope) -> int:
    """About how many rows there will be."""
    answers = Answer.objects.using(scope.using).filter(query__project=scope.project).count()
    judgments = sum(
        Judgment.objects.using(scope.using).filter(stage=judged_stage.stage).count()
        for judged_stage in scope.judged_stages
    )
    candidates = Candidate.objects.using(scope.using).filter(system__project=scope.project).count()
    return len(scope.queries) + answers + 2 * candidates + judgments


def _stage(judged_stage: JudgedStage) -> dict[str, Any]:
    """A judging stage with the filters that are in force in it."""
    stage, run = judged_stage.stage, judged_stage.run
    fields: dict[str, Any] = {"stage": stage.slug, "title": stage.title, "kind": stage.kind, "filters": None}
    if run is not None:
        fields["filters"] = {
            "recipe": run.recipe,
            "parameters": without_accounts(
                {name: run.parameters[name] for name in sorted(run.parameters)}, accounts_of(judged_stage)
            ),
            "seed": run.seed,
        }
    return fields


def scale_in_words(stage: Stage) -> dict[str, Any]:
    """A judging stage's scale for the manifest; `labels` say what scores mean, by the score in words."""
    options, scale = stage.config if isinstance(stage.config, dict) else {}, scale_of(stage)
    labels = labels_by_score(options.get("scale", "labels"), options.get("labels") or LABELS, scale)
    least, most = scale.ends
    return {"least": least, "most": most, "step": scale.step, "labels": labels}
