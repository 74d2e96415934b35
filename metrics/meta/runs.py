"""Answers of a group that have the same score: what ranks and ties are made of."""

from dataclasses import dataclass

import numpy as np

from metrics.meta.judged import Floats
from metrics.meta.rows import Indices


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """R runs of equal scores, sorted by group and score.

    `order` sorts answers and run r begins at `starts[r]` in it; `of` is each answer's run, `group` each run's
    group and `first` each group's first run.
    """

    order: Indices
    starts: Indices
    of: Indices
    group: Indices
    first: Indices

    def mass(self, weights: Floats) -> Floats:
        """(R, samples) the weight of each run, from (n, samples) weights."""
        if len(self.starts) == len(self.order):
            return weights[self.order]
        found: Floats = np.add.reduceat(weights[self.order], self.starts, axis=0)
        return found


def runs_of(scores: Floats, starts: Indices) -> Runs:
    """The runs of (n,) scores that lie group by group."""
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(scores))))
    order = np.lexsort((scores, group))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (group[1:] != group[:-1]) | (scores[order[1:]] != scores[order[:-1]])
    runs = np.flatnonzero(new)
    of = np.empty(len(order), np.int64)
    of[order] = np.cumsum(new) - 1
    return Runs(order, runs, of, group[runs], np.searchsorted(runs, starts))
