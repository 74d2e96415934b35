"""How often a 95 % interval of alpha holds the alpha of an endless crowd: items only, and items and workers.

    python -m benchmarks.interval_coverage [CROWDS]

Prints a Markdown table; with the 200 crowds of the decision (docs/decisions/0011) it takes some minutes.
"""

import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.data import Floats, Ratings
from metrics.agreement.intervals import alpha_interval

REPLICATES = 400
# Pairs of ratings of which the alpha of an endless crowd is calculated.
ENDLESS = 400_000


@dataclass(frozen=True)
class Crowd:
    """Workers with a bias (its SD), their own noise, and a share who click at random."""

    items: int
    workers: int
    per_item: int
    spam: float
    bias: float


CROWDS = [
    Crowd(200, 40, 10, spam=0.15, bias=0.4),
    Crowd(200, 40, 10, spam=0.35, bias=0.4),
    Crowd(60, 14, 10, spam=0.15, bias=0.4),
    Crowd(300, 100, 5, spam=0, bias=0.2),
]


def scores(
    truth: Floats, workers: npt.NDArray[np.int64], n_workers: int, crowd: Crowd, rng: np.random.Generator
) -> npt.NDArray[np.int16]:
    """What these workers, who are made again, say to these truths."""
    bias = rng.normal(0, crowd.bias, n_workers)[workers]
    noise = rng.lognormal(np.log(0.7), 0.3, n_workers)[workers]
    spammer = (rng.random(n_workers) < crowd.spam)[workers]
    seen = np.clip(np.rint(truth + bias + noise * rng.normal(size=len(truth))), 1, 5)
    return np.where(spammer, rng.integers(1, 6, len(truth)), seen).astype(np.int16)


def made(crowd: Crowd, seed: int) -> Ratings:
    """Ratings by a crowd; nobody rates an item twice."""
    rng = np.random.default_rng(seed)
    items = np.repeat(np.arange(crowd.items), crowd.per_item)
    workers = np.concatenate(
        [rng.choice(crowd.workers, crowd.per_item, replace=False) for _ in range(crowd.items)]
    )
    given = scores(rng.normal(3, 1.1, crowd.items)[items], workers, crowd.workers, crowd, rng)
    return Ratings(
        items.astype(np.int32), workers.astype(np.int32), given, ("",) * crowd.items, ("",) * crowd.workers
    )


def endless(crowd: Crowd) -> float:
    """Alpha where every rating is by another worker."""
    rng = np.random.default_rng(1)
    truth = np.repeat(rng.normal(3, 1.1, ENDLESS), 2)
    given = scores(truth, np.arange(2 * ENDLESS), 2 * ENDLESS, crowd, rng).astype(float)
    return float(1 - np.square(given[::2] - given[1::2]).mean() / (2 * given.var()))


def main() -> None:
    """Prints the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| crowd | alpha | items only | two-way |\n|---|---|---|---|")
    for crowd in CROWDS:
        truth = endless(crowd)
        who = f"{crowd.items} items x {crowd.per_item} of {crowd.workers}, {crowd.spam:.0%} spam"
        line = f"| {who} | {truth:.3f} |"
        for over in ("items", "both"):
            bounds = np.array(
                [
                    alpha_interval(made(crowd, 1000 + run), over=over, replicates=REPLICATES, seed=run)
                    for run in range(runs)
                ]
            )
            held = ((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).mean()
            line += f" {held:.0%} ({np.diff(bounds).mean():.2f}) |"
        print(line, flush=True)


if __name__ == "__main__":
    main()
