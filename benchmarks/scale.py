"""An installation of many projects, one of them large: fills PostgreSQL, opens every page, runs every job.

    python -m benchmarks.scale --judgments 10000000 --workers 100000 --projects 100 [--database URL]

Without a database it starts a PostgreSQL of its own, which goes again at the end. One project has a million
judgments made row by row (`benchmarks.campaign`, by COPY) and copied by the database until there are as many
as were asked for; the others have a thousand each. Each step of filling is one transaction: killed and
started again on the same database, the command goes on where it was. Then every page of the desk is opened
(`benchmarks.deskside`), and the background work done (`benchmarks.scalejobs`). Printed are each page's 95th
percentile, warm, by the wall's clock and in processor time; what is above the goal; and each job's memory.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

#: Judgments that come on a query, by the shares of `benchmarks.campaign.world.Size`.
_PER_QUERY = 50
_SMALL_QUERIES = 20
#: Queries of the large project that are made row by row; each copy adds as many.
_BASE_QUERIES = 20_000
STEPS = ("fill", "pages", "jobs")
#: Of what is sealed in such a database: it is opened again by another start of this command.
SECRET_KEY = "a key that seals nothing but what measurements make up, and no other installation has"
#: What is wanted of a warm page, in milliseconds at the 95th percentile, and of a job's memory.
PAGE_MS, JOB_MIB = 500.0, 1024.0


def prepare(database: str) -> None:
    """Set Django up on this database."""
    import django  # noqa: PLC0415 - not before its settings

    if database:
        os.environ["DATABASE_URL"] = database
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    django.setup()


def fill(*, judgments: int, workers: int, projects: int, parallel: int = 2) -> dict[str, object]:
    """Make what is missing of such an installation; the facts of its large project."""
    from django.core.management import call_command  # noqa: PLC0415 - after set-up
    from django.db import connection, transaction  # noqa: PLC0415

    from benchmarks.campaign import copies  # noqa: PLC0415
    from benchmarks.campaign.loading import NAME, load, step  # noqa: PLC0415
    from benchmarks.campaign.world import Size  # noqa: PLC0415
    from core.bulk_rows import BulkTable  # noqa: PLC0415
    from core.projects.models import Membership, Project  # noqa: PLC0415

    if connection.vendor != "postgresql":
        sys.exit("benchmarks.scale fills PostgreSQL: name a database in --database or DATABASE_URL.")
    call_command("migrate", verbosity=0)
    base = min(_BASE_QUERIES, judgments // _PER_QUERY)
    count = max(1, round(judgments / _PER_QUERY / base))
    if not Project.objects.filter(slug=NAME).exists():
        BulkTable.first_key = copies.FIRST
        with transaction.atomic(), step(f"{base} queries"):
            copies.number_queries_from(copies.FIRST)
            load(Size(queries=base, workers=workers // count), name=NAME, report=False)
    with ThreadPoolExecutor(max_workers=parallel) as pool, step(f"{count - 1} copies"):
        for number, new in enumerate(pool.map(_add_copy, range(1, count)), 1):
            print(f"copy {number}: {'made' if new else 'was there'}", file=sys.stderr, flush=True)
    BulkTable.first_key = copies.BEHIND
    copies.number_queries_from(copies.BEHIND)
    for number in range(1, projects):
        name = f"small-{number:03}"
        if not Project.objects.filter(slug=name).exists():
            with transaction.atomic(), step(name):
                load(Size(queries=_SMALL_QUERIES, seed=number), name=name, analyse=False)
    with step("sums and statistics"):
        copies.finish(NAME)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    owner = Membership.objects.get(project__slug=NAME, role="owner").user
    for project in Project.objects.exclude(memberships__user=owner):
        Membership.objects.create(project=project, user=owner, role="owner")
    return facts()


def _add_copy(number: int) -> bool:
    """A copy by a connection of its thread."""
    from django.db import connection  # noqa: PLC0415 - after set-up

    from benchmarks.campaign import copies  # noqa: PLC0415

    try:
        return copies.add(number)
    finally:
        connection.close()


def facts() -> dict[str, object]:
    """Rows and bytes of the database, by what PostgreSQL knows of it."""
    from django.db import connection  # noqa: PLC0415 - after set-up

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, reltuples::bigint FROM pg_class WHERE relkind = 'r' AND reltuples >= 1000 "
            "AND relnamespace = 'public'::regnamespace ORDER BY 2 DESC"
        )
        rows = dict(cursor.fetchall())
        cursor.execute("SELECT pg_database_size(current_database())")
        return {"rows": rows, "bytes": cursor.fetchone()[0]}


@contextmanager
def _database(given: str) -> Iterator[str]:
    """The URL that was given, or is in the environment, or of a PostgreSQL that goes after the block."""
    from benchmarks.marketplace import services  # noqa: PLC0415 - only where one is started

    if url := given or os.environ.get("DATABASE_URL", ""):
        yield url
        return
    with services().services(durable=True) as variables:
        yield variables["DATABASE_URL"]


def _side(environment: Mapping[str, str], *words: object) -> Any:  # JSON
    """Run a module of the benchmarks in a process of its own; what it prints, also where it says 1."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        env=dict(environment),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode > 1 or not done.stdout:
        raise SystemExit(f"{words[0]} failed.")
    return json.loads(done.stdout.splitlines()[-1])


def page_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Every page as a line of a Markdown table, those that need most first."""
    yield "| page | status | statements | p95: wall, ms | processor, ms | first look: processor, ms |"
    yield "|---|---|---|---|---|---|"
    for row in sorted(rows, key=lambda row: -row["cpu_p95"]):
        yield (
            f"| {row['name']} | {row['status']} | {row['queries']} | {row['wall_p95']:.0f} "
            f"| {row['cpu_p95']:.0f} | {row['cold_cpu']:.0f} |"
        )


def job_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Every job as a line of a Markdown table."""
    yield "| job | seconds | processor seconds of the process + PostgreSQL | peak memory, MiB | |"
    yield "|---|---|---|---|---|"
    for row in rows:
        if "error" in row:
            yield f"| {row['job']} | failed: {' '.join(row['error'].split())} | | | **failed** |"
        else:
            verdict = "" if row["peak_mib"] <= JOB_MIB else "**above**"
            spent = f"{row['processor_s']} + {row['database_s']}"
            yield f"| {row['job']} | {row['seconds']} | {spent} | {row['peak_mib']} | {verdict} |"


def walk(environment: Mapping[str, str], given: argparse.Namespace) -> int:
    """Open the pages and run the jobs that were asked for; how many miss their goal."""
    from benchmarks.campaign.loading import NAME  # noqa: PLC0415 - after set-up

    slow = heavy = 0
    if "pages" in given.steps:
        how = ("--repeats", given.repeats, "--wait", given.wait, "--only", given.only, "--keep")
        rows = _side(environment, "benchmarks.deskside", NAME, *how)
        above = [row for row in rows if row["cpu_p95"] > PAGE_MS]
        failed = [row["name"] for row in rows if row["status"] >= 500]
        waited = [row["name"] for row in rows if row["status"] in (202, 429)]
        print("\n".join(page_lines(rows)), flush=True)
        by_wall = sum(row["wall_p95"] > PAGE_MS for row in rows)
        print(f"\n{len(rows)} addresses; above {PAGE_MS:.0f} ms of processor: {len(above)}")
        print(*(f"- {row['name']}: {row['cpu_p95']:.0f} ms" for row in above), sep="\n")
        print(f"By the wall: {by_wall}. Figures not there after {given.wait:.0f} s: {waited or 'none'}.\n")
        print(f"Answered with an error: {failed or 'none'}.")
        slow = len(above) + len(waited) + len(failed)
    if "jobs" in given.steps:
        rows = _side(environment, "benchmarks.scalejobs", "--project", NAME, *given.job)
        heavy = sum("error" in row or row["peak_mib"] > JOB_MIB for row in rows)
        print("\n".join(job_lines(rows)), flush=True)
    return slow + heavy


def main() -> int:
    """Do what the command line says; 1 where a page or a job misses its goal."""
    parser = argparse.ArgumentParser(prog="benchmarks.scale", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--judgments", type=int, default=10_000_000, help="of the large project")
    parser.add_argument("--workers", type=int, default=100_000)
    parser.add_argument("--projects", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=2, help="copies that are made at once")
    parser.add_argument("--database", default="", help="URL; else DATABASE_URL, else one of its own")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS), help="what to do of it")
    parser.add_argument("--repeats", type=int, default=10, help="looks at each page")
    parser.add_argument("--wait", type=float, default=240, help="seconds for a page's figures to be there")
    parser.add_argument("--only", default="", help="pages whose name contains this")
    parser.add_argument("--job", nargs="*", default=[], help="jobs to run; all without it")
    given = parser.parse_args()
    with _database(given.database) as url, tempfile.TemporaryDirectory(prefix="distillery-scale-") as folder:
        os.environ["DATA_DIR"] = folder
        os.environ.setdefault("SECRET_KEY", SECRET_KEY)
        prepare(url)
        if "fill" in given.steps:
            rows = fill(
                judgments=given.judgments,
                workers=given.workers,
                projects=given.projects,
                parallel=given.parallel,
            )
            print(json.dumps(rows), flush=True)
        missed = walk({**os.environ, "DATABASE_URL": url}, given)
        _hang_up()
    return int(bool(missed))


def _hang_up() -> None:
    """Close this process's connections: a server of its own stops at once then."""
    from django.db import connections  # noqa: PLC0415 - after set-up

    connections.close_all()


if __name__ == "__main__":
    sys.exit(main())
