"""Measures an hour of a busy marketplace: 200 workers, 100,000 HITs, a requester's scripts, all at once.

    .venv/bin/python benchmarks/market_load.py

The hour is the marketplace's own: its clock runs three times as fast when the hour takes twenty minutes, and
so do the people. It starts a PostgreSQL of its own, which writes to disk as an installation's does, unless
DATABASE_URL names one; `--database sqlite` measures the other kind.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import quantiles
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402

from benchmarks.load import Job, Result, together  # noqa: E402
from benchmarks.market_hour import run  # noqa: E402
from benchmarks.marketplace import PROCESSES, THREADS, database  # noqa: E402
from benchmarks.measures import Figure  # noqa: E402
from benchmarks.report import Run, machine, markdown, show, versions  # noqa: E402
from tests.server import RunningServer  # noqa: E402

TITLE = "An hour of a busy marketplace"
HOUR = 3600.0
#: Processes that the workers are spread over.
CROWDS = 4
#: What the project asks for: 95 of 100 answers within this time; memory that stays as it is.
WITHIN_MS = 100.0
MORE_MIB = 24.0
PAGES = (
    "groups",
    "preview",
    "accept",
    "working page",
    "submit",
    "after submitting",
    "return",
    "earnings",
    "history",
    "queue",
)


class Bench:
    """A server with stock and people, and processes beside it."""

    def __init__(self, server: RunningServer, arguments: argparse.Namespace) -> None:
        self.server, self.arguments = server, arguments

    def inside(self, *arguments: object) -> "subprocess.Popen[str]":
        """Start something that needs the server's settings."""
        command = [sys.executable, "-m", "benchmarks.marketside", *map(str, arguments)]
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.server.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def told(self, *arguments: object) -> Any:  # JSON
        """The same, to its end; what it printed."""
        return _ended(self.inside(*arguments))

    def jobs(self) -> list[Job]:
        """What each process of the hour is told."""
        requester = self.told("stock", self.arguments.hits)
        people = self.told("people", self.arguments.workers)
        host, port = self.server.url.removeprefix("http://").split(":")
        speed = HOUR / (self.arguments.minutes * 60)
        common = {"host": host, "port": int(port), "url": self.server.url, "speed": speed}
        crowds = [people[number::CROWDS] for number in range(CROWDS)]
        told = [{"kind": "workers", "people": crowd} for crowd in crowds]
        told.append({"kind": "requester", "endpoint": self.server.api_url, **requester})
        told.append({"kind": "clock", "pids": self.server.pids, "test_token": self.server.test_token})
        return [{**common, **each, "seed": 1_000 * number} for number, each in enumerate(told)]


def _ended(process: "subprocess.Popen[str]") -> Any:  # JSON
    out, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{process.args}: {errors[-3000:]}")
    return json.loads(out)


def hour(bench: Bench) -> list[Figure]:
    """Everybody at work for the hour; the table of what came of it."""
    seconds = bench.arguments.minutes * 60
    jobs = bench.jobs()
    sweeping = bench.inside("timer", seconds, 10 / jobs[0]["speed"])
    result = together(run, jobs, seconds)
    sweeps = _ended(sweeping)["sweeps"]
    found = bench.told("count")
    return [
        *_happened(result, found, seconds),
        *_times(result),
        *_memory(result.times["memory"]),
        Figure("the sweep", _spread(sweeps), note=f"{len(sweeps)} times, every 10 s of the hour"),
    ]


def _happened(result: Result, found: dict[str, Any], seconds: float) -> list[Figure]:
    def counted(what: str) -> int:
        return len(result.times.get(f"#{what}", []))

    submitted = found["submitted"] + found["approved"] + found["rejected"]
    ticks = len(result.times["memory"])  # each of them moved the clock
    asked = ticks + sum(len(result.times[name]) for name in (*_pages(result), *_calls(result)))
    processor = result.times["processor"][0]
    decided = (found["approved"] - found["auto_approved"], found["rejected"], found["bonuses"])
    wanted = (counted("approved"), counted("rejected"), counted("bonus"))
    return [
        Figure(
            "requests in the hour",
            f"{asked:,}",
            note=f"{asked / seconds:.0f}/s; {submitted / seconds:.1f} assignments submitted a second; "
            f"{processor * 1000 / asked:.1f} ms of processor each, without the database's",
        ),
        Figure(
            "errors",
            f"{result.refused}",
            "0",
            result.refused == 0,
            "; ".join(result.troubles[:2]).replace("|", "/").replace("\n", " "),
        ),
        Figure(
            "assignments submitted, all with their answers",
            f"{submitted:,}",
            note=f"{found['returned']:,} returned, {found['abandoned']:,} ran out of time, "
            f"{found['accepted']:,} still in hand; {counted('overtaken'):,} times somebody was faster",
        ),
        Figure(
            "approved, rejected, bonuses: there = asked for",
            ", ".join(f"{number:,}" for number in decided),
            ", ".join(f"{number:,}" for number in wanted),
            decided == wanted and found["answers"] == submitted,
            f"{found['auto_approved']:,} approved by time",
        ),
        Figure(
            "HITs",
            f"{found['hits']:,}",
            note=f"{counted('published'):,} published in the hour, {found['expired']:,} expired, "
            f"{counted('listed'):,} listed by the script that lists all",
        ),
        Figure(
            "the ledger",
            "; ".join(found["faults"]) or "every cent is accounted for",
            "no fault",
            not found["faults"],
        ),
    ]


def _pages(result: Result) -> list[str]:
    return [name for name in PAGES if result.times.get(name)]


def _calls(result: Result) -> list[str]:
    return sorted(name for name in result.times if name[0].isupper())


def _times(result: Result) -> list[Figure]:
    figures = []
    asked = (("all pages of workers", _pages(result)), ("all calls of requesters", _calls(result)))
    for title, names in asked:
        together = [each for name in names for each in result.times[name]]
        late = quantiles(together, n=100)[94]
        figures.append(
            Figure(
                title, _spread(together), f"p95 < {WITHIN_MS:.0f} ms", late < WITHIN_MS, f"{len(together):,}"
            )
        )
        figures += [
            Figure(f"- {name}", _spread(result.times[name]), note=f"{len(result.times[name]):,}")
            for name in names
        ]
    return figures


def _memory(samples: list[float]) -> list[Figure]:
    """At the start everything has been asked for once: a twentieth of the hour has passed."""
    start, middle, end = (samples[int(len(samples) * part)] for part in (0.05, 0.5, 0.99))
    return [
        Figure(
            "memory of the server at the start, in the middle, at the end",
            f"{start:.0f}, {middle:.0f}, {end:.0f} MiB",
            f"grows < {MORE_MIB:.0f} MiB",
            end - start < MORE_MIB,
            f"{PROCESSES} processes, highest {max(samples):.0f} MiB",
        )
    ]


def _spread(times: list[float]) -> str:
    """Median, 95th and 99th percentile."""
    if len(times) < 2:
        return ", ".join(f"{each:.0f} ms" for each in times)
    cuts = quantiles(times, n=100)
    return f"{cuts[49]:.0f} / {cuts[94]:.0f} / {cuts[98]:.0f} ms"


def main() -> int:
    """Measure; 1 where a target was missed."""
    parser = argparse.ArgumentParser(description="Measure an hour of a busy marketplace.")
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="postgres")
    parser.add_argument("--minutes", type=float, default=20, help="what the hour takes (default: 20)")
    parser.add_argument("--workers", type=int, default=200, help="people at work (default: 200)")
    parser.add_argument("--hits", type=int, default=100_000, help="open HITs at the start (default: 100,000)")
    parser.add_argument("--markdown", type=Path, help="write the table to this file as well")
    arguments = parser.parse_args()
    Console(stderr=True).print(f"An hour in {arguments.minutes:g} minutes on {arguments.database} …")
    with database(arguments.database), RunningServer(workers=PROCESSES, threads=THREADS) as server:
        bench = Bench(server, arguments)
        about = bench.told("settle")
        measured = Run(about["name"], about["durability"], hour(bench))
    lines = [
        f"Machine: {machine()}; server, database, workers and scripts share it.",
        f"Software: {versions()}.",
        f"Server: waitress, {PROCESSES} processes with {THREADS} threads each, with test controls; "
        "real HTTP over loopback.",
        f"{measured.database}: {measured.durability}.",
        f"{arguments.workers} workers, {arguments.hits:,} open HITs at the start, one hour in "
        f"{arguments.minutes:g} minutes. Times are median / 95th / 99th percentile.",
    ]
    show([measured], lines, peers=())
    if arguments.markdown:
        arguments.markdown.write_text(markdown([measured], lines, title=TITLE, peers=()), encoding="utf-8")
    return int(any(figure.met is False for figure in measured.figures))


if __name__ == "__main__":
    sys.exit(main())
