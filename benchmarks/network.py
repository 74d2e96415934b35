"""Measures the word proximity network: building, opening, asking, following its corpus.

    python benchmarks/network.py FOLDER [--passages 1000000] [--processes 2] [--markdown FILE]

FOLDER holds folders with a `passages.jsonl` each; `benchmarks/passages.py` makes many of them. Needs no
database.
"""

# ruff: noqa: PLC0415  # benchmarks.measures can be imported once the environment names the settings

import argparse
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")


def texts(path: Path, first: int = 1) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the file."""
    with path.open(encoding="utf-8") as file:
        yield from enumerate(file, first)


class Memory(threading.Thread):
    """Most memory of this process and those that it started, in MB, looked at ten times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.ended = 0.0, threading.Event()

    def run(self) -> None:
        """Look until somebody ends it."""
        while not self.ended.wait(0.1):
            pids = [os.getpid(), *(child.pid for child in multiprocessing.active_children() if child.pid)]
            self.peak = max(self.peak, sum(map(_anonymous, pids)))


def _anonymous(pid: int) -> float:
    """Memory of a process in MB, without pages of files, which the system takes back when it needs them."""
    try:
        words = Path(f"/proc/{pid}/status").read_text().partition("RssAnon:")[2].split()
    except OSError:
        return 0.0
    return int(words[0]) / 1024 if words else 0.0


def measured(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What comes of it, seconds, and the peak of memory in MB."""
    memory = Memory()
    memory.start()
    at = time.perf_counter()
    found = work()
    seconds = time.perf_counter() - at
    memory.ended.set()
    memory.join()
    return found, seconds, memory.peak


def processor() -> float:
    """Seconds of processor that this process and the ended ones that it started have had."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def times(work: Callable[[int], object], count: int) -> str:
    """Median and 95th percentile of so many calls."""
    spent = []
    for number in range(count):
        at = time.perf_counter()
        work(number)
        spent.append((time.perf_counter() - at) * 1000)
    return f"{statistics.median(spent):.2f} / {statistics.quantiles(spent, n=20)[-1]:.2f} ms"


def figures(path: Path, folder: Path, count: int, processes: int) -> list[Any]:
    """All figures; `Figure`s, whose module needs Django's environment."""
    import numpy as np

    from benchmarks.measures import Figure
    from retrieval.network import Network, build
    from retrieval.network.builder import add, remove
    from retrieval.network.segment import codes_of

    steps: list[tuple[str, float]] = []
    before = processor()
    network, seconds, peak = measured(
        lambda: build(
            texts(path), folder, "en", processes=processes,
            progress=lambda now: steps.append((now.step, time.perf_counter())),
        )
    )  # fmt: skip
    began = dict(reversed(steps))
    merging, vectors = began["word vectors"] - began["merging"], began["done"] - began["word vectors"]
    parts = (
        f"merging {merging:.1f} s, word vectors {vectors:.1f} s; {processor() - before:.0f} s of processor"
    )
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    large = count >= 1_000_000
    found = [
        Figure(
            f"build, {processes} processes", f"{seconds:.1f} s", "< 90 s", seconds < 90 if large else None,
            f"{network.word_count:,} words, {network.edge_count:,} pairs; {parts}",
        ),
        Figure("memory while building", f"{peak / 1000:.2f} GB", "< 3 GB", peak < 3000, "all processes"),
        Figure("size of the files", f"{size / 1e6:,.0f} MB"),
        Figure("open", times(lambda _: Network.open(folder), 50), note="median / p95"),
    ]  # fmt: skip
    chance = np.random.default_rng(2)
    asked = [chance.integers(1, count + 1, 100).tolist() for _ in range(300)]
    columns = [network.columns(pks, numbers=True) for pks in asked]
    assert all(columns), "every passage is stored"
    terms = ["heart", "disease", "market", "culture", "treatment"]
    known = network.vectors.codes if network.vectors else codes_of(terms)
    pairs = [chance.choice(known, (2, 1000)) for _ in range(300)]
    found += [
        Figure(
            "stored tokens of 100 passages",
            times(lambda number: network.columns(asked[number], numbers=True), 300),
            note="median / p95",
        ),
        Figure(
            "similarities of their words to 5 terms",
            times(lambda number: network.similarities(columns[number].words, terms), 300),
            note=f"{statistics.mean(len(each.words) for each in columns if each):,.0f} words",
        ),
        Figure("NPMI of 1,000 pairs", times(lambda number: network.npmi(*pairs[number]), 300)),
    ]
    more = list(islice(texts(path, count + 1), 1000))
    _, adding, _ = measured(lambda: add(more, folder))
    _, removing, _ = measured(lambda: remove(range(1, 1001), folder))
    found += [
        Figure("add 1,000 passages", f"{adding * 1000:.0f} ms"),
        Figure("take 1,000 passages off", f"{removing * 1000:.0f} ms"),
    ]
    return found


def run(folder: Path, count: int, processes: int) -> Any:  # a Run, whose module needs Django's environment
    """The table."""
    from benchmarks.passages import write_lines
    from benchmarks.report import Run

    with tempfile.TemporaryDirectory(prefix="distillery-network-") as scratch:
        path = Path(scratch) / "texts"
        characters = write_lines(folder, count, path)
        found = figures(path, Path(scratch) / "network", count, processes)
    return Run(f"Network: {count:,} passages, {characters / 1e6:,.0f} million characters", "", found)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder per set")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--markdown", type=Path, help="write the table to this file too")
    options = parser.parse_args(arguments)
    import django

    django.setup()
    from benchmarks.report import machine, markdown, show

    runs = [run(options.folder, options.passages, options.processes)]
    facts = [f"Machine: {machine()}."]
    show(runs, facts, peers=())
    if options.markdown:
        options.markdown.write_text(markdown(runs, facts, title="Measurements of networks", peers=()))


if __name__ == "__main__":
    main()
