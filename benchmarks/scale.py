"""An installation of many projects, one of them large: fills a PostgreSQL database by COPY and by copies.

    python -m benchmarks.scale --judgments 10000000 --workers 100000 --projects 100 --database URL

One project has a million judgments made row by row (`benchmarks.campaign`) and copied by the database until
there are as many as were asked for; the others have a thousand each. Each step is one transaction: killed and
started again, the command goes on where it was. Prints one JSON object: how many rows there are of what.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

#: Judgments that come on a query, by the shares of `benchmarks.campaign.world.Size`.
_PER_QUERY = 50
_SMALL_QUERIES = 20
#: Queries of the large project that are made row by row; each copy adds as many.
_BASE_QUERIES = 20_000


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
    from core.database.bulk import BulkTable  # noqa: PLC0415
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


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="benchmarks.scale", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--judgments", type=int, default=10_000_000, help="of the large project")
    parser.add_argument("--workers", type=int, default=100_000)
    parser.add_argument("--projects", type=int, default=100)
    parser.add_argument("--parallel", type=int, default=2, help="copies that are made at once")
    parser.add_argument("--database", default="", help="URL; without it DATABASE_URL")
    given = parser.parse_args()
    prepare(given.database)
    made = fill(
        judgments=given.judgments, workers=given.workers, projects=given.projects, parallel=given.parallel
    )
    print(json.dumps(made))


if __name__ == "__main__":
    main()
