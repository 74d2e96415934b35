"""What measurements share: the machine in words, clocks, peaks of memory, processes, databases, the table.

A script runs what it measures in processes of its own (`run_step`), so that a peak of memory is that of one
step alone. Such a process ends with `answer_step`, which prints what the step returned and what it took.
"""

import argparse
import atexit
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.repository import ROOT

if TYPE_CHECKING:
    from tests.server import RunningServer  # brings boto3, which no step is to have in its memory

#: Of the web server that is measured.
PROCESSES, THREADS = 2, 8
#: Test controls cost queries that no installation pays, and clients of one requester pass its rate limit.
AS_INSTALLED = {"MARKETPLACE_TEST_TOKEN": "", "MARKETPLACE_REQUESTS_PER_SECOND": "0"}
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Figure:
    """One line of a table; `met` says whether a goal is met, where there is one."""

    name: str
    value: str
    goal: str = ""
    met: bool | None = None
    note: str = ""


# The machine, and the table


def describe_machine(*packages: str) -> str:
    """Processor, cores, load, how quick Python is just now, and versions."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in ("Django", *packages))
    return (
        f"{os.cpu_count()} cores of {models[0] if models else platform.machine()}, {memory:.0f} GiB, load "
        f"{os.getloadavg()[0]:.1f}, ten million additions {time_additions():.2f} s; "
        f"Python {platform.python_version()}, {versions}"
    )


def time_additions() -> float:
    """Seconds for ten million additions in Python: by it, figures of different days can be compared."""
    begin = time.perf_counter()
    sum(1 for _ in range(10_000_000))
    return time.perf_counter() - begin


def print_table(title: str, figures: Iterable[Figure]) -> bool:
    """Print figures as Markdown, each as soon as it is measured; whether no goal was missed."""
    print(f"\n**{title}**\n\n| | measured | goal | met | |\n|---|---|---|---|---|", flush=True)
    missed = False
    for figure in figures:
        verdict = {True: "yes", False: "**no**", None: ""}[figure.met]
        cells = (figure.name, figure.value, figure.goal, verdict, figure.note)
        print(f"| {' | '.join(cells)} |", flush=True)
        missed |= figure.met is False
    return not missed


# Clocks and memory


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all is not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


def spread(milliseconds: Sequence[float], digits: int = 1) -> str:
    """Median and 95th percentile in words."""
    median, late = percentile(milliseconds, 0.5), percentile(milliseconds, 0.95)
    return f"{median:.{digits}f} / {late:.{digits}f} ms"


def time_calls(call: Callable[[Any], object], arguments: Iterable[Any]) -> list[float]:
    """Milliseconds of a call for each argument."""
    times = []
    for argument in arguments:
        begin = time.perf_counter()
        call(argument)
        times.append((time.perf_counter() - begin) * 1000)
    return times


def time_best(call: Callable[[], object], rounds: int = 3) -> tuple[float, float]:
    """Seconds by the clock and of the processor, the best of some rounds each."""
    clocks, processors = [], []
    for _ in range(rounds):
        clock, processor = time.perf_counter(), time.process_time()
        call()
        clocks.append(time.perf_counter() - clock)
        processors.append(time.process_time() - processor)
    return min(clocks), min(processors)


def peak_mib() -> float:
    """Most memory that this process has had; what its parent had does not count, as it does in getrusage."""
    return memory_mib("VmHWM")


def memory_mib(name: str, pid: int | str = "self") -> float:
    """A line of `/proc/PID/status`, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024


def processor_seconds(pid: int) -> float:
    """Processor time of a process, of all below it, and of those below it that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(processor_seconds(int(child)) for child in children)


def database_seconds() -> float:
    """Processor time of this connection's PostgreSQL server with all its backends; 0 for SQLite."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [backend] = cursor.fetchone()
    stat = Path(f"/proc/{backend}/stat").read_text(encoding="ascii")
    return processor_seconds(int(stat.rpartition(")")[2].split()[1]))


# Processes


def set_up_django() -> None:
    """Django with the settings of the environment."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    django.setup()


def run_step(module: str, *words: object, environment: Mapping[str, str] | None = None) -> Any:  # JSON
    """Run `python -m MODULE --step WORD…` in a process of its own; what it answered."""
    command = [sys.executable, "-m", module, "--step", *map(str, words)]
    process = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    if process.returncode:
        raise RuntimeError(f"{module} {words}:\n{process.stderr[-3000:]}")
    return json.loads(process.stdout.splitlines()[-1])


def answer_step(steps: Mapping[str, Callable[..., Any]], words: Sequence[str]) -> None:
    """Do the step that the words name with the rest of them as arguments, and print what it took."""
    name, *arguments = words
    start = peak_mib()
    clock, processor = time.perf_counter(), time.process_time()
    value = steps[name](*(int(word) if word.isdecimal() else word for word in arguments))
    measures = {
        "value": value,
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - processor,
        "start_mib": start,
        "peak_mib": peak_mib(),
    }
    print(json.dumps(measures, default=str))


def parser_of(doc: str | None) -> argparse.ArgumentParser:
    """A command line that knows `--step`."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--step", nargs="+", help=argparse.SUPPRESS)
    return parser


# Databases and servers


@contextmanager
def use_database(name: str) -> Iterator[None]:
    """Have DATABASE_URL name SQLite, or a PostgreSQL that writes to disk and goes with the block."""
    from tests.server import drop_template, load_services

    before = os.environ.pop("DATABASE_URL", None)
    try:
        if name == "sqlite":
            yield
        elif before:
            os.environ["DATABASE_URL"] = before
            yield
        else:
            with load_services().services(durable=True) as variables:
                os.environ["DATABASE_URL"] = variables["DATABASE_URL"]
                yield
                atexit.unregister(drop_template)  # it goes with its server
    finally:
        os.environ.pop("DATABASE_URL", None)
        if before:
            os.environ["DATABASE_URL"] = before


def add_databases(parser: argparse.ArgumentParser) -> None:
    """The option that names one database or both."""
    parser.add_argument("--database", nargs="+", choices=["sqlite", "postgres"], default=["sqlite"])


@contextmanager
def our_server(**environment: str) -> Iterator["RunningServer"]:
    """Our web server as an installation runs it, on an empty database of the kind in use."""
    from tests.server import RunningServer

    server = RunningServer(environment=AS_INSTALLED | environment, workers=PROCESSES, threads=THREADS)
    with server:
        yield server
