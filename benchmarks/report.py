"""The table that the measurement prints, and the same as Markdown."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measures import Figure

#: Measured once by others, not by this program; quoted for comparison.
PEERS = (
    ("Turkle (quoted, SQLite)", "accept + page + submit, 8 workers", "38/s, 31 % refused as busy"),
    ("Turkle (quoted, PostgreSQL)", "accept + page + submit, 8 workers", "24/s"),
)


@dataclass
class Run:
    """The figures on one database."""

    database: str
    durability: str
    figures: list[Figure] = field(default_factory=list)


def machine() -> str:
    """The machine in words."""
    model = "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        model = names[0] if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GiB, {platform.system()} {platform.release()}"


def versions() -> str:
    """The software that matters for speed."""
    packages = ("Django", "waitress", "boto3", "psycopg2-binary")
    return f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in packages)


def conditions(runs: Sequence[Run], servers: str, seconds: float) -> list[str]:
    """Under what conditions the figures were taken, one sentence a line."""
    return [
        f"Machine: {machine()}; server and load generator share it.",
        f"Software: {versions()}.",
        f"Server: {servers}; {seconds:g} s per rate; real HTTP over loopback with kept-alive connections.",
        *(f"{run.database}: {run.durability}." for run in runs),
    ]


def _verdict(figure: Figure) -> str:
    return {True: "yes", False: "NO", None: ""}[figure.met]


def show(runs: Sequence[Run], lines: Sequence[str], *, peers: Sequence[tuple[str, str, str]] = PEERS) -> None:
    """Print the table for people."""
    console = Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True)
    for run in runs:
        table = Table("", "measured", "target", "met", "detail", title=run.database, title_justify="left")
        for figure in run.figures:
            style = "red" if figure.met is False else None
            table.add_row(
                figure.what, figure.value, figure.target, _verdict(figure), figure.note, style=style
            )
        console.print(table)
    if peers:
        table = Table("", "", "measured", title="Others, quoted, not measured here", title_justify="left")
        for row in peers:
            table.add_row(*row)
        console.print(table)


def markdown(
    runs: Sequence[Run],
    lines: Sequence[str],
    *,
    title: str = "Measurements of the marketplace",
    peers: Sequence[tuple[str, str, str]] = PEERS,
) -> str:
    """The same as Markdown."""
    parts = [f"# {title}", "", *(f"- {line}" for line in lines)]
    for run in runs:
        parts += [
            "",
            f"## {run.database}",
            "",
            "| | measured | target | met | detail |",
            "|---|---|---|---|---|",
        ]
        parts += [f"| {f.what} | {f.value} | {f.target} | {_verdict(f)} | {f.note} |" for f in run.figures]
    if peers:
        parts += ["", "## Others, quoted, not measured here", "", "| | | measured |", "|---|---|---|"]
        parts += [f"| {' | '.join(row)} |" for row in peers]
    return "\n".join(parts) + "\n"
