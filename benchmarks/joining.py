"""Measures people who come over a study link: an hour's arrivals in a shorter time, each from link to code.

    .venv/bin/python benchmarks/joining.py --database both --people 1000 --minutes 5

Everybody opens the link, agrees, opens a task, submits it, and does so until the link has no more for them;
each comes from a network address of their own, over HTTP to waitress, at random moments of an even rate.
Between their pages people wait, in proportion to the shortened hour. A round of the timer runs beside them,
as an installation's does. Afterwards the books are looked at: errors, people twice on a place, places over.

`--people 67 --minutes 4 --think 20` is four minutes of the hour at its own rate. On a machine in use,
the processor time of the server for each request says more than any wall clock.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import urllib3  # noqa: E402
from rich.console import Console  # noqa: E402

from benchmarks.marketplace import PROCESSES, THREADS, database  # noqa: E402
from benchmarks.measures import Figure  # noqa: E402
from benchmarks.report import Run, machine, markdown, show, versions  # noqa: E402
from tests.server import RunningServer  # noqa: E402

TITLE = "Measurements of people who join by a link"
#: What the project asks for.
P95_MS = 300.0
#: Pages of one person stand so far apart in an hour that is not shortened.
_THINK_S = 40.0
_HIDDEN = re.compile(r'name="(\w+)" value="([^"]*)"')


@dataclass
class Tally:
    """What happened on the way, from all threads."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Person:
    """A browser of its own: cookies, an address, and time to think."""

    def __init__(self, number: int, url: str, tally: Tally, think: float) -> None:
        self._url, self._tally, self._think = url, tally, think
        self._pool = urllib3.PoolManager(maxsize=1, retries=False, timeout=60.0)
        self._headers = {"X-Forwarded-For": f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"}
        self._cookies: dict[str, str] = {}
        self._random = random.Random(number)

    def go(self, path: str) -> None:
        """From the link to the page at the end."""
        page = self._ask("link", "GET", path)
        form = {**dict(_HIDDEN.findall(page)), "agree": "yes"}
        page = self._ask("agree", "POST", f"{path}agree/", form)
        for _ in range(20):
            hidden = dict(_HIDDEN.findall(page))
            if "ticket" not in hidden:
                break
            self._wait()
            form = {"ticket": hidden["ticket"], "0|choice": self._random.choice(["yes", "no"])}
            page = self._ask("submit", "POST", self._at, form)
        if "DONE-CODE" not in page:
            raise RuntimeError(f"no code at the end: {page[:300]}")

    def _wait(self) -> None:
        time.sleep(self._think * self._random.uniform(0.5, 1.5))

    def _ask(self, what: str, method: str, address: str, form: dict[str, str] | None = None) -> str:
        """The page at the end of all redirects; each request is one measured page."""
        for _ in range(6):
            began = time.monotonic()
            answer = self._pool.request(
                method,
                address if "://" in address else self._url + address,
                body=urlencode(form) if form else None,
                redirect=False,
                headers={
                    **self._headers,
                    **({"Content-Type": "application/x-www-form-urlencoded"} if form else {}),
                    "Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items()),
                },
            )
            took = time.monotonic() - began
            for line in answer.headers.getlist("Set-Cookie"):
                name, _, rest = line.partition("=")
                self._cookies[name] = rest.partition(";")[0]
            kind = what if answer.status != 200 or method == "POST" else _kind(address)
            with self._tally.lock:
                self._tally.times.setdefault(kind, []).append(took)
                if answer.status >= 400:
                    self._tally.errors.append(f"{answer.status} {method} {urlsplit(address).path[:60]}")
            if answer.status in (301, 302, 303, 307):
                address, method, form = answer.headers["Location"], "GET", None
                continue
            self._at = address
            return answer.data.decode()
        raise RuntimeError("redirects without end")


def _kind(address: str) -> str:
    return "task" if "/task/" in address else "link"


def rounds(server: RunningServer, over: threading.Event) -> None:
    """What the timer does beside people."""
    while not over.wait(5.0):
        subprocess.run(
            [sys.executable, "manage.py", "crowd", "tick"],
            cwd=ROOT,
            env=server.environment,
            capture_output=True,
            check=False,
        )


def measure(name: str, arguments: argparse.Namespace, console: Console) -> Run:
    """One database, one server that starts empty."""
    environment = {"BEHIND_TLS_PROXY": "1"}
    with database(name), RunningServer(environment=environment, workers=PROCESSES, threads=THREADS) as server:
        made = side(server, "make", arguments.people, arguments.tasks)
        run = Run(made["name"], made["durability"])
        tally, over = Tally(), threading.Event()
        length = arguments.minutes * 60
        timer = threading.Thread(target=rounds, args=(server, over), daemon=True)
        timer.start()
        chance = random.Random(1)
        moments = sorted(chance.uniform(0, length) for _ in range(arguments.people))
        began, used = time.monotonic(), processor_seconds(server)
        think = arguments.think if arguments.think is not None else _THINK_S * length / 3600

        def come(number: int, moment: float) -> None:
            time.sleep(max(0.0, began + moment - time.monotonic()))
            try:
                Person(number, server.url, tally, think).go(made["path"])
            except Exception as error:  # counted, whatever it was
                with tally.lock:
                    tally.errors.append(f"{type(error).__name__}: {error}"[:300])
            else:
                with tally.lock:
                    tally.done += 1

        with ThreadPoolExecutor(min(400, arguments.people)) as pool:
            list(pool.map(come, range(1, arguments.people + 1), moments))
        took, used = time.monotonic() - began, processor_seconds(server) - used
        over.set()
        timer.join()
        found = side(server, "look")
        run.figures.extend(figures(tally, found, arguments, took))
        requests = sum(map(len, tally.times.values()))
        per = used / requests * 1000 if requests else 0.0
        run.figures.append(
            Figure("processor time of the server for a request", f"{per:.1f} ms", note=f"{used:.1f} s in all")
        )
    for figure in run.figures:
        console.print(f"  {figure.what}: {figure.value} {figure.note}", soft_wrap=True)
    return run


def processor_seconds(server: RunningServer) -> float:
    """What the server's processes have used, its workers among them."""
    assert server._process is not None
    ticks, master = 0, str(server._process.pid)
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            parts = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if each.parent.name == master or parts[1] == master:
            ticks += int(parts[11]) + int(parts[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def side(server: RunningServer, *arguments: object) -> Any:  # JSON
    """What happens inside the server's settings."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.joiningside", *map(str, arguments)],
        cwd=ROOT,
        env={**server.environment, "TASK_URL": server.url, "PUBLIC_URL": server.url},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"benchmarks.joiningside {arguments}: {done.stderr[-6000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def figures(tally: Tally, found: Any, arguments: argparse.Namespace, took: float) -> list[Figure]:
    """The table: people, errors, times by page, and what the database has."""
    everything = sorted(each for times in tally.times.values() for each in times)
    load = f"load {os.getloadavg()[0]:.0f} at the end"
    lines = [
        Figure(
            f"{arguments.people:,} people in {took / 60:.1f} min",
            f"{tally.done:,} at their code",
            f"{arguments.people:,}",
            tally.done == arguments.people,
            f"{len(everything):,} requests, {len(everything) / took:.0f}/s; {load}",
        ),
        Figure(
            "errors",
            f"{len(tally.errors)}",
            "0",
            not tally.errors,
            "; ".join(sorted(set(tally.errors))[:3]),
        ),
        Figure(
            "p95 of all pages",
            f"{_ms(everything, 0.95)} ms",
            f"< {P95_MS:.0f} ms",
            _p(everything, 0.95) * 1000 < P95_MS,
            f"median {_ms(everything, 0.5)}, p99 {_ms(everything, 0.99)} ms",
        ),
    ]
    for kind, times in sorted(tally.times.items()):
        ordered = sorted(times)
        lines.append(
            Figure(
                f"  {kind}",
                f"{_ms(ordered, 0.5)}, {_ms(ordered, 0.95)}, {_ms(ordered, 0.99)} ms",
                note=f"median, p95, p99 of {len(ordered):,}",
            )
        )
    for what in ("places given twice", "units twice to one person", "answers lost"):
        lines.append(Figure(what, str(found[what]), "0", found[what] == 0))
    lines.append(Figure("answers stored", f"{found['answers']:,}", note=f"of {found['places']:,} places"))
    return lines


def _p(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def _ms(ordered: list[float], share: float) -> str:
    return f"{_p(ordered, share) * 1000:.0f}"


def main() -> int:
    """Measure what the command line asks for; 1 where a target was missed."""
    parser = argparse.ArgumentParser(description="Measure people who join by a study link.")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"])
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--minutes", type=float, default=5.0, help="into which the hour is shortened")
    parser.add_argument("--think", type=float, help="seconds between pages; default: in proportion")
    parser.add_argument("--tasks", type=int, default=3, help="tasks for each person")
    parser.add_argument("--markdown", type=Path, help="write the table to this file as well")
    arguments = parser.parse_args()
    given = arguments.database or ("postgres" if os.environ.get("DATABASE_URL") else "sqlite")
    names = ["sqlite", "postgres"] if given == "both" else [given]
    console = Console(stderr=True, highlight=False)
    runs = []
    for name in names:
        console.print(f"Measuring on {name} …")
        runs.append(measure(name, arguments, console))
    lines = [
        machine(),
        versions(),
        f"Server: waitress, {PROCESSES} processes with {THREADS} threads each; real HTTP over loopback. "
        "People are threads of one process on the same machine; the timer has a round every five seconds.",
    ]
    show(runs, lines, peers=())
    if arguments.markdown:
        arguments.markdown.write_text(markdown(runs, lines, peers=()), encoding="utf-8")
    return int(any(figure.met is False for run in runs for figure in run.figures))


if __name__ == "__main__":
    sys.exit(main())
