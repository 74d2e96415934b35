"""Imports and exports of files: seconds and peak memory of each, in a process of its own.

    python -m benchmarks.imports [--rows 100000 300000] [--log 1000000] [--only NAME]

Files are made row by row from a seed, and imported by the command or service that people use, into a fresh
SQLite database with what the file refers to. `own` is memory without the database file, which SQLite maps
(128 MiB at most). Of a query log, lines a second are told that are read and sampled. Exports of a large
project, its release and tables, are measured by `benchmarks.scale`.
"""

import os
import random
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.common import Figure, run_step

LIMIT_MIB, LINES_PER_SECOND = 300, 200_000
PROJECT = "memory"
_WORDS = [a + b for a in ("ba", "ce", "di", "fo", "gu", "la", "me") for b in ("ni", "or", "pu", "ra", "se")]


def _words(count: int) -> str:
    return " ".join(random.choices(_WORDS, k=count))


# What imports them


def _by_command(*parts: str) -> Callable[[Path], None]:

    def run(path: Path) -> None:
        from django.core.management import call_command

        with redirect_stdout(StringIO()):
            call_command(*(str(path) if part == "FILE" else part for part in parts))

    return run


def _import_grants(path: Path) -> None:
    from marketplace import clock
    from marketplace.heritage.workerfiles import grant_lines, open_grants
    from marketplace.models import QualificationType
    from marketplace.qualifications.grants import grant_many

    with path.open("rb") as file:
        lines = grant_lines(open_grants(path.name, file))
        grant_many(qualification_type=QualificationType.objects.get(), grants=lines, now=clock.now())


def _import_tasks(path: Path) -> None:
    from marketplace.batches import drafts, properties, templates
    from marketplace.forms import sheets
    from marketplace.models import Requester

    requester = Requester.objects.get()
    cheap = properties.Properties(title="Look", description="Say what you see.", reward_cents=10)
    html = "<p>${question}</p><img src='${image_url}'><input name='text'>"
    template = templates.create_template(requester=requester, name="Pictures", html=html, properties=cheap)
    with path.open("rb") as file:
        sheet = sheets.Sheet(file, path.name)
        drafts.make_draft(requester=requester, template=template, properties=cheap, sheet=sheet)


def _import_decisions(path: Path) -> None:
    from marketplace.batches import results
    from marketplace.forms import sheets
    from marketplace.models import Batch

    with path.open("rb") as file:
        results.read_decisions(sheets.Sheet(file, path.name, limits=sheets.RESULTS), Batch(pk=0))


def _import_external_scores(path: Path) -> None:
    from evaluations.external_scores import Candidates, packed, read

    candidates = Candidates()
    with path.open() as file:
        for number, line in enumerate(islice(file, 1, None)):
            query, system, _ = line.split(",")
            candidates.add({"candidate_id": f"c{number}", "query_id": query, "system": system})
    packed(read(path, name=path.name, candidates=candidates))


# What must be there before


def _store_queries(count: int) -> None:
    from django.utils import timezone

    from annotation.importing.records import query_digest
    from annotation.models import Query, QuerySource
    from core.projects.models import Project

    project = Project.objects.get(slug=PROJECT)
    source = QuerySource.objects.create(
        project=project, name="log", format="csv", state="ready", created_at=timezone.now()
    )
    rows = (
        Query(
            project=project,
            source=source,
            key=f"q{number}",
            text=f"question {number}",
            digest=query_digest(f"question {number}", []),
            references=[f"reference {number}"],
        )
        for number in range(count // 10)
    )
    Query.objects.bulk_create(rows, batch_size=1000)


def _store_workers(count: int) -> None:
    from django.utils import timezone

    from marketplace.models import Requester, Worker
    from marketplace.qualifications.grants import create_qualification_type

    now, requester = timezone.now(), Requester.objects.get()
    create_qualification_type(
        requester=requester,
        name="Reading",
        description="Reads well.",
        keywords="",
        status="Active",
        auto_granted=False,
        auto_granted_value=1,
        retry_delay_s=None,
        now=now,
    )
    rows = (Worker(worker_id=f"A{number}", name=f"A{number}", created_at=now) for number in range(count))
    Worker.objects.bulk_create(rows, batch_size=1000)


@dataclass(frozen=True)
class Import:
    """One way in: head and rows of its file, what imports it, what is there before, the most rows."""

    head: str
    row: Callable[[int], str]
    run: Callable[[Path], None]
    prepare: Callable[[int], None] | None = None
    most: int = 10**9


_QUERIES = ("import-queries", PROJECT, "FILE")
IMPORTS = {
    "queries": Import("id,query", lambda n: f"q{n},{_words(6)} {n}", _by_command(*_QUERIES)),
    "passages-of-queries": Import(
        "id,query,passage_id,passage,is_selected",
        lambda n: f"q{n // 10},question {n // 10},p{n},{_words(60)} {n},{int(n % 10 == 0)}",
        _by_command(*_QUERIES, "--start-at", "distillation"),
    ),
    "references": Import(
        "id,query,reference",
        lambda n: f"q{n // 5},question {n // 5},{_words(20)} {n}",
        _by_command(*_QUERIES),
    ),
    "corpus": Import(
        "id,title,text",
        lambda n: f"p{n},{_words(4)},{_words(60)} {n}",
        _by_command("corpus", "add", PROJECT, "FILE", "--slug", "passages"),
    ),
    "answers": Import(
        "query_id,system,answer",
        lambda n: f"q{n // 10},system-{n % 10},{_words(20)} {n}",
        _by_command("import-candidates", PROJECT, "FILE"),
        _store_queries,
    ),
    "import-scores": Import(
        "query,system,answer,reference,rating1,rating2,rating3",
        lambda n: f"question {n // 10},s-{n % 10},{_words(20)} {n},{_words(20)},{n % 5 + 1},{n % 3 + 2},3",
        _by_command("import-scores", "FILE", "--no-release"),
    ),
    "filter": Import(
        "item,worker,score",
        lambda n: f"answer-{n // 10},worker-{n % 10 + n // 2000 * 10},{random.randint(1, 5)}",
        _by_command("filter", "FILE"),
    ),
    "external-scores": Import(
        "query_id,system,score",
        lambda n: f"q{n // 10},system-{n % 10},{random.random():.4f}",
        _import_external_scores,
    ),
    "grants": Import(
        "worker,value", lambda n: f"A{n},{n % 100}", _import_grants, _store_workers, most=100_000
    ),
    "tasks": Import(
        "question,image_url", lambda n: f"{_words(20)} {n},/{n}.jpg", _import_tasks, most=100_000
    ),
    "decisions": Import(
        "AssignmentId,Answer.text,Approve,Reject",
        lambda n: f"3ASSIGNMENT{n:019},{_words(20)},x,",
        _import_decisions,
        most=20_000,
    ),
}


# Steps


def make_world() -> None:
    """A project and a requester."""
    from core.projects.services import create_project
    from marketplace.accounts.people import create_requester

    create_project(slug=PROJECT, title="Memory")
    create_requester(name="Lab")


def prepare(name: str, count: int) -> None:
    """What an import needs before."""
    make = IMPORTS[name].prepare
    if make:
        make(count)


def run_import(name: str, path: str) -> float:
    """Import the file; the most memory of its own that the process had, looked at every 20 ms."""
    is_over, peaks = threading.Event(), [common.memory_mib("RssAnon")]

    def look() -> None:
        while not is_over.wait(0.02):
            peaks.append(common.memory_mib("RssAnon"))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        IMPORTS[name].run(Path(path))
    finally:
        is_over.set()
        watcher.join()
    return max(peaks)


def sample_log(path: str, design: str) -> int:
    """Read a query log and draw 500 queries, as the import does it; how many lines there were."""
    from annotation.importing.detect import open_reader
    from annotation.importing.run import fetch, survey
    from annotation.importing.selection import Design, Screen
    from core.files.text_source import TextSource

    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        reader = open_reader(TextSource(Path(path)), room)
        counts = survey(reader, screen=Screen(), design=Design(by=design, size=500), room=room)
        for _ in fetch(counts):
            pass
        return int(counts.records)


STEPS = {"world": make_world, "prepare": prepare, "import": run_import, "log": sample_log}


def measure(name: str, rows: int, world: Path) -> Figure:
    """One import of so many rows."""
    random.seed(7)
    way = IMPORTS[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder, path = Path(scratch) / "data", Path(scratch) / "file.csv"
        shutil.copytree(world, folder)
        with path.open("w", encoding="utf-8") as file:
            file.write(f"{way.head}\n")
            file.writelines(f"{way.row(number)}\n" for number in range(rows))
        environment = {**os.environ, "DATA_DIR": str(folder)}
        if way.prepare:
            run_step("benchmarks.imports", "prepare", name, rows, environment=environment)
        answer = run_step("benchmarks.imports", "import", name, path, environment=environment)
        size = path.stat().st_size / 2**20
    return _figure(f"{name}, {rows:,} rows, {size:.0f} MiB", answer, f"own {answer['value']:.0f} MiB")


def _figure(name: str, answer: dict[str, Any], note: str) -> Figure:
    value = f"{answer['peak_mib']:.0f} MiB, {answer['seconds']:.1f} s"
    note += f", before it began {answer['start_mib']:.0f} MiB, processor {answer['processor']:.1f} s"
    return Figure(name, value, f"< {LIMIT_MIB} MiB", answer["peak_mib"] < LIMIT_MIB, note)


def measure_logs(lines: int) -> Iterator[Figure]:
    """A log half of whose lines repeat one of 50,000 queries, read for each design of a sample."""
    random.seed(4)
    usual = [_words(1 + number % 9) for number in range(50_000)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("query,count\n")
            for number in range(lines):
                repeated = usual[int(50_000 * random.random() ** 3)]
                query = repeated if number % 2 else f"{_words(4)} {number}"
                file.write(f"{query},{1 + number % 40}\n")
        for design in ("uniform", "count", "strata"):
            answer = run_step("benchmarks.imports", "log", path, design)
            rate = answer["value"] / answer["seconds"]
            note = f"{rate:,.0f} lines/s, {LINES_PER_SECOND:,} wanted"
            yield _figure(f"log of {lines:,} lines, sampled by {design}", answer, note)


def main() -> None:
    """Measure, and print the tables."""
    parser = common.parser_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 300_000])
    parser.add_argument("--log", type=int, default=1_000_000, help="lines of a query log; 0: none")
    parser.add_argument("--only", nargs="*", choices=IMPORTS, default=list(IMPORTS))
    options = parser.parse_args()
    if options.step:
        common.set_up_django()
        common.answer_step(STEPS, options.step)
        return
    from tests.server import new_database  # brings boto3, which no step is to have

    print(common.describe_machine())
    os.environ.pop("DATABASE_URL", None)
    with tempfile.TemporaryDirectory() as folder:
        new_database(Path(folder))
        os.environ["DATA_DIR"] = folder
        run_step("benchmarks.imports", "world")
        sizes = {
            name: dict.fromkeys(min(n, IMPORTS[name].most) for n in options.rows) for name in options.only
        }
        figures = (measure(name, n, Path(folder)) for name, counts in sizes.items() for n in counts)
        common.print_table("Imports", figures)
        if options.log:
            common.print_table("Query logs", measure_logs(options.log))


if __name__ == "__main__":
    main()
