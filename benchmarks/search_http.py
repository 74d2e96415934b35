"""Measures search as JSON over HTTP: what programs with a key get, and what a request costs the server.

    python benchmarks/search_http.py FOLDER [--passages 1000000] [--clients 4] [--seconds 20] [--data DIR]

FOLDER and `--data` are those of `benchmarks/ranking.py`, which makes the passages, the index and the network.
waitress runs with two processes of eight threads; each client is a process with one connection that it keeps
and asks the turns of real conversations. Clients and server share the machine's cores.
"""

# ruff: noqa: PLC0415  # the apps can be imported once the environment names the database

import json
import os
import sys
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.load import Job, Result, middle, p95, together  # noqa: E402

PROCESSES, THREADS = 2, 8
GOAL_PER_SECOND, GOAL_MS = 300, 25
ADDRESS = "/desk/projects/speed/search/api/getanswer"
_TURNS = 400


def main() -> None:
    """Prepare, measure, print, write."""
    from benchmarks.ranking import alone, arguments

    parser = arguments(__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()

    def run(folder: Path, count: int, data: Path) -> Any:
        return measure(folder, count, data, clients=given.clients, seconds=given.seconds)

    alone(given, "Search over HTTP", run, f"waitress with {PROCESSES} processes of {THREADS} threads")


def measure(folder: Path, count: int, data: Path, *, clients: int, seconds: float) -> Any:
    """The table (a Run, whose module needs Django's environment)."""
    from benchmarks.first_page import processor_seconds
    from benchmarks.measures import Figure
    from benchmarks.ranking import conversations, prepare, with_conversations
    from benchmarks.report import Run
    from tests.server import RunningServer

    prepare(folder, count, data)
    talks = list(conversations(with_conversations(folder)))
    talks = talks[:: max(1, len(talks) // _TURNS)][:_TURNS]
    environment = {"DATA_DIR": str(data), "DATABASE_URL": f"sqlite:///{data / 'distillery.sqlite3'}"}
    key = search_key()
    with RunningServer(environment=environment, workers=PROCESSES, threads=THREADS) as server:
        jobs = [{"url": server.url, "key": key, "talks": talks[number::clients]} for number in range(clients)]
        together(ask, jobs, 3)  # every process opens index and network
        before = processor_seconds(server)
        result = together(ask, jobs, seconds)
        spent = (processor_seconds(server) - before) * 1000 / result.done
    times = result.times["search"]
    load = os.getloadavg()[0]
    return Run(
        f"JSON search over HTTP: {count:,} passages, {clients} clients, load {load:.1f}",
        "",
        [
            Figure(
                "searches a second", f"{result.per_second:.0f}", f"≥ {GOAL_PER_SECOND}",
                result.per_second >= GOAL_PER_SECOND, f"{result.refused} refused",
            ),
            Figure(
                "a search", f"{middle(times):.1f} / {p95(times):.1f} ms", f"p95 ≤ {GOAL_MS} ms",
                p95(times) <= GOAL_MS, "median / p95, by the client's clock",
            ),
            Figure("processor time of the server", f"{spent:.2f} ms a search"),
        ],
    )  # fmt: skip


def search_key() -> str:
    """A key of the owner of the project."""
    from annotation.desk.search import key_for
    from benchmarks.search_page import owner_of_project
    from web.access import ProjectAccess

    user, project = owner_of_project()
    return key_for(ProjectAccess(user, project, "owner"))


def ask(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One client: conversations in turn on one connection."""
    import itertools
    import time

    connection = HTTPConnection(job["url"].removeprefix("http://"))
    head = {"Authorization": f"Bearer {job['key']}", "Content-Type": "application/json"}
    bodies = itertools.cycle([json.dumps({"questions": talk}) for talk in job["talks"]])
    deadline = line_up()
    while time.perf_counter() < deadline:
        body, at = next(bodies), time.perf_counter()
        connection.request("POST", ADDRESS, body, head)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status == 200:
            result.add("search", at)
            result.done += 1
        else:
            result.refuse(f"{answer.status} {text[:200]!r}")
    connection.close()


if __name__ == "__main__":
    main()
