"""Measures reading and sampling of a made-up query log: `python -m benchmarks.importing [--lines 10000000]`.

The log is made first, line by line from a seed: a skewed choice among many queries of one to nine words, with
questions, numbers, addresses, capital letters and some lines in other scripts. Each measurement runs in a
process of its own, so that the peak of its memory is its own.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console
from rich.table import Table

from annotation.importing.detect import open_reader
from annotation.importing.run import fetch, survey
from annotation.importing.selection import Design, Screen
from benchmarks.report import machine
from core.files.text_source import TextSource

TARGET_LINES, TARGET_MB = 200_000, 300
_SHAPES = {
    "csv": ("query,count", "{text},{count}"),
    "tsv": ("query", "{text}"),
    "csv-id": ("id,query", "{number},{text}"),
}


def vocabulary(random: Random, size: int = 40_000) -> list[str]:
    """Made-up words of usual lengths."""
    parts = [
        "ba",
        "ce",
        "di",
        "fo",
        "gu",
        "la",
        "me",
        "ni",
        "or",
        "pu",
        "ra",
        "se",
        "ti",
        "vo",
        "an",
        "er",
        "in",
    ]
    return ["".join(random.choices(parts, k=random.choice((1, 2, 2, 3, 3, 4)))) for _ in range(size)]


def query(random: Random, words: list[str]) -> str:
    """One query."""
    size = random.choice((1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 9))
    text = " ".join(random.choices(words, k=size))
    shape = random.random()
    if shape < 0.10:
        return f"{text} {random.randint(1, 2026)}"
    if shape < 0.20:
        return f"What is {text}?"
    if shape < 0.24:
        return f"www.{text.replace(' ', '')}.com"
    if shape < 0.26:
        return f"什么是 {text}"
    if shape < 0.262:
        return f"{text.split()[0]}@example.com"
    return text.title() if shape < 0.3 else text


def make_log(path: Path, lines: int, shape: str, seed: int = 4) -> None:
    """Write a log: about half of its lines are the first of their query."""
    random = Random(seed)
    words = vocabulary(random)
    header, row = _SHAPES[shape]
    common = [query(random, words) for _ in range(50_000)]
    with path.open("w", encoding="utf-8") as file:
        file.write(header.replace(",", "\t" if shape == "tsv" else ",") + "\n")
        for number in range(lines):
            again = random.random() < 0.45
            text = common[int(50_000 * random.random() ** 3)] if again else query(random, words)
            file.write(
                row.format(text=text, count=int(1 / (random.random() + 1e-4)) + 1, number=number) + "\n"
            )


def measure(path: Path, by: str, size: int) -> None:
    """Sample a file and print what it took, as JSON."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder)
        reader = open_reader(TextSource(path), room)
        found = survey(reader, screen=Screen(), design=Design(by=by, size=size), room=room)
        counted = time.perf_counter()
        drawn = sum(1 for _ in fetch(found))
        disk = sum(each.stat().st_size for each in room.iterdir())
    ended = time.perf_counter()
    print(
        json.dumps(
            {
                "lines": found.records,
                "distinct": found.distinct,
                "drawn": drawn,
                "seconds": ended - start,
                "first": counted - start,
                "disk_mb": disk / 2**20,
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
                "cpu": sum(resource.getrusage(resource.RUSAGE_SELF)[:2]),
            }
        )
    )


def main() -> None:
    """Make the logs, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--shapes", nargs="*", choices=_SHAPES, default=list(_SHAPES))
    parser.add_argument("--designs", nargs="*", default=["uniform", "count", "strata"])
    parser.add_argument("--one", nargs=2, metavar=("FILE", "DESIGN"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        measure(Path(given.one[0]), given.one[1], given.sample)
        return
    console = Console(highlight=False, width=150)
    table = Table(
        "log",
        "design",
        "lines",
        "distinct",
        "lines/s",
        "lines/CPU s",
        "first + second pass",
        "on disk",
        "peak RSS",
        "met",
    )
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as folder:
        for shape in given.shapes:
            path = Path(folder) / f"log.{shape[:3]}"
            make_log(path, given.lines, shape)
            for design in given.designs:
                command = [sys.executable, "-m", "benchmarks.importing", "--sample", str(given.sample)]
                made = subprocess.run(
                    [*command, "--one", str(path), design], capture_output=True, text=True, check=True
                )
                one = json.loads(made.stdout)
                loads.append(os.getloadavg()[0])
                rate = one["lines"] / one["seconds"]
                met = rate >= TARGET_LINES and one["peak_mb"] < TARGET_MB
                table.add_row(
                    f"{shape}, {path.stat().st_size / 2**20:,.0f} MiB",
                    design,
                    f"{one['lines']:,}",
                    f"{one['distinct']:,}",
                    f"{rate:,.0f}",
                    f"{one['lines'] / one['cpu']:,.0f}",
                    f"{one['first']:.1f} + {one['seconds'] - one['first']:.1f} s",
                    f"{one['disk_mb']:,.0f} MiB",
                    f"{one['peak_mb']:,.0f} MiB",
                    "yes" if met else "NO",
                )
            path.unlink()

    console.print(
        f"Machine: {machine()}; load {min(loads):.1f} to {max(loads):.1f}. Python {sys.version.split()[0]}."
    )
    console.print(f"Target: {TARGET_LINES:,} lines/s parsed and sampled, below {TARGET_MB} MiB.")
    console.print(table)


if __name__ == "__main__":
    main()
