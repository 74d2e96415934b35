"""Measures the statistics of metrics against people, beside scipy where the two coincide, in the same run.

    python benchmarks/metrics_meta.py [--questions 1000] [--systems 5] [--metrics 20] [--draws 9999]
                                      [--rows 1000000] [--processes 2] [--markdown FILE]

Every system answers every question; metrics see the human score through noise that grows with their number.
What scipy would take for the permutation test is measured on a few draws of one pair, and multiplied.
"""

# ruff: noqa: PLC0415  # each step imports only what it measures

import argparse
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
WANTED = 30.0
FEW = 100
TESTS = (
    ("pearson", "global", "perm_inputs"),
    ("pearson", "item", "perm_inputs"),
    ("spearman", "global", "perm_inputs"),
    ("kendall", "global", "perm_inputs"),
    ("pearson", "by_system", "perm_inputs"),
    ("pearson", "system", "perm_inputs"),
    ("pair_acc", "item", "perm_inputs"),
    ("pearson", "global", "perm_both"),
    ("pearson", "item", "perm_both"),
    ("pearson", "global", "perm_systems"),
    ("pearson", "global", "williams"),
    ("pearson", "global", "bootstrap"),
)


class Row(NamedTuple):
    """One line of the table: seconds by the clock and of the processor."""

    what: str
    clock: float
    used: float
    wanted: str = ""
    note: str = ""

    def said(self) -> str:
        """As Markdown."""
        return f"| {self.what} | {self.clock:.2f} s | {self.used:.2f} s | {self.wanted} | {self.note} |"


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a call returns, and its seconds by the clock and of the processor."""
    clock, used = time.perf_counter(), time.process_time()
    found = call()
    return found, time.perf_counter() - clock, time.process_time() - used


def made(questions: int, systems: int, metrics: int) -> Any:
    """Scores whose truth is known: metric k has noise of 1 + k / 10 of a standard deviation."""
    from metrics.metaeval.data import ScoredAnswers

    rng = np.random.default_rng(7)
    n = questions * systems
    quality = rng.normal(0, 1, n)
    return ScoredAnswers(
        human=np.round(np.clip(3 + quality, 1, 5) * 3) / 3,
        metrics={f"metric-{k:02}": quality + rng.normal(0, 1 + k / 10, n) for k in range(metrics)},
        systems=np.tile(np.arange(systems), questions).astype(np.int32),
        questions=np.repeat(np.arange(questions), systems).astype(np.int32),
        system_names=[f"system {k}" for k in range(systems)],
        question_names=[f"question {k:07}" for k in range(questions)],
    )


def tests(judged: Any, draws: int, processes: int) -> Iterator[Row]:
    """Every pair of metrics, by each kind of test; the default one over processes too."""
    from metrics.metaeval.executor import processes as pool
    from metrics.metaeval.significance import compared

    pairs = list(combinations(judged.metrics, 2))
    first: list[Any] = []
    for statistic, grouping, method in TESTS:
        found, *seconds = timed(
            lambda s=statistic, g=grouping, m=method: compared(judged, pairs, s, g, m, draws=draws)
        )
        first = first or found
        significant = sum(test.p_holm is not None and test.p_holm < 0.05 for test in found)
        wanted = f"< {WANTED:.0f} s" if method == "perm_inputs" else ""
        what = f"{method} of {statistic} {grouping}, {len(pairs)} pairs"
        yield Row(what, *seconds, wanted, f"{significant} significant")
    found, *seconds = timed(lambda: compared(judged, pairs, draws=draws, spread=pool(processes)))
    same = "the same values" if found == first else "OTHER VALUES"
    yield Row(
        f"perm_inputs of pearson global over {processes} processes", *seconds, f"< {WANTED:.0f} s", same
    )
    yield by_scipy(judged, draws, len(pairs))


def by_scipy(judged: Any, draws: int, pairs: int) -> Row:
    """The same test of one pair with scipy's correlation in a loop, for some draws."""
    from scipy.stats import pearsonr, zscore

    one, two = (zscore(judged.metrics[name]) for name in list(judged.metrics)[:2])
    rng = np.random.default_rng(1)

    def loop() -> int:
        extreme = 0
        for _ in range(FEW):
            moved = rng.integers(0, 2, judged.questions.max() + 1)[judged.questions] > 0
            first = pearsonr(judged.human, np.where(moved, two, one)).statistic
            extreme += first > pearsonr(judged.human, np.where(moved, one, two)).statistic
        return int(extreme)

    _, clock, used = timed(loop)
    times = draws * pairs / FEW
    return Row(
        f"scipy: pearsonr in a loop, {pairs} pairs",
        clock * times,
        used * times,
        "",
        f"from {FEW} draws of one pair",
    )


def intervals_of(judged: Any) -> Iterator[Row]:
    """All statistics of one metric, by each kind of bootstrap."""
    from metrics.metaeval.bootstrap import KINDS, intervals

    name = next(iter(judged.metrics))
    for kind in KINDS:
        found, *seconds = timed(lambda kind=kind: intervals(judged, [name], kind=kind))
        yield Row(f"{kind}: {len(found)} intervals of one metric, 1,000 samples", *seconds)


def values(rows: int) -> Iterator[Row]:
    """Single values of many answers, and scipy's."""
    from scipy import stats

    from metrics.metaeval.correlation import correlate
    from metrics.metaeval.pairwise import acc_eq, acc_eq_cal

    judged = made(rows // 5, 5, 1)
    name = next(iter(judged.metrics))
    for statistic, peer in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        found, *seconds = timed(lambda s=statistic: correlate(judged, name, s, "global").value)
        expected, *peers = timed(lambda peer=peer: peer(judged.human, judged.metrics[name]).statistic)
        yield Row(f"{statistic} of {rows:,} answers", *seconds, "", f"off by {abs(found - expected):.0e}")
        yield Row(f"scipy: {statistic} of {rows:,} answers", *peers)
    yield Row(
        f"kendall by question of {rows:,} answers",
        *timed(lambda: correlate(judged, name, "kendall", "item"))[1:],
    )
    yield Row(
        f"acc_eq over all pairs of {rows:,} answers", *timed(lambda: acc_eq(judged, name, "global"))[1:]
    )
    yield Row(f"acc_eq_cal of {rows:,} answers", *timed(lambda: acc_eq_cal(judged, name))[1:])


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for option, default in (("questions", 1000), ("systems", 5), ("metrics", 20), ("draws", 9999)):
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    judged = made(given.questions, given.systems, given.metrics)
    head = [
        f"{given.metrics} metrics, {given.questions:,} questions, {given.systems} systems, "
        f"{given.draws:,} draws. {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, "
        f"Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {version('scipy')}.",
        "",
        "| what | by the clock | of the processor | wanted | note |",
        "|---|---:|---:|---:|---|",
    ]
    print("\n".join(head))
    lines = []
    for rows in (tests(judged, given.draws, given.processes), intervals_of(judged), values(given.rows)):
        for row in rows:
            lines.append(row.said())
            print(lines[-1], flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines.append(f"\nPeak memory {peak:.0f} MB, most of it of the {given.rows:,} answers.")
    print(lines[-1])
    if given.markdown:
        given.markdown.write_text("\n".join([*head, *lines]) + "\n")


if __name__ == "__main__":
    main()
