"""What `benchmarks/desk.py` measures, in a process with the server's settings: opens pages, times them.

    python -m benchmarks.deskside campaign --repeats 20 [--only agreement]

Prints one JSON object with a row a page. Two clocks run beside each other: the wall's, and processor time of
this process and of its PostgreSQL backend together, which other work on the machine hardly changes. Queries
run on one processor each: parallel plans are off, so that nothing is done where nobody counts.
"""

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
os.environ.setdefault("ALLOWED_HOSTS", "127.0.0.1,localhost,testserver")
os.environ.setdefault("PGOPTIONS", "-c max_parallel_workers_per_gather=0")
django.setup()

from django.db import DEFAULT_DB_ALIAS, connection, connections  # noqa: E402
from django.db.models.functions import Length  # noqa: E402
from django.http import HttpResponse, StreamingHttpResponse  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

from benchmarks.deskpages import LIVE, pages  # noqa: E402
from benchmarks.environment import peak  # noqa: E402
from core.jobs import runner  # noqa: E402
from core.jobs.figures import COUNT  # noqa: E402
from core.jobs.models import Job, JobState, StoredFigure  # noqa: E402
from core.projects.models import Membership, Project  # noqa: E402
from crowd.models import Stage  # noqa: E402
from distillery.dbtimeouts import limit_connections  # noqa: E402
from web.cache import figures  # noqa: E402

#: A page that needs this long is not opened as often as the others.
_SLOW_S = 3.0
_LONGEST_S = 240.0


@dataclass(frozen=True, slots=True)
class Row:
    """One page: milliseconds but for the counts; `cpu` of process and database, `cold` with empty caches.

    `first` is the first answer, which may say that figures are being counted; `cold` is until they are there.

    Of a file that is sent as it is made, the time until its first rows.
    """

    name: str
    status: int
    queries: int
    kb: float
    first: float
    cold: float
    cold_cpu: float
    wall_p50: float
    wall_p95: float
    cpu_p50: float
    cpu_p95: float
    live: bool


class Clock:
    """Processor time of this process and its database backend, in milliseconds."""

    def __init__(self, using: str = DEFAULT_DB_ALIAS) -> None:
        with connections[using].cursor() as cursor:
            if connections[using].vendor == "postgresql":
                cursor.execute("SELECT pg_backend_pid()")
                self._file: Path | None = Path(f"/proc/{cursor.fetchone()[0]}/schedstat")
            else:
                self._file = None

    def now(self) -> float:
        """Spent so far."""
        there = int(self._file.read_text(encoding="ascii").split()[0]) / 1e6 if self._file else 0.0
        return time.process_time() * 1000 + there


def measured(
    project: Project, repeats: int, only: str, sql_ms: float, wait_s: float, *, forget: bool
) -> Iterator[Row]:
    """Each page once cold and often warm; with `forget` none finds figures that a page before it has made."""
    client = Client(raise_request_exception=False)  # a page that fails is a row with its status
    client.force_login(Membership.objects.filter(project=project, role="owner").get().user)
    client.get("/desk/projects/")
    clock = Clock()
    for name, found in pages(project):
        if only not in name:
            continue
        address = _last(client, found)
        if forget:
            figures.clear()
            Job.objects.filter(kind=COUNT).delete()
        started, cpu = time.perf_counter(), clock.now()
        answer = client.get(address)
        if answer.status_code == 405:
            continue
        _body(answer)
        first = (time.perf_counter() - started) * 1000
        answer = _counted(client, address, answer, wait_s)
        cold, cold_cpu = (time.perf_counter() - started) * 1000, clock.now() - cpu
        with CaptureQueriesContext(connection) as asked:
            size = len(_body(client.get(address)))
        statements = list(asked.captured_queries)
        walls, cpus = [], []
        for _ in range(repeats if cold < _SLOW_S * 1000 else 3):
            wall, cpu = time.perf_counter(), clock.now()
            _body(client.get(address))
            walls.append((time.perf_counter() - wall) * 1000)
            cpus.append(clock.now() - cpu)
        row = Row(
            name, answer.status_code, len(statements), size / 1024, first, cold, cold_cpu,
            median(walls), _p95(walls), median(cpus), _p95(cpus), name.split()[0] in LIVE,
        )  # fmt: skip
        print(
            f"{name:60} {row.status} {row.queries:4} first {first:6.0f} cold {cold:7.0f} cpu {cold_cpu:6.0f} "
            f"wall {row.wall_p95:7.0f} cpu {row.cpu_p50:6.0f}",
            file=sys.stderr, flush=True,
        )  # fmt: skip
        for query in statements:
            if sql_ms and float(query["time"]) * 1000 >= sql_ms:
                print(f"    {query['time']} s: {query['sql']}", file=sys.stderr, flush=True)
        yield row


def _counted(client: Client, address: str, answer: Any, wait_s: float) -> Any:
    """The page itself, once the figures are there that it waits for, or after so long."""
    end = time.perf_counter() + wait_s
    while answer.status_code in (202, 429) and time.perf_counter() < end:
        for job in Job.objects.filter(kind=COUNT, state=JobState.QUEUED).values_list("pk", flat=True):
            runner.run(job_id=job)
        answer = client.get(address)
        _body(answer)
    return answer


def note_sizes(sizes: dict[str, int]) -> None:
    """Keep the bytes of the largest stored figure of each kind."""
    stored = StoredFigure.objects.filter(counted__gt=0).annotate(size=Length("value"))
    for kind, size in stored.values_list("kind", "size"):
        sizes[kind] = max(size, sizes.get(kind, 0))


def _body(answer: HttpResponse | StreamingHttpResponse) -> bytes:
    if isinstance(answer, StreamingHttpResponse):
        first = next(iter(answer.streaming_content), b"")
        answer.close()
        return bytes(first)
    return answer.getvalue()


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1] if len(values) > 1 else values[0]


def _last(client: Client, address: str) -> str:
    """The address with the number of the last page where it asks for it."""
    if "page=last" not in address:
        return address
    answer = client.get(address.replace("page=last", "page=999999999"))
    context = answer.context or {}
    names = ("page", "hits", "work", "workers", "events", "operations", "rows")
    found = (context[key] for key in names if key in context)
    number = next((each.paginator.num_pages for each in found if hasattr(each, "paginator")), 999999999)
    return address.replace("page=last", f"page={number}")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="benchmarks.deskside")
    parser.add_argument("project")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--only", default="", help="pages whose name contains this")
    parser.add_argument("--sql", type=float, default=0, help="print statements that take so many ms warm")
    parser.add_argument("--wait", type=float, default=_LONGEST_S, help="seconds for figures being counted")
    parser.add_argument("--keep", action="store_true", help="figures that another page made need no second")
    parser.add_argument("--addresses", action="store_true", help="print names and addresses, measure nothing")
    given = parser.parse_args()
    limit_connections("web")
    gc.collect()
    gc.freeze()  # as the web server does
    gc.set_threshold(10_000, 20, 20)
    project = Project.objects.get(slug=given.project)
    assert Stage.objects.filter(project=project).exists()
    if given.addresses:
        print(json.dumps(list(pages(project))))
        return
    sizes: dict[str, int] = {}
    rows = []
    for row in measured(project, given.repeats, given.only, given.sql, given.wait, forget=not given.keep):
        rows.append(asdict(row))
        note_sizes(sizes)
    print(json.dumps(rows))
    for kind, size in sorted(sizes.items(), key=lambda each: -each[1]):
        print(f"figure {kind}: {size:,} bytes as stored", file=sys.stderr, flush=True)
    print(f"peak of this process: {peak():.0f} MiB", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
