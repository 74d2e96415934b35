"""Measures the memory of every import: `python -m benchmarks.import_memory [--rows 200000 600000]`.

Files are made row by row from a seed. Each import runs in a process of its own beside a fresh SQLite
database, by the command or service that people use, so that its peak is its own. What a file refers to
(queries, workers) is stored before, by another process. `peak` is that of the importing process, of
it `own` what is not the file of the database, which SQLite maps into memory (128 MiB at most); `programs` is
the largest program that it started.
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

LIMIT_MIB = 300
PROJECT = "memory"
_WORDS = [
    f"{first}{second}"
    for first in ("ba", "ce", "di", "fo", "gu", "la", "me")
    for second in ("ni", "or", "pu", "ra", "se", "ti")
]


def _text(words: int) -> str:
    return " ".join(random.choices(_WORDS, k=words))


def _queries(rows: int) -> Iterator[str]:
    yield "id,query"
    for number in range(rows):
        yield f"q{number},{_text(6)} {number}"


def _long_queries(rows: int) -> Iterator[str]:
    yield "id,query,passage_id,passage,is_selected"
    for number in range(rows):
        query, chosen = number // 10, int(number % 10 == 0)
        yield f"q{query},question {query},p{number},{_text(60)} {number},{chosen}"


def _referenced_queries(rows: int) -> Iterator[str]:
    yield "id,query,reference"
    for number in range(rows):
        yield f"q{number // 5},question {number // 5},{_text(20)} {number}"


def _passages(rows: int) -> Iterator[str]:
    yield "id,title,text"
    for number in range(rows):
        yield f"p{number},{_text(4)},{_text(60)} {number}"


def _answers(rows: int) -> Iterator[str]:
    yield "query_id,system,answer"
    for number in range(rows):
        yield f"q{number // 10},system-{number % 10},{_text(20)} {number}"


def _scores(rows: int) -> Iterator[str]:
    yield "query,system,answer,reference,rating1,rating2,rating3"
    for number in range(rows):
        ratings = ",".join(str(random.randint(1, 5)) for _ in range(3))
        yield f"question {number // 10},system-{number % 10},{_text(20)} {number},{_text(20)},{ratings}"


def _ratings(rows: int) -> Iterator[str]:
    yield "item,worker,score"
    for number in range(rows):
        yield f"answer-{number // 10},worker-{number % 10 + number // 2000 * 10},{random.randint(1, 5)}"


def _grants(rows: int) -> Iterator[str]:
    yield "worker,value"
    for number in range(rows):
        yield f"A{number},{number % 100}"


def _tasks(rows: int) -> Iterator[str]:
    yield "question,image_url"
    for number in range(rows):
        yield f"{_text(20)} {number},/{number}.jpg"


def _reviews(rows: int) -> Iterator[str]:
    yield "AssignmentId,Answer.text,Approve,Reject"
    for number in range(rows):
        yield f"3ASSIGNMENT{number:019},{_text(20)},x,"


def _external(rows: int) -> Iterator[str]:
    yield "query_id,system,score"
    for number in range(rows):
        yield f"q{number // 10},system-{number % 10},{random.random():.4f}"


def _command(*parts: str) -> Callable[[Path], None]:
    """An import by a command; FILE is replaced by the file."""

    def run(path: Path) -> None:
        from django.core.management import call_command  # noqa: PLC0415  # after the set-up of Django

        with redirect_stdout(StringIO()):
            call_command(*(str(path) if part == "FILE" else part for part in parts))

    return run


def _import_grants(path: Path) -> None:
    from marketplace import clock  # noqa: PLC0415
    from marketplace.models import QualificationType  # noqa: PLC0415
    from marketplace.services.qualifications import grant_many  # noqa: PLC0415
    from marketplace.workerfiles import grant_lines, open_grants  # noqa: PLC0415

    with path.open("rb") as file:
        wanted = grant_lines(open_grants(path.name, file))
        grant_many(qualification_type=QualificationType.objects.get(), wanted=wanted, now=clock.now())


def _import_tasks(path: Path) -> None:
    from marketplace.batches import drafts, properties, sheets, templates  # noqa: PLC0415
    from marketplace.models import Requester  # noqa: PLC0415

    requester = Requester.objects.get()
    cheap = properties.Properties(title="Look", description="Say what you see.", reward_cents=10)
    html = "<p>${question}</p><img src='${image_url}'><input name='text'>"
    template = templates.create_template(requester=requester, name="Pictures", html=html, properties=cheap)
    with path.open("rb") as file:
        sheet = sheets.Sheet(file, path.name)
        drafts.make_draft(requester=requester, template=template, properties=cheap, sheet=sheet)


def _import_reviews(path: Path) -> None:
    from marketplace.batches import results, sheets  # noqa: PLC0415
    from marketplace.models import Batch  # noqa: PLC0415

    with path.open("rb") as file:
        sheet = sheets.Sheet(file, path.name, limits=sheets.RESULTS)
        results.read_decisions(sheet, Batch(pk=0))


def _import_external(path: Path) -> None:
    from evaluations.external_scores import Candidates, packed, read  # noqa: PLC0415

    candidates = Candidates()
    with path.open() as file:
        for number, line in enumerate(islice(file, 1, None)):
            query, system, _ = line.split(",")
            candidates.add({"candidate_id": f"c{number}", "query_id": query, "system": system})
    packed(read(path, name=path.name, candidates=candidates))


def _store_queries(count: int) -> None:
    from django.utils import timezone  # noqa: PLC0415

    from annotation.importing.records import query_digest  # noqa: PLC0415
    from annotation.models import Query, QuerySource  # noqa: PLC0415
    from core.projects.models import Project  # noqa: PLC0415

    project = Project.objects.get(slug=PROJECT)
    source = QuerySource.objects.create(
        project=project, name="log", format="csv", state="ready", created_at=timezone.now()
    )
    Query.objects.bulk_create(
        (
            Query(
                project=project,
                source=source,
                key=f"q{number}",
                text=f"question {number}",
                digest=query_digest(f"question {number}", []),
                references=[f"reference {number}"],
            )
            for number in range(count)
        ),
        batch_size=1000,
    )


def _store_workers(count: int) -> None:
    from django.utils import timezone  # noqa: PLC0415

    from marketplace.models import Requester, Worker  # noqa: PLC0415
    from marketplace.services.qualifications import create_qualification_type  # noqa: PLC0415

    now = timezone.now()
    create_qualification_type(
        requester=Requester.objects.get(),
        name="Reading",
        description="Reads well.",
        keywords="",
        status="Active",
        auto_granted=False,
        auto_granted_value=1,
        retry_delay_s=None,
        now=now,
    )
    Worker.objects.bulk_create(
        (Worker(worker_id=f"A{number}", name=f"A{number}", created_at=now) for number in range(count)),
        batch_size=1000,
    )


@dataclass(frozen=True, slots=True)
class Import:
    """One way in: the rows of its file, what has to be there before, and the most rows that it takes."""

    rows: Callable[[int], Iterator[str]]
    run: Callable[[Path], None]
    prepare: Callable[[int], None] | None = None
    most: int | None = None


_QUERIES = ("import-queries", PROJECT, "FILE")
IMPORTS = {
    "queries": Import(_queries, _command(*_QUERIES)),
    "queries, a row per passage": Import(_long_queries, _command(*_QUERIES, "--start-at", "distillation")),
    "queries, a row per reference": Import(_referenced_queries, _command(*_QUERIES)),
    "corpus": Import(_passages, _command("corpus", "add", PROJECT, "FILE", "--slug", "passages")),
    "systems' answers": Import(
        _answers, _command("import-candidates", PROJECT, "FILE"), lambda rows: _store_queries(rows // 10)
    ),
    "human scores (import-scores)": Import(_scores, _command("import-scores", "FILE", "--no-release")),
    "ratings (filter)": Import(_ratings, _command("filter", "FILE")),
    "scores of a release's candidates": Import(_external, _import_external),
    "grants": Import(_grants, _import_grants, _store_workers, most=100_000),
    "tasks of a batch": Import(_tasks, _import_tasks, most=100_000),
    "decisions on a batch": Import(_reviews, _import_reviews, most=20_000),
}


def _set_up() -> None:
    import django  # noqa: PLC0415

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    django.setup()


def _make_world() -> None:
    """A database with a project and a requester."""
    _set_up()
    from django.core.management import call_command  # noqa: PLC0415

    from core.projects.services import create_project  # noqa: PLC0415
    from marketplace.services.people import create_requester  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    create_project(slug=PROJECT, title="Memory")
    create_requester(name="Lab")


def _mib(member: str) -> float:
    """A figure of this process as Linux keeps it."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) for line in status if line.startswith(member)) / 1024


class _OwnMemory(threading.Thread):
    """Looks every 20 ms how much memory is the process's own, without the database that SQLite maps."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self._over = _mib("RssAnon"), threading.Event()

    def run(self) -> None:
        """Look until `end`."""
        while not self._over.wait(0.02):
            self.peak = max(self.peak, _mib("RssAnon"))

    def end(self) -> float:
        """The highest of all looks."""
        self._over.set()
        self.join()
        return self.peak


def _measure(name: str, path: Path) -> None:
    """Import a file and print what it took, as JSON."""
    _set_up()
    before = _mib("VmHWM")
    own = _OwnMemory()
    own.start()
    begun = time.perf_counter()
    IMPORTS[name].run(path)
    used = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "seconds": time.perf_counter() - begun,
        "cpu": used.ru_utime + used.ru_stime,
        "before": before,
        "peak": _mib("VmHWM"),
        "own": own.end(),
        "others": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


def _part(folder: Path, *arguments: str) -> str:
    """What this program prints as another process, with its data in this folder."""
    environment = {
        key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "REDIS_URL"}
    }
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.import_memory", *arguments],
        env=environment | {"DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise SystemExit(f"{' '.join(arguments)}:\n{ended.stderr[-3000:]}")
    return ended.stdout


def _one(world: Path, name: str, rows: int) -> dict[str, Any]:
    """The figures of one import of so many rows."""
    each = IMPORTS[name]
    random.seed(7)
    with tempfile.TemporaryDirectory() as scratch:
        folder, path = Path(scratch) / "data", Path(scratch) / "file.csv"
        shutil.copytree(world, folder)
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in each.rows(rows))
        if each.prepare is not None:
            _part(folder, "--prepare", name, str(rows))
        found: dict[str, Any] = json.loads(_part(folder, "--one", name, str(path)).splitlines()[-1])
        return found | {"mib": path.stat().st_size / 2**20}


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[200_000, 600_000])
    parser.add_argument("--only", nargs="*", choices=IMPORTS, default=list(IMPORTS))
    parser.add_argument("--world", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--prepare", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.world:
        _make_world()
        return
    if given.prepare:
        _set_up()
        prepare = IMPORTS[given.prepare[0]].prepare
        assert prepare is not None
        prepare(int(given.prepare[1]))
        return
    if given.one:
        _measure(given.one[0], Path(given.one[1]))
        return

    from benchmarks.report import machine  # noqa: PLC0415  # not in the processes that are measured

    print(f"{machine()}; load {os.getloadavg()[0]:.1f}.\n")
    print("| import | rows | file, MiB | peak, MiB | own | before | programs | s | CPU s | below 300 MiB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        world = Path(folder)
        _part(world, "--world")
        for name in given.only:
            most = IMPORTS[name].most
            for rows in dict.fromkeys(min(rows, most or rows) for rows in given.rows):
                one = _one(world, name, rows)
                met = "yes" if max(one["peak"], one["others"]) < LIMIT_MIB else "**no**"
                print(
                    f"| {name} | {rows:,} | {one['mib']:.0f} | {one['peak']:.0f} | "
                    f"{one['own']:.0f} | {one['before']:.0f} | {one['others']:.0f} | "
                    f"{one['seconds']:.0f} | {one['cpu']:.0f} | {met} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
