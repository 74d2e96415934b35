"""How often the 95 % interval of the reliability to quote holds the reliability of such means.

    python -m benchmarks.reliability_coverage [STUDIES [ITEMS WORKERS]]

Of simulated studies of three kinds of crowd, with the recipe `default`, as `manage.py filter` and the pages
quote it. What it should hold is the squared correlation of the kept means with the true scores, over all
studies of a kind; studies differ in their items and in their workers. Prints a Markdown table.
"""

import sys

import numpy as np

from metrics.agreement.filters import Checks, run
from metrics.agreement.planning import CROWDS, Study, simulated
from metrics.agreement.recipes import DEFAULT
from metrics.agreement.reliability import REPLICATES, split_half
from metrics.agreement.scores import item_scores

KINDS = ("clean", "moderate", "heavy")
PER_ITEM = 10


def truth_of(study: Study, checks: Checks) -> float:
    """Squared correlation of the means that the recipe keeps with the true scores."""
    kept = run(study.ratings, DEFAULT, checks=checks).kept
    means = item_scores(study.ratings, kept).mean
    there = ~np.isnan(means)
    return float(np.corrcoef(means[there], study.truth[there])[0, 1] ** 2)


def main() -> None:
    """Prints a line for each kind of crowd."""
    given = [int(each) for each in sys.argv[1:]]
    studies = given[0] if given else 200
    items, workers = given[1:3] if given[2:] else (200, 40)
    print("| crowd | truth | quoted | coverage | below | above | width |\n|---|---|---|---|---|---|---|")
    for kind in KINDS:
        truths, quoted, bounds = [], [], []
        for seed in range(studies):
            study = simulated(
                CROWDS[kind], items=items, per_item=PER_ITEM, workers=workers, seed=10_000 + seed
            )
            checks = Checks(study.presented, study.failed)
            truths.append(truth_of(study, checks))
            found = split_half(study.ratings, DEFAULT, checks=checks, replicates=REPLICATES, seed=seed).whole
            quoted.append(np.nan if found.value is None else found.value)
            bounds.append(found.ci or (np.nan, np.nan))
        truth, (low, high) = float(np.mean(truths)), np.array(bounds).T
        held = np.nanmean((low <= truth) & (truth <= high))
        print(
            f"| {kind}, {items} items x {PER_ITEM} of {workers} | {truth:.3f} | {np.nanmean(quoted):.3f} | "
            f"{held:.0%} | {np.nanmean(high < truth):.0%} | {np.nanmean(low > truth):.0%} | "
            f"{np.nanmean(high - low):.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
