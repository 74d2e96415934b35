"""Measures building a release of a large project, each time in a process of its own.

    python -m benchmarks.campaign --queries 20000 --report
    python -m benchmarks.releases [--project campaign] [--formats all] [--json]

The database is the one of DATABASE_URL. Reported are seconds, seconds of processor time of the process and
of its database backends, peak memory of the process, the load of the machine, and the bytes written.
`--rows 50000` measures instead how long the first ratings take as CSV, from the database to the file.
"""

# ruff: noqa: PLC0415  # each process imports only what it measures

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")


def build(slug: str, formats: tuple[str, ...]) -> dict[str, Any]:
    """Build a release into a folder that goes again; nothing of it stays in the database."""
    from django.db import transaction

    from core.projects.models import Project
    from releases import build
    from releases.models import Release
    from releases.options import Options

    project = Project.objects.get(slug=slug)
    release = build.plan_release(project=project, options=Options(formats=formats, shares=(0.8, 0.1, 0.1)))
    steps: list[tuple[float, str]] = []
    begun = time.perf_counter()

    def progress(done: int, total: int, note: str) -> None:
        if not steps or steps[-1][1] != note:
            steps.append((time.perf_counter() - begun, note))

    try:
        with tempfile.TemporaryDirectory() as room:
            done = build.build(release, folder=Path(room, "release"), progress=progress)
    finally:
        with transaction.atomic():
            Release.objects.filter(pk=release.pk).delete()
    rows = {table["name"]: sum(table["rows"].values()) for table in done.manifest["tables"]}
    return {"bytes": done.bytes, "rows": rows, "steps": [(round(at, 2), note) for at, note in steps]}


def export(slug: str, rows: int) -> dict[str, Any]:
    """Write the first ratings of a project as CSV."""
    from itertools import islice

    from core.progress import silent
    from core.projects.models import Project
    from releases.formats.writer import write_formats
    from releases.options import Options
    from releases.release_content import spooled
    from releases.row_reader import rating_rows
    from releases.scope import scope_of, snapshot
    from releases.tables import RATINGS, FilledTable, Source

    project = Project.objects.get(slug=slug)
    with tempfile.TemporaryDirectory() as room, snapshot() as using:
        scope = scope_of(project, Options(), using)
        some = FilledTable(RATINGS, lambda: islice(rating_rows(scope), -(-rows // 5_000)))
        spool = spooled({"ratings": some}, Path(room), silent)
        source = Source(project, None, spool.tables, {}, spool.rows, spool.lines, spool.longest)  # type: ignore[arg-type]
        write_formats(["csv"], Path(room), source, silent)
        size = sum(path.stat().st_size for path in (Path(room) / "csv").iterdir())
    return {"bytes": size, "rows": spool.rows}


def count_snapshots(spent: list[float]) -> None:
    """Have each snapshot of the database append the processor milliseconds of its own backend."""
    from collections.abc import Iterator
    from contextlib import contextmanager

    from benchmarks.deskside import Clock
    from releases import release_content

    plain = release_content.snapshot

    @contextmanager
    def counted() -> Iterator[str]:
        with plain() as using:
            clock = Clock(using)
            begun, own = clock.now(), time.process_time()
            yield using
            spent.append(clock.now() - begun - (time.process_time() - own) * 1000)

    release_content.snapshot = counted


def child(given: argparse.Namespace) -> None:
    """Measure this process."""
    django.setup()
    from benchmarks.deskside import Clock
    from releases.formats import FORMATS

    clock, snapshots = Clock(), list[float]()
    count_snapshots(snapshots)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begun, used, both = time.perf_counter(), time.process_time(), clock.now()
    names = tuple(FORMATS) if given.formats == "all" else tuple(given.formats.split(","))
    said = export(given.project, given.rows) if given.rows else build(given.project, names)
    usage, own = resource.getrusage(resource.RUSAGE_SELF), time.process_time() - used
    figures = {
        "seconds": round(time.perf_counter() - begun, 2),
        "processor_seconds": round(own, 2),
        "database_processor_seconds": round((clock.now() - both + sum(snapshots)) / 1000 - own, 2),
        "start_mib": round(before),
        "peak_mib": round(usage.ru_maxrss / 1024),
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps({**figures, **said}))


def main() -> None:
    """Start the process that is measured, and print what it says."""
    parser = argparse.ArgumentParser(prog="benchmarks.releases", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--project", default="campaign")
    parser.add_argument("--formats", default="all")
    parser.add_argument("--rows", type=int, default=0, help="export so many ratings instead")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given)
        return
    words = ["--child", "--project", given.project, "--formats", given.formats, "--rows", str(given.rows)]
    made = subprocess.run(
        [sys.executable, "-m", "benchmarks.releases", *words], capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise SystemExit(made.stderr[-3000:])
    if given.json:
        print(made.stdout.strip())
        return
    for name, value in json.loads(made.stdout).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
