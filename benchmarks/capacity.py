"""Measures what a HIT and a judgment cost: one command, one table, the one of docs/capacity.md.

    .venv/bin/python benchmarks/capacity.py --queries 100 --workers 60

It starts PostgreSQL (fsync on), the web server and the jobs worker as an installation does, opens a judging
stage at the server's own marketplace, and has simulated workers judge everything over HTTP. Rows, bytes,
calls, processor time by kind of process, and connections are what is there afterwards and was not before.
The simulated workers' own processor time is not counted; their few looks at the database are.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import psycopg2  # noqa: E402

from benchmarks.marketplace import AS_INSTALLED, PROCESSES, THREADS, database  # noqa: E402
from benchmarks.report import machine, versions  # noqa: E402
from tests.server import RunningServer  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE_S = 900.0


def side(server: RunningServer, *arguments: object) -> Any:  # JSON
    """Run one step in a process with the server's settings; what it prints."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=ROOT,
        env=server.environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def tree(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return
    for child in children:
        yield from tree(int(child))


def seconds_of(pid: int) -> float:
    """Processor time of a process, of all below it, and of those below it that have ended."""
    total = 0
    for each in tree(pid):
        try:
            words = Path(f"/proc/{each}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, words[11:15]))
    return total / TICKS


class Watch:
    """Connections to the server's database, looked at several times a second by one of its own."""

    def __init__(self, url: str) -> None:
        self.most = self.most_active = 0
        self._done = threading.Event()
        self._connection = psycopg2.connect(url)
        self._connection.autocommit = True
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            backend = cursor.fetchone()[0]
        status = Path(f"/proc/{backend}/stat").read_text(encoding="ascii")
        self.postmaster = int(status.rpartition(")")[2].split()[1])
        self._thread = threading.Thread(target=self._look, daemon=True)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look while the block runs."""
        self._thread.start()
        try:
            yield
        finally:
            self._done.set()
            self._thread.join()
            self._connection.close()

    def _look(self) -> None:
        with self._connection.cursor() as cursor:
            while not self._done.wait(0.2):
                cursor.execute(
                    "SELECT count(*), count(*) FILTER (WHERE state <> 'idle') FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                there, active = cursor.fetchone()
                self.most, self.most_active = max(self.most, there), max(self.most_active, active)


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Let the crowd judge; what that cost."""
    with database("postgres"), RunningServer(
        environment=AS_INSTALLED, workers=PROCESSES, threads=THREADS
    ) as server:  # fmt: skip
        made = side(server, "-m", "benchmarks.capacityside", "make", given.queries)
        with (server.data_dir / "jobs.log").open("wb") as log:
            jobs = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--no-web", "--no-migrate"],
                cwd=ROOT,
                env=server.environment,
                stdout=log,
                stderr=log,
            )
        try:
            watch = Watch(server.environment["DATABASE_URL"])
            with watch.watching():
                return _work(server, jobs.pid, watch, made["stage"], given)
        finally:
            jobs.terminate()
            jobs.wait(60)


def _work(
    server: RunningServer, jobs: int, watch: Watch, stage: str, given: argparse.Namespace
) -> dict[str, Any]:
    processes = {"web": server.pids, "jobs": [jobs], "database": [watch.postmaster]}
    before = side(server, "-m", "benchmarks.capacityside", "look")
    begun = time.monotonic()
    spent = {name: sum(map(seconds_of, pids)) for name, pids in processes.items()}
    _wait_until(server, begun, lambda there: there["hits"] and not there["unsettled"])
    crowd = side(
        server, "manage.py", "simulate", stage, "--workers", given.workers, "--mix", "diligent", "--fast",
        "--no-tick", "--threads", given.threads, "--json",
    )  # fmt: skip
    after = _wait_until(server, begun, lambda there: not there["unsettled"])
    spent = {name: sum(map(seconds_of, pids)) - spent[name] for name, pids in processes.items()}
    wall = time.monotonic() - begun
    quiet = {name: sum(map(seconds_of, pids)) for name, pids in processes.items()}
    time.sleep(given.rest)
    quiet = {
        name: (sum(map(seconds_of, pids)) - quiet[name]) / given.rest for name, pids in processes.items()
    }
    return {
        "before": before, "after": after, "wall": wall, "cpu": spent, "at_rest": quiet, "crowd": crowd,
        "connections": watch.most, "active": watch.most_active,
    }  # fmt: skip


def _wait_until(server: RunningServer, begun: float, done: Callable[[Any], object]) -> Any:  # JSON
    """Look every two seconds until it is so, or for too long; what is there then."""
    while True:
        there = side(server, "-m", "benchmarks.capacityside", "look")
        if done(there) or time.monotonic() - begun > PATIENCE_S:
            return there
        time.sleep(2)


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The tables, in Markdown."""
    before, after = found["before"], found["after"]
    judgments, hits, work = (after[name] - before[name] for name in ("judgments", "hits", "assignments"))
    units = judgments / work
    yield (
        f"{hits} HITs, {work} assignments of {units:.1f} judgments each, {judgments} judgments, "
        f"in {found['wall']:.0f} s; {after['unsettled']} unsettled at the end."
    )
    yield ""
    yield "| | a judgment | an assignment | a HIT |"
    yield "|---|---|---|---|"

    def row(what: str, total: float, unit: str = "", digits: int = 2) -> str:
        shares = (total / each for each in (judgments, work, hits))
        return f"| {what} | " + " | ".join(f"{share:,.{digits}f}{unit}" for share in shares) + " |"

    rows, sizes = _growth(before["tables"], after["tables"])
    market = [name for name in rows if name.startswith("marketplace_")]
    desk = [name for name in rows if name not in market]
    yield row("rows, desk", sum(rows[name] for name in desk))
    yield row("rows, own marketplace", sum(rows[name] for name in market))
    yield row("bytes with indexes, desk", sum(sizes[name] for name in desk), digits=0)
    yield row("bytes with indexes, own marketplace", sum(sizes[name] for name in market), digits=0)
    yield row("calls that change something", sum(_more(before, after, "operations").values()))
    calls = _more(before, after, "calls")
    yield row("calls in all, with those that look", sum(calls.values()))
    for name, seconds in found["cpu"].items():
        yield row(f"processor time, {name}", seconds * 1000, " ms", 1)
    yield row("processor time in all", sum(found["cpu"].values()) * 1000, " ms", 1)
    yield ""
    rest = ", ".join(f"{name} {share:.2f}" for name, share in found["at_rest"].items())
    yield f"Processors in use with nothing to do: {rest}."
    yield (
        f"Connections to the database: {found['connections']} at most, {found['active']} of them busy "
        f"at once ({PROCESSES} web processes of {THREADS} threads, one jobs worker, the simulation)."
    )
    yield "Calls: " + ", ".join(f"{name} {count}" for name, count in sorted(calls.items())) + "."
    yield ""
    yield "| table | rows per judgment | rows per assignment | bytes a row |"
    yield "|---|---|---|---|"
    for name in sorted(rows, key=lambda name: -sizes[name]):
        if rows[name] > 0:
            share = f"{rows[name] / judgments:.3f} | {rows[name] / work:.2f}"
            yield f"| `{name}` | {share} | {sizes[name] / rows[name]:,.0f} |"


def _growth(
    before: dict[str, list[int]], after: dict[str, list[int]]
) -> tuple[dict[str, int], dict[str, int]]:
    rows = {name: after[name][0] - before[name][0] for name in after}
    sizes = {name: after[name][1] - before[name][1] for name in after}
    return rows, sizes


def _more(before: dict[str, Any], after: dict[str, Any], what: str) -> dict[str, int]:
    return {name: count - before[what].get(name, 0) for name, count in after[what].items()}


def main() -> int:
    """Measure what the command line asks for; 1 where the work was not finished."""
    parser = argparse.ArgumentParser(description="Measure what a HIT and a judgment cost.")
    parser.add_argument("--queries", type=int, default=100, help="50 judgments come on each")
    parser.add_argument("--workers", type=int, default=60, help="simulated workers")
    parser.add_argument("--threads", type=int, default=4, help="of them at the same moment")
    parser.add_argument("--rest", type=float, default=30, help="seconds to look at it with nothing to do")
    parser.add_argument("--json", type=Path, help="write all figures to this file as well")
    given = parser.parse_args()
    found = measure(given)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"{machine()}; {versions()}; load {os.getloadavg()[0]:.0f}.\n")
    print("\n".join(lines(found)))
    return int(bool(found["after"]["unsettled"]))


if __name__ == "__main__":
    sys.exit(main())
