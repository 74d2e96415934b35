"""Whether the reliability of the published means can be quoted, and what must be said beside it."""

import numpy as np

from metrics.agreement.ratings import Ratings
from metrics.agreement.reliability import SplitHalf
from metrics.agreement.run import Run

FEW_WORKERS_LEFT = "the filter leaves ratings of fewer than two workers"
NO_PAIRS_LEFT = "the filter leaves no item with two ratings"
#: A tenth of the items that several people rated: below it nearly nothing is left of the study.
_NEARLY_NOTHING = 0.1
#: From fewer a reliability is hardly known.
_FEW_ITEMS, _FEW_WORKERS = 20, 5
#: What of the workers whom the whole study removes must be removed where they are judged on other items.
_MOST_REMOVED = 0.8


def refusal(ratings: Ratings, done: Run) -> str:
    """Why nothing can be quoted after this filter; empty where something can. It says nothing about studies
    that had no two ratings of an item to begin with."""
    before = np.bincount(ratings.items[done.distinct], minlength=ratings.n_items) > 1
    if not before.any():
        return ""
    if len(np.unique(ratings.workers[done.kept])) < 2:
        return FEW_WORKERS_LEFT
    after = np.bincount(ratings.items[done.kept], minlength=ratings.n_items) > 1
    if not after.any():
        return NO_PAIRS_LEFT
    if after.sum() < _NEARLY_NOTHING * before.sum():
        left, there = int(after.sum()), int(before.sum())
        return f"the filter leaves {left:,} of {there:,} items with two ratings or more"
    return ""


def cautions_about(ratings: Ratings, done: Run, halves: SplitHalf) -> list[str]:
    """Sentences that belong beside the reliability wherever it is shown."""
    said = []
    items = len(np.unique(ratings.items[done.kept]))
    workers = len(np.unique(ratings.workers[done.kept]))
    if halves.whole.value is not None and (items < _FEW_ITEMS or workers < _FEW_WORKERS):
        said.append(
            f"The reliability rests on {_counted(items, 'item')} and {_counted(workers, 'worker')}: from so "
            "few it can come out as anything."
        )
    removed = int(done.removed_workers.sum())
    if removed and halves.removed_workers < _MOST_REMOVED * removed:
        said.append(
            f"Judged on nine tenths of their items, {halves.removed_workers:.1f} workers are removed on "
            f"average, of {_counted(removed, 'worker')} whom the whole study removes: the reliability and "
            "the cross-fitted alpha are those of a filter that removes less."
        )
    return said


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
