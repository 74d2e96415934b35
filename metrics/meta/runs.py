"""Answers of a group that have the same score: what ranks and ties are made of."""

from dataclasses import dataclass

import numpy as np

from metrics.meta.rows import Indices
from metrics.meta.scored_answers import Floats

#: So few groups are summed one by one.
GROUPS = 50


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
        # A sparse product is ten times faster here than np.add.reduceat.
        from scipy.sparse import csr_array  # noqa: PLC0415 - takes a while to load

        n = len(self.order)
        parts = (np.ones(n), self.order, np.append(self.starts, n))
        found: Floats = csr_array(parts, shape=(len(self.starts), n)) @ weights
        return found


def group_sums(values: Floats, starts: Indices) -> Floats:
    """(G, samples) sums of the lines of each group."""
    if len(starts) > GROUPS:
        return np.asarray(np.add.reduceat(values, starts, axis=0))
    ends = np.append(starts[1:], len(values))
    return np.stack([values[begin:end].sum(axis=0) for begin, end in zip(starts, ends, strict=True)])


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
