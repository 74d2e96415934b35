"""Measures the REST API: a list of 200 rows, an export as JSONL, and requests per second.

    python benchmarks/api.py [--events 100000] [--clients 4] [--seconds 10]
    python .ci/services.py -- python benchmarks/api.py       # the same on a PostgreSQL of its own

Makes a database with so many events, in SQLite or on the PostgreSQL server of DATABASE_URL, starts our server
with two processes of eight threads, and asks it over HTTP. Clients and server share the machine's cores;
processor time of the server says what it needs alone.
"""

# ruff: noqa: PLC0415  # the apps can be imported once the environment names the database

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.load import Job, Result, middle, p95, together  # noqa: E402

PROCESSES, THREADS = 2, 8
LIST, EXPORT, SMALL = (
    "/api/v1/projects/tea/events?limit=200",
    "/api/v1/projects/tea/events.jsonl",
    "/api/v1/projects/tea",
)


def main() -> None:
    """Prepare, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "DATA_DIR": folder,
            "DATABASE_URL": _database(Path(folder)),
            "API_REQUESTS_PER_SECOND": "0",
        }
        os.environ.update(environment, DJANGO_SETTINGS_MODULE="distillery.settings")
        token = prepare(given.events)
        from benchmarks.first_page import processor_seconds
        from tests.server import RunningServer

        with RunningServer(environment=environment, workers=PROCESSES, threads=THREADS) as server:
            job = {"url": server.url, "token": token}
            for path, what in ((LIST, "list of 200 rows"), (SMALL, "one project")):
                # The first request of a process loads the operations.
                together(ask, [job | {"path": path}] * 4 * PROCESSES, 4)
                for clients in (1, given.clients):
                    before = processor_seconds(server)
                    found = together(ask, [job | {"path": path}] * clients, given.seconds)
                    took = processor_seconds(server) - before
                    times = found.times["request"]
                    print(
                        f"{what}, {clients} clients: {found.per_second:.0f}/s, "
                        f"median {middle(times):.1f} ms, p95 {p95(times):.1f} ms, "
                        f"processor {took / found.done * 1000:.1f} ms a request"
                    )
            export(job, lambda: processor_seconds(server), lambda: most_memory(server))


def _database(folder: Path) -> str:
    """A database without rows."""
    from tests.server import new_database

    return new_database(folder)


def most_memory(server: Any) -> float:
    """The most memory that one process of the server has had so far, in MiB."""
    peaks = []
    for pid in server.pids:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        peaks.append(int(status.partition("VmHWM:")[2].split()[0]) / 1024)
    return max(peaks)


def prepare(events: int) -> str:
    """A project with so many events; the token of its owner."""
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from core.api.tokens import create_token
    from core.projects.models import Event
    from core.projects.services import create_project

    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("olga")
    project = create_project(slug="tea", title="Tea", owner=owner)
    now = timezone.now()
    rows = (
        Event(
            project=project,
            at=now,
            actor=owner,
            action="assignment.approved",
            subject=f"poll 3A{number}",
            details={"worker": f"A{number % 997}", "why": "Good work."},
            address="192.0.2.7",
        )
        for number in range(events)
    )
    Event.objects.bulk_create(rows, batch_size=5_000)
    with connection.cursor() as cursor:
        # What PostgreSQL does by itself within a minute: without it a new table is planned as an empty one.
        cursor.execute("ANALYZE")
    return create_token(user=owner, scopes=["read"])[1]


def ask(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One connection that is kept, asking the same address until the deadline."""
    parts = urlsplit(job["url"])
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    headers = {"Authorization": f"Bearer {job['token']}"}
    deadline = line_up()
    now = time.perf_counter()
    while now < deadline:
        connection.request("GET", job["path"], headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            result.refuse(body.decode()[:300])
        result.done += 1
        now = result.add("request", now)


def export(job: Job, processor: Callable[[], float], memory: Callable[[], float]) -> None:
    """Read the whole log twice; rows per second of the second time, and what memory both took."""
    at_first = memory()
    parts = urlsplit(job["url"])
    for _ in range(2):
        connection = HTTPConnection(parts.hostname or "", parts.port, timeout=600)
        before, started, rows = processor(), time.perf_counter(), 0
        connection.request("GET", EXPORT, headers={"Authorization": f"Bearer {job['token']}"})
        answer = connection.getresponse()
        last = b""
        while piece := answer.read(1 << 16):
            rows += piece.count(b"\n")
            last = piece
        seconds, took = time.perf_counter() - started, processor() - before
    assert json.loads(last.splitlines()[-1])["id"]
    print(
        f"export of {rows:,} events: {rows / seconds:,.0f} rows/s, {rows / took:,.0f} a second of processor, "
        f"at most {memory() - at_first:.0f} MiB more in a process"
    )


if __name__ == "__main__":
    main()
