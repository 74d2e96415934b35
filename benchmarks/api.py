"""The REST API over HTTP: one project, a list of 200 rows, an export of the log as JSONL.

python -m benchmarks.api [--database sqlite postgres] [--events 100000] [--clients 4] [--seconds 10]
"""

import time
from collections.abc import Iterator
from urllib.request import Request, urlopen

from benchmarks import common
from benchmarks.common import Figure, memory_mib, percentile, processor_seconds, run_step
from benchmarks.load import request_pages, run_together

PROJECT = "/api/v1/projects/tea"
LINES = {"Accept": "application/jsonl"}
#: What is measured, and the most milliseconds that 95 of 100 may take.
PATHS = {
    "one project": (PROJECT, 25),
    "list of 200 entries of the log": (f"{PROJECT}/audit/entries?limit=200", 60),
}


def make_events(count: int) -> str:
    """A project with so many events; a token of its owner."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.utils import timezone

    from core.api.tokens import create_token
    from core.projects.models import Event
    from core.projects.services import create_project

    owner = User.objects.create_user("olga")
    project = create_project(slug="tea", title="Tea", owner=owner)
    now = timezone.now()
    events = (
        Event(
            project=project,
            at=now,
            actor=owner,
            action="assignment.approved",
            subject=f"poll 3A{number}",
            details={"worker": f"A{number % 997}", "why": "Good work."},
            address="192.0.2.7",
        )
        for number in range(count)
    )
    Event.objects.bulk_create(events, batch_size=5_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # without it PostgreSQL plans a new table as an empty one
    return create_token(user=owner, scopes=["read"])[1]


def measure(events: int, clients: int, seconds: float) -> Iterator[Figure]:
    """All figures on the database in use."""
    with common.our_server(API_REQUESTS_PER_SECOND="0") as server:
        token = run_step("benchmarks.api", "events", events, environment=server.environment)["value"]
        headers = {"Authorization": f"Bearer {token}"}
        for name, (path, goal) in PATHS.items():
            job = {"url": server.url, "path": path, "headers": headers}
            run_together(request_pages, [job] * 8, 2)  # the first request of a process loads the operations
            for count in (1, clients):
                result = run_together(request_pages, [job] * count, seconds, pids=server.pids)
                quick = percentile(result.times["request"], 0.95) <= goal and not result.refused
                rate = f"{result.per_second:.0f}/s"
                yield Figure(f"{name}, {count} clients", rate, f"p95 ≤ {goal} ms", quick, result.describe())
        memory = max(memory_mib("VmHWM", pid) for pid in server.pids)
        begin, processor, rows = time.perf_counter(), sum(map(processor_seconds, server.pids)), 0
        with urlopen(
            Request(f"{server.url}{PROJECT}/audit/entries", headers=headers | LINES), timeout=600
        ) as answer:
            while piece := answer.read(1 << 16):
                rows += piece.count(b"\n")
        rate = rows / (time.perf_counter() - begin)
        more = max(memory_mib("VmHWM", pid) for pid in server.pids) - memory
        each = rows / max(0.01, sum(map(processor_seconds, server.pids)) - processor)
        note = f"{each:,.0f} a second of the server's processors, {more:.0f} MiB more"
        yield Figure(f"export of {rows:,} entries", f"{rate:,.0f} rows/s", "≥ 10,000/s", rate >= 10_000, note)


def main() -> None:
    """Measure and print."""
    parser = common.parser_of(__doc__)
    common.add_databases(parser)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    if options.step:
        common.set_up_django()
        common.answer_step({"events": make_events}, options.step)
        return
    print(common.describe_machine("waitress", "django-ninja"))
    for name in options.database:
        with common.use_database(name):
            figures = measure(options.events, options.clients, options.seconds)
            common.print_table(f"The REST API on {name}", figures)


if __name__ == "__main__":
    main()
