"""Measures the marketplace: one command, one table.

    .venv/bin/python benchmarks/marketplace.py --database both --seconds 10

Without --database it takes the PostgreSQL server of DATABASE_URL, or SQLite where that is not set. For `both`
and `postgres` it starts a PostgreSQL of its own, which writes to disk as an installation's does (fsync on).
`--turkle FOLDER` puts Turkle under the same load in the same run; benchmarks/turkle.py says what it needs.
"""

import argparse
import atexit
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from rich.console import Console  # noqa: E402

from benchmarks.measures import MEASURES, Bench, Figure  # noqa: E402
from benchmarks.report import PEERS, Run, conditions, markdown, show  # noqa: E402
from benchmarks.turkle import TurkleError, measure_turkle  # noqa: E402
from tests.server import RunningServer, drop_template  # noqa: E402

PROCESSES, THREADS = 2, 8
#: Test controls cost queries that no installation pays.
AS_INSTALLED = {"MARKETPLACE_TEST_TOKEN": ""}
#: Four clients of one requester pass its limit of 200 calls a second; what is measured is the server.
UNLIMITED = {**AS_INSTALLED, "MARKETPLACE_REQUESTS_PER_SECOND": "0"}


def services() -> ModuleType:
    """The module that starts PostgreSQL for the build."""
    spec = importlib.util.spec_from_file_location("services", ROOT / ".ci" / "services.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def database(name: str) -> Iterator[None]:
    """Have DATABASE_URL name this database while the block runs."""
    before = os.environ.pop("DATABASE_URL", None)
    try:
        if name == "sqlite":
            yield
        elif before:
            os.environ["DATABASE_URL"] = before
            yield
        else:
            with services().services(durable=True) as variables:
                os.environ["DATABASE_URL"] = variables["DATABASE_URL"]
                yield
                atexit.unregister(drop_template)  # it goes with its server
    finally:
        os.environ.pop("DATABASE_URL", None)
        if before:
            os.environ["DATABASE_URL"] = before


def measure(
    name: str, seconds: float, wanted: list[str], console: Console, turkle: Path | None = None
) -> Run:
    """All figures on one database, on a server that starts empty; then Turkle's, on a database of its own."""

    def note(figure: Figure) -> None:
        run.figures.append(figure)
        console.print(f"  {figure.what}: {figure.value}", soft_wrap=True)

    with database(name):
        with RunningServer(environment=UNLIMITED, workers=PROCESSES, threads=THREADS) as server:
            bench = Bench(server, name, seconds)
            about = bench.fill("settle")
            run = Run(about["name"], about["durability"])
            for what in wanted:
                for figure in MEASURES[what](bench):
                    note(figure)
        if turkle is not None:
            for figure in measure_turkle(turkle, seconds, PROCESSES, THREADS):
                note(figure)
    return run


def main() -> int:
    """Measure what the command line asks for; 1 where a target was missed."""
    parser = argparse.ArgumentParser(description="Measure the marketplace.")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"])
    parser.add_argument("--seconds", type=float, default=10, help="how long each rate is measured")
    parser.add_argument("--only", choices=list(MEASURES), action="append", help="measure only this")
    parser.add_argument(
        "--turkle", type=Path, metavar="FOLDER", help="a checkout of Turkle, to measure beside it"
    )
    parser.add_argument("--markdown", type=Path, help="write the table to this file as well")
    arguments = parser.parse_args()
    given = arguments.database or ("postgres" if os.environ.get("DATABASE_URL") else "sqlite")
    names = ["sqlite", "postgres"] if given == "both" else [given]
    console = Console(stderr=True, highlight=False)
    runs = []
    for name in names:
        console.print(f"Measuring on {name} …")
        wanted = arguments.only or list(MEASURES)
        try:
            runs.append(measure(name, arguments.seconds, wanted, console, arguments.turkle))
        except TurkleError as error:
            parser.error(str(error))
    lines = conditions(
        runs, f"waitress, {PROCESSES} processes with {THREADS} threads each", arguments.seconds
    )
    # Quoted figures have no place beside measured ones.
    peers = () if arguments.turkle else PEERS
    show(runs, lines, peers=peers)
    if arguments.markdown:
        arguments.markdown.write_text(markdown(runs, lines, peers=peers), encoding="utf-8")
    return int(any(figure.met is False for run in runs for figure in run.figures))


if __name__ == "__main__":
    sys.exit(main())
