"""Measures our side of the wire: publishing, collecting, a large run through faults. One command, one table.

    .venv/bin/python benchmarks/crowd.py --database both --hits 10000

Without --database it takes the PostgreSQL server of DATABASE_URL, or SQLite where that is not set. The
marketplace is a server of its own process on the same machine; everything goes over HTTP through boto3.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402

from benchmarks.marketplace import PROCESSES, THREADS, database  # noqa: E402
from benchmarks.measures import Figure  # noqa: E402
from benchmarks.report import Run, machine, markdown, show, versions  # noqa: E402
from tests.server import RunningServer  # noqa: E402

TITLE = "Measurements of our side of the wire"
#: What the project asks for, per second.
PUBLISHED, COLLECTED = 100.0, 2_000.0
#: Memory may grow by this much between the smaller and the larger collection.
MORE_MIB = 24.0
FAULTS = {"throttle_rate": 0.05, "error_rate": 0.02, "duplicate_events": True}


class Bench:
    """A server, and processes beside it that do the work."""

    def __init__(self, server: RunningServer, arguments: argparse.Namespace) -> None:
        self.server, self.sizes = server, arguments

    def side(self, *arguments: object) -> Any:  # JSON
        """Run one measurement in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.crowdside", *map(str, arguments)],
            cwd=ROOT,
            env={**self.server.environment, "TASK_URL": self.server.url},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"benchmarks.crowdside {arguments}: {done.stderr[-6000:]}")
        return json.loads(done.stdout)


def publishing(bench: Bench) -> Iterator[Figure]:
    """Planning and sending HITs."""
    count = bench.sizes.publish
    found = bench.side("publish", count)
    rate = count / (found["planning_s"] + found["sending_s"])
    exact = found["planned"] == found["published"] == found["theirs"] == count
    yield Figure(
        f"publish {count:,} HITs",
        f"{rate:,.0f} HITs/s",
        f"≥ {PUBLISHED:.0f}",
        exact and rate >= PUBLISHED,
        f"planning {found['planning_s']:.1f} s, sending {found['sending_s']:.1f} s; "
        f"the marketplace has {found['theirs']:,}",
    )


def collecting(bench: Bench) -> Iterator[Figure]:
    """Collecting submitted assignments, in large HITs and in small ones."""
    sizes = sorted({min(10_000, bench.sizes.collect), bench.sizes.collect})
    peaks = []
    for count in sizes:
        found = _collect(bench, count, 100)
        peaks.append(found["peak_mib"])
        yield _collected(found, count, 100, COLLECTED)
    yield Figure(
        "memory of the collector",
        " → ".join(f"{peak:.0f} MiB" for peak in peaks),
        f"grows by < {MORE_MIB:.0f} MiB",
        peaks[-1] - peaks[0] < MORE_MIB,
        " and ".join(f"{count:,}" for count in sizes) + " assignments, peak without the mapped database",
        +" assignments, peak of the process without the mapped database",
    )
    small = sizes[0]
    yield _collected(_collect(bench, small, 9), small, 9, None)


def _collect(bench: Bench, count: int, places: int) -> Any:  # JSON
    stage = bench.side("fill", count, places)
    return {**bench.side("collect", stage["stage"]), "made": stage["assignments"]}


def _collected(found: Any, count: int, places: int, target: float | None) -> Figure:
    rate = found["made"] / found["seconds"]
    exact = found["states"] == {"submitted": found["made"]} and found["approvals_planned"] == found["made"]
    return Figure(
        f"collect {count:,} assignments",
        f"{rate:,.0f} assignments/s",
        f"≥ {target:,.0f}" if target else "",
        exact and rate >= target if target else None,
        f"in HITs of {places}; peak {found['peak_mib']:.0f} MiB" + ("" if exact else "; NOT ALL COLLECTED"),
    )


def faults(bench: Bench) -> Iterator[Figure]:
    """HITs published, worked on and collected while calls are throttled and fail: a table of checks."""
    hits, people = bench.sizes.hits, bench.sizes.workers
    bench.server.chaos(**FAULTS)
    started = time.monotonic()
    found = bench.side("chaos", hits, people)
    bench.server.reset()
    minutes = (time.monotonic() - started) / 60
    crowds = found["said"]
    yield Figure(
        f"{hits:,} HITs through faults",
        f"{minutes:.1f} min",
        note=f"{people} simulated workers, 5 % throttled, 2 % errors; {found['calls']:,} calls, "
        f"{found['repeated']:,} operations repeated; "
        + ", ".join(f"{sum(crowd[what] for crowd in crowds):,} {what}" for what in ("returned", "abandoned")),
    )

    def check(what: str, here: object, there: object, note: str = "") -> Figure:
        return Figure(what, f"{here}", f"{there}", here == there, note)

    yield check("HITs here = at the marketplace", found["hits_ours"], found["hits_theirs"])
    yield check("HITs published twice", found["hits_twice"], 0)
    yield check("assignments here = at the marketplace", found["work_ours"], found["work_theirs"])
    yield check("assignments lost", found["work_lost"], 0)
    yield check("units answered more often than asked", found["work_twice"], 0)
    yield check("answers still missing", found["units_missing"], 0)
    yield check("in quarantine", found["quarantined"], 0)
    yield check("cents spent here = paid there", found["spent_cents"], found["paid_cents"], "with fees")
    yield check("cents in the ledger = on the stage", found["ledger_spent_cents"], found["spent_cents"])
    yield check("cents still reserved", found["reserved_cents"], 0)
    yield Figure(
        "highest reserved and spent",
        f"{found['highest_cents']:,} cents",
        f"≤ {found['cap_cents']:,}",
        found["highest_cents"] <= found["cap_cents"],
        "the cap, seen a few times a second",
    )
    yield check("operations unfinished", found["unfinished"], 0, f"{found['needs_person']} for a person")


MEASURES: dict[str, Callable[[Bench], Iterator[Figure]]] = {
    "publish": publishing,
    "collect": collecting,
    "faults": faults,
}


def measure(name: str, arguments: argparse.Namespace, console: Console) -> Run:
    """All that is asked for on one database, each on a server that starts empty."""
    run = Run(name, "")
    for what in arguments.only or MEASURES:
        with database(name), RunningServer(workers=PROCESSES, threads=THREADS) as server:
            bench = Bench(server, arguments)
            about = bench.side("settle")
            run.database, run.durability = about["name"], about["durability"]
            for figure in MEASURES[what](bench):
                run.figures.append(figure)
                console.print(f"  {figure.what}: {figure.value}", soft_wrap=True)
    return run


def main() -> int:
    """Measure what the command line asks for; 1 where a target was missed."""
    parser = argparse.ArgumentParser(description="Measure our side of the wire.")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"])
    parser.add_argument("--publish", type=int, default=2_000, help="HITs to publish")
    parser.add_argument("--collect", type=int, default=50_000, help="assignments to collect")
    parser.add_argument("--hits", type=int, default=10_000, help="HITs of the run through faults")
    parser.add_argument(
        "--workers", type=int, default=200, help="simulated workers of the run through faults"
    )
    parser.add_argument("--only", choices=list(MEASURES), action="append", help="measure only this")
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
        f"Machine: {machine()}; marketplace, our side and the workers share it.",
        f"Software: {versions()}.",
        f"Server: waitress, {PROCESSES} processes with {THREADS} threads each; real HTTP over loopback.",
        *(f"{run.database}: {run.durability}." for run in runs),
    ]
    show(runs, lines, peers=())
    if arguments.markdown:
        arguments.markdown.write_text(markdown(runs, lines, title=TITLE, peers=()), encoding="utf-8")
    return int(any(figure.met is False for run in runs for figure in run.figures))


if __name__ == "__main__":
    sys.exit(main())
