"""Measures the statistics of judgments, each in a process of its own, and the whole `manage.py filter`.

    python benchmarks/quality.py [--ratings N,N] [--csv N] [--replicates 0,1000] [--markdown FILE]

Beside ours stands what a researcher would otherwise write: `krippendorff.alpha` on counts of values, its best
use, and on a worker x item matrix, and the same z filter with pandas groupby, at the sizes that they can
bear here. All get the same ratings and say the best of three runs, but for the two that take longest. Peak
memory is that of the process, with the ratings themselves.
"""

# ruff: noqa: PLC0415  # each step imports only what it measures

import argparse
import json
import multiprocessing
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PER_ITEM = 10
RUNS = 3
#: The matrix of workers x items takes 8 bytes a cell, and several copies of it.
MOST_CELLS = 100_000_000
MOST_GROUPBY = 1_000_000


def ratings_of(n: int) -> Any:
    """n ratings, ten an item by ten workers, in random order; one worker in seven is careless."""
    from metrics.agreement.data import Ratings

    rng = np.random.default_rng(7)
    items, workers = n // PER_ITEM, max(150, n // 1000)
    truth = rng.normal(3.2, 1.1, items).astype(np.float32)
    order = rng.permutation(items * PER_ITEM)
    item = np.repeat(np.arange(items, dtype=np.int32), PER_ITEM)[order]
    worker = _distinct(rng, items, workers).ravel()[order]
    n = len(item)
    scores = np.clip(np.rint(truth[item] + rng.normal(0, 0.8, n).astype(np.float32)), 1, 5).astype(np.int16)
    careless = (rng.random(workers) < 0.15)[worker]
    scores[careless] = rng.integers(1, 6, int(careless.sum()), dtype=np.int16)
    return Ratings(item, worker, scores, range(items), range(workers))


def _distinct(rng: np.random.Generator, items: int, workers: int) -> Any:
    """Ten different workers for each item: drawn, and drawn again where one came twice."""
    drawn = rng.integers(0, workers, (items, PER_ITEM), dtype=np.int32)
    again = np.arange(items)
    while len(again):
        some = np.sort(drawn[again], axis=1)
        again = again[(some[:, 1:] == some[:, :-1]).any(axis=1)]
        drawn[again] = rng.integers(0, workers, (len(again), PER_ITEM), dtype=np.int32)
    return drawn


def _alpha(ratings: Any) -> Callable[[], Any]:
    from metrics.agreement.alpha import alpha_of

    return lambda: alpha_of(ratings).value


def _z(ratings: Any) -> Callable[[], Any]:
    from metrics.agreement.filters import z_removed

    return lambda: int(z_removed(ratings).mask.sum())


def _kappa(ratings: Any) -> Callable[[], Any]:
    from metrics.agreement.kappa import pooled

    return lambda: float(np.nanmedian(pooled(ratings).kappa))


def _interval(ratings: Any) -> Callable[[], Any]:
    from metrics.agreement.intervals import alpha_interval

    return lambda: alpha_interval(ratings, replicates=1000)


def _krippendorff_counts(ratings: Any) -> Callable[[], Any]:
    import krippendorff

    def counted() -> float:
        cells = ratings.items.astype(np.int64) * 5 + ratings.scores - 1
        counts = np.bincount(cells, minlength=ratings.n_items * 5).reshape(-1, 5)
        return float(
            krippendorff.alpha(
                value_counts=counts, level_of_measurement="interval", value_domain=[1, 2, 3, 4, 5]
            )
        )

    return counted


def _krippendorff(ratings: Any) -> Callable[[], Any]:
    import krippendorff

    def dense() -> float:
        table = np.full((ratings.n_workers, ratings.n_items), np.nan)
        table[ratings.workers, ratings.items] = ratings.scores
        return float(krippendorff.alpha(table, level_of_measurement="interval", value_domain=[1, 2, 3, 4, 5]))

    return dense


def _pandas_z(ratings: Any) -> Callable[[], Any]:
    import pandas as pd

    frame = pd.DataFrame({"item": ratings.items, "score": ratings.scores.astype(np.int64)})
    frame["square"] = frame["score"] ** 2

    def grouped() -> int:
        groups = frame.groupby("item")
        n, s = groups["score"].transform("size"), groups["score"].transform("sum")
        spread = n * groups["square"].transform("sum") - s * s
        off = (n * frame["score"] - s).abs()
        # |z| > 1 in whole numbers, the farthest first, of equal ones the first submitted: the same rule.
        rank = off.where(off * off > spread).groupby(frame["item"]).rank(ascending=False, method="first")
        return int((rank <= 5).sum())

    return grouped


STEPS: dict[str, tuple[Callable[[Any], Callable[[], Any]], str]] = {
    "alpha, interval": (_alpha, ""),
    "response z": (_z, ""),
    "kappa, pooled others": (_kappa, ""),
    "interval of alpha, 1,000 replicates": (_interval, "slow"),
    "krippendorff.alpha, value_counts": (_krippendorff_counts, ""),
    "krippendorff.alpha, dense matrix of workers x items": (_krippendorff, "dense"),
    "the same response z with pandas groupby": (_pandas_z, "groupby"),
}


def bearable(kind: str, n: int) -> bool:
    """Whether a step is measured at this size."""
    if kind == "dense":
        return (n // PER_ITEM) * max(150, n // 1000) <= MOST_CELLS
    return n <= MOST_GROUPBY if kind in {"groupby", "slow"} else True


def measure(name: str, n: int, out: Any) -> None:
    """The best of some runs, what came out, and the peak memory of this process in MB."""
    call = STEPS[name][0](ratings_of(n))
    seconds, found = [], None
    for _ in range(1 if STEPS[name][1] in {"slow", "dense"} else RUNS):
        begun = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - begun)
    out.put((min(seconds), found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def own_process(name: str, n: int) -> tuple[float, Any, float]:
    """Measured in a fresh process."""
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    process = context.Process(target=measure, args=(name, n, out))
    process.start()
    found: tuple[float, Any, float] = out.get(timeout=600)
    process.join()
    return found


def write_csv(path: Path, n: int) -> None:
    """The same ratings as a file."""
    ratings = ratings_of(n)
    rows = zip(ratings.items.tolist(), ratings.workers.tolist(), ratings.scores.tolist(), strict=True)
    with path.open("w", encoding="utf-8") as file:
        file.write("item,worker,score\n")
        file.writelines(f"item-{item},A{worker}XY,{score}\n" for item, worker, score in rows)


def command(path: Path, recipe: str, replicates: int) -> tuple[float, float, float]:
    """Wall clock and processor seconds and peak MB of the command, with report and kept ratings written."""
    folder = path.parent
    argv = [
        sys.executable, str(ROOT / "manage.py"), "filter", str(path), "--recipe", recipe,
        "--replicates", str(replicates),
        "--report", str(folder / "report.json"), "--kept", str(folder / "kept.csv"),
    ]  # fmt: skip
    begun = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _pid, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    if status:
        raise SystemExit("the command failed")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def machine() -> str:
    """Processor, cores, load and versions in a line."""
    from importlib.metadata import version

    import pandas as pd

    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":")[1].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    load = os.getloadavg()[0]
    return (
        f"{model}, {os.cpu_count()} cores, load {load:.1f} when begun; Python {platform.python_version()}, "
        f"numpy {np.__version__}, pandas {pd.__version__}, krippendorff {version('krippendorff')}"
    )


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ratings", default="1000000,10000000")
    parser.add_argument("--csv", type=int, default=1_000_000)
    parser.add_argument("--replicates", default="0,1000")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    lines = [
        f"Machine: {machine()}.",
        "",
        "| what | ratings | seconds | peak MB | result |",
        "|---|---:|---:|---:|---|",
    ]
    print("\n".join(lines), flush=True)

    def row(text: str) -> None:
        lines.append(text)
        print(text, flush=True)

    for n in map(int, options.ratings.split(",")):
        for name, (_make, kind) in STEPS.items():
            if bearable(kind, n):
                seconds, found, peak = own_process(name, n)
                row(f"| {name} | {n:,} | {seconds:.3f} | {peak:,.0f} | {json.dumps(found)} |")
            elif kind == "dense" and bearable(kind, n // 5):
                seconds, found, peak = own_process(name, n // 5)
                row(f"| {name} | {n // 5:,} | {seconds:.3f} | {peak:,.0f} | {json.dumps(found)} |")
    if options.csv:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ratings.csv"
            write_csv(path, options.csv)
            for recipe in ("default", "kpqa-2021"):
                for replicates in map(int, options.replicates.split(",")):
                    wall, used, peak = command(path, recipe, replicates)
                    row(
                        f"| `manage.py filter --recipe {recipe} --replicates {replicates}` | "
                        f"{options.csv:,} | {wall:.2f} | {peak:,.0f} | {used:.2f} s of processor |"
                    )
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
