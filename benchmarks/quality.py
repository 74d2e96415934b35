"""Statistics of judgments beside krippendorff and pandas, the whole `manage.py filter`, and `preferences`.

    python -m benchmarks.quality [--ratings 1000000 10000000] [--csv 1000000]

Beside ours is what a researcher would otherwise write: `krippendorff.alpha` on counts of values, its best,
and on a matrix of workers and items; the same z filter with pandas. All get the same ratings, ten an item by
ten workers. Each is a process of its own, whose peak memory includes the ratings.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from benchmarks.common import Figure, run_step, time_best
from tests.repository import ROOT

PER_ITEM = 10
#: The most ratings that a peer can bear here: the matrix takes 8 bytes a cell, and several copies.
MOST_IN_MATRIX, MOST_IN_PANDAS = 200_000, 1_000_000


def make_ratings(count: int) -> Any:
    """Ratings in random order; one worker in seven is careless."""
    from metrics.agreement.data import Ratings

    rng = np.random.default_rng(7)
    items, workers = count // PER_ITEM, max(150, count // 1000)
    truth = rng.normal(3.2, 1.1, items).astype(np.float32)
    order = rng.permutation(items * PER_ITEM)
    item = np.repeat(np.arange(items, dtype=np.int32), PER_ITEM)[order]
    worker = _draw_workers(rng, items, workers).ravel()[order]
    noise = rng.normal(0, 0.8, len(item)).astype(np.float32)
    scores = np.clip(np.rint(truth[item] + noise), 1, 5).astype(np.int16)
    careless = (rng.random(workers) < 0.15)[worker]
    scores[careless] = rng.integers(1, 6, int(careless.sum()), dtype=np.int16)
    return Ratings(item, worker, scores, range(items), range(workers))


def _draw_workers(rng: np.random.Generator, items: int, workers: int) -> NDArray[np.int32]:
    """Ten different workers for each item: drawn, and drawn again where one came twice."""
    drawn = rng.integers(0, workers, (items, PER_ITEM), dtype=np.int32)
    repeated = np.arange(items)
    while len(repeated):
        ordered = np.sort(drawn[repeated], axis=1)
        repeated = repeated[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
        drawn[repeated] = rng.integers(0, workers, (len(repeated), PER_ITEM), dtype=np.int32)
    return drawn


# Ours


def alpha(ratings: Any) -> float:
    """Krippendorff's alpha, interval."""
    from metrics.agreement.alpha import alpha_of

    return float(alpha_of(ratings).value)


def z_filter(ratings: Any) -> int:
    """How many ratings the published z filter removes."""
    from metrics.agreement.filters import z_removed

    return int(z_removed(ratings).mask.sum())


def kappa(ratings: Any) -> float:
    """The median of every worker's kappa with the others."""
    from metrics.agreement.kappa import pooled

    return float(np.nanmedian(pooled(ratings).kappa))


def alpha_interval(ratings: Any) -> Any:
    """The interval of alpha of 1,000 replicates."""
    from metrics.agreement import intervals

    return intervals.alpha_interval(ratings, replicates=1000)


# Peers


def krippendorff_counts(ratings: Any) -> float:
    """The package on counts of values."""
    import krippendorff

    cells = ratings.items.astype(np.int64) * 5 + ratings.scores - 1
    counts = np.bincount(cells, minlength=ratings.n_items * 5).reshape(-1, 5)
    scale = {"level_of_measurement": "interval", "value_domain": [1, 2, 3, 4, 5]}
    return float(krippendorff.alpha(value_counts=counts, **scale))


def krippendorff_matrix(ratings: Any) -> float:
    """The package on a matrix of workers and items."""
    import krippendorff

    table = np.full((ratings.n_workers, ratings.n_items), np.nan)
    table[ratings.workers, ratings.items] = ratings.scores
    return float(krippendorff.alpha(table, level_of_measurement="interval", value_domain=[1, 2, 3, 4, 5]))


def pandas_z(ratings: Any) -> int:
    """The z filter with groupby: |z| > 1 in whole numbers, the farthest first, at most five an item."""
    import pandas as pd

    frame = pd.DataFrame({"item": ratings.items, "score": ratings.scores.astype(np.int64)})
    frame["square"] = frame["score"] ** 2
    groups = frame.groupby("item")
    n, total = groups["score"].transform("size"), groups["score"].transform("sum")
    variance = n * groups["square"].transform("sum") - total * total
    distance = (n * frame["score"] - total).abs()
    far = distance.where(distance * distance > variance)
    return int((far.groupby(frame["item"]).rank(ascending=False, method="first") <= 5).sum())


#: What is measured, and the most ratings that it is measured with.
MEASURES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "alpha": (alpha, 10**9),
    "krippendorff-counts": (krippendorff_counts, 10**9),
    "krippendorff-matrix": (krippendorff_matrix, MOST_IN_MATRIX),
    "z-filter": (z_filter, 10**9),
    "pandas-z": (pandas_z, MOST_IN_PANDAS),
    "kappa": (kappa, 10**9),
    "interval": (alpha_interval, MOST_IN_PANDAS),
}


def run_measure(name: str, count: int) -> dict[str, Any]:
    """Seconds of the best of three, and what came out."""
    ratings, (call, _) = make_ratings(count), MEASURES[name]
    values: list[Any] = []
    clock, _ = time_best(lambda: values.append(call(ratings)), 1 if name == "interval" else 3)
    return {"clock": clock, "value": values[-1]}


def measure_statistics(sizes: list[int]) -> Iterator[Figure]:
    """Each at each size that it can bear."""
    for count in sizes:
        for name, (_, most) in MEASURES.items():
            size = min(count, most)
            answer = run_step("benchmarks.quality", name, size)
            value = f"{answer['value']['clock']:.3f} s, {answer['peak_mib']:.0f} MiB"
            yield Figure(f"{name}, {size:,} ratings", value, note=json.dumps(answer["value"]["value"]))


def measure_command(count: int) -> Iterator[Figure]:
    """`manage.py filter` with its report and the ratings that remain."""
    ratings = make_ratings(count)
    rows = zip(ratings.items.tolist(), ratings.workers.tolist(), ratings.scores.tolist(), strict=True)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "ratings.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("item,worker,score\n")
            file.writelines(f"item-{item},A{worker}XY,{score}\n" for item, worker, score in rows)
        for recipe, replicates, goal in (("default", 0, 5), ("kpqa-2021", 0, 5), ("default", 1000, 30)):
            words = ["filter", str(path), "--recipe", recipe, "--replicates", str(replicates)]
            words += ["--report", f"{name}/report.json", "--kept", f"{name}/kept.csv"]
            title = f"manage.py filter --recipe {recipe} --replicates {replicates}, {count:,} ratings"
            yield _run_command(title, words, goal)


def measure_preferences(count: int, systems: int = 20) -> Iterator[Figure]:
    """`manage.py preferences` with its intervals over questions and judges."""
    rng = np.random.default_rng(7)
    first = rng.integers(0, systems, count)
    second = (first + rng.integers(1, systems, count)) % systems
    questions, judges, outcomes = (
        rng.integers(0, max(2, count // 20), count),
        rng.integers(0, max(2, count // 1000), count),
        rng.integers(0, 3, count),
    )
    columns = (questions.tolist(), judges.tolist(), first.tolist(), second.tolist(), outcomes.tolist())
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "pairs.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("item,worker,left,right,winner\n")
            for question, judge, left, right, outcome in zip(*columns, strict=True):
                file.write(f"q{question},j{judge},s{left},s{right},{('left', 'right', 'tie')[outcome]}\n")
        words = ["preferences", str(path), "--side", "--report", f"{name}/report.json"]
        title = f"manage.py preferences --side --replicates 1000, {count:,} judged pairs of {systems} systems"
        yield _run_command(title, words, 30)


def _run_command(title: str, words: list[str], goal: float) -> Figure:
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, str(ROOT / "manage.py"), *words], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    value = f"{seconds:.2f} s, {usage.ru_maxrss / 1024:.0f} MiB"
    note = f"processor {usage.ru_utime + usage.ru_stime:.2f} s"
    return Figure(title, value, f"{goal} s", not status and seconds <= goal, note)


def main() -> None:
    """Print the tables."""
    parser = common.parser_of(__doc__)
    parser.add_argument("--ratings", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--csv", type=int, default=1_000_000)
    options = parser.parse_args()
    if options.step:
        steps = {name: lambda count, name=name: run_measure(name, count) for name in MEASURES}
        common.answer_step(steps, options.step)
        return
    print(common.describe_machine("numpy", "pandas", "krippendorff"))
    common.print_table("Statistics of judgments", measure_statistics(options.ratings))
    common.print_table("The command", measure_command(options.csv))
    common.print_table("Judged pairs", measure_preferences(options.csv))


if __name__ == "__main__":
    main()
