"""What calls of one requester wait for on PostgreSQL: each other's locks, the disk, or a processor.

    .venv/bin/python .ci/services.py --durable -- .venv/bin/python -m benchmarks.call_locks --clients 4

Each client is a process with the whole application, which makes calls of CreateHITWithHITType one after
another, without HTTP. Meanwhile what their connections are doing is looked at every 10 ms. The shares say on
a busy machine, too, whether calls are done one after another; the rate does not.
"""

import argparse
import multiprocessing
import os
import resource
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from benchmarks.calls import Client, Script, _backend_seconds, _installation, _result

_fork = multiprocessing.get_context("fork")
LOOK_EVERY = 0.01
_WAITS = """
    SELECT coalesce(wait_event_type || ': ' || wait_event, 'running'), count(*) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid()
    GROUP BY 1
"""


@dataclass
class Load:
    """What one client did, and what it took: seconds of the processor, changes of context."""

    calls: int
    own: float
    database: float
    switches: int


def _make_calls(keys: dict[str, str], hit_type: str, seconds: float, line: Any, loads: Any) -> None:
    from benchmarks import fill

    script = Script(Client(), **keys)
    hit = {"HITTypeId": hit_type, "LifetimeInSeconds": 3600, "Question": fill.QUESTION}

    def call(number: int) -> None:
        token = f"{os.getpid()} {number}"
        _result(script.prepare("CreateHITWithHITType", UniqueRequestToken=token, **hit)())

    for number in range(20):
        call(-number)
    line.wait()
    own, database = time.process_time(), _backend_seconds()
    switches, calls = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw, 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        calls += 1
        call(calls)
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw - switches
    loads.put(Load(calls, time.process_time() - own, _backend_seconds() - database, switches))


def measure(clients: int, seconds: float) -> tuple[list[Load], Counter[str]]:
    """What the clients did, and how often their connections were seen at what."""
    from django.db import connection, connections

    from benchmarks import fill

    keys = fill.requester()
    properties = {"Title": "t", "Description": "d", "Reward": "0.10", "AssignmentDurationInSeconds": 600}
    hit_type = _result(Script(Client(), **keys).prepare("CreateHITType", **properties)())["HITTypeId"]
    connections.close_all()  # a forked process has connections of its own
    line, loads = _fork.Barrier(clients + 1), _fork.Queue()
    processes = [
        _fork.Process(target=_make_calls, args=(keys, hit_type, seconds, line, loads), daemon=True)
        for _ in range(clients)
    ]
    for process in processes:
        process.start()
    seen: Counter[str] = Counter()
    with connection.cursor() as cursor:
        line.wait()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            cursor.execute(_WAITS)
            for what, count in cursor.fetchall():
                seen[what] += count
            time.sleep(LOOK_EVERY)
    found = [loads.get() for _ in processes]
    for process in processes:
        process.join()
    return found, seen


def main() -> int:
    """Print rate, processor time and shares."""
    parser = argparse.ArgumentParser(description="Measure what calls of one requester wait for.")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        parser.error("DATABASE_URL names no PostgreSQL.")
    with _installation():
        loads, seen = measure(arguments.clients, arguments.seconds)
    calls = sum(load.calls for load in loads)
    print(f"{calls / arguments.seconds:.0f} calls/s at a load of {os.getloadavg()[0]:.0f}")
    print(f"{sum(load.own for load in loads) / calls * 1000:.2f} ms of the application and its client")
    print(f"{sum(load.database for load in loads) / calls * 1000:.2f} ms of PostgreSQL")
    print(f"{sum(load.switches for load in loads) / calls:.1f} changes of context of the application")
    for what, count in seen.most_common():
        print(f"{what}: {count / seen.total():.0%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
