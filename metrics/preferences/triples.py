"""Circular triples: A is preferred to B, B to C, and C to A (Kendall and Babington Smith 1940)."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from metrics.preferences.comparisons import FIRST, SECOND, Codes, Comparisons, Floats

#: The share of circular triples where every preference is a toss.
CHANCE = 0.25
NO_DECIDED_TRIPLES = "no decided triples"
_GROUPS_AT_ONCE = 4096


@dataclass(frozen=True, slots=True)
class Triples:
    """How many triples of systems are decided, how many of these are circular, and how many are not decided.

    A triple counts where all three of its pairs were compared; it is undecided where one of them is even.
    `consistence` is Kendall's ζ of a complete tournament.
    """

    decided: int
    circular: int
    undecided: int
    wins: tuple[int, ...] | None = None
    max_circular: float | None = None

    @property
    def share(self) -> float | None:
        """Of the decided triples, those that are circular."""
        return self.circular / self.decided if self.decided else None

    @property
    def consistence(self) -> float | None:
        """1 where no triple is circular, 0 where as many are as can be."""
        return 1 - self.circular / self.max_circular if self.max_circular else None


def count_triples(comparisons: Comparisons) -> Triples:
    """Of all comparisons together: the sign of wins less losses of each pair, whichever was shown first."""
    groups = np.zeros(len(comparisons), dtype=np.int64)
    leads, compared = _leads(comparisons, groups, 1)
    decided, circular, undecided = (int(number) for number in _count(leads, compared))
    size = comparisons.n_systems
    if size < 3 or (np.abs(leads[0]).sum(axis=1) != size - 1).any():
        return Triples(decided, circular, undecided)
    highest = (size**3 - (1 if size % 2 else 4) * size) / 24
    wins = tuple(int(number) for number in (leads[0] > 0).sum(axis=1))
    return Triples(decided, circular, undecided, wins, highest)


def count_triples_within_raters(comparisons: Comparisons) -> Triples:
    """Inside the comparisons of each rater about each question, summed."""
    keys = comparisons.questions * (comparisons.raters.max(initial=0) + 1) + comparisons.raters
    _, groups, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    decided, circular, undecided = 0, 0, 0
    rows = np.flatnonzero(sizes[groups] > 2)  # fewer comparisons make no triple
    groups = np.unique(groups[rows], return_inverse=True)[1]
    order = np.argsort(groups, kind="stable")
    rows, groups = rows[order], groups[order]
    starts = np.searchsorted(groups, np.arange(0, groups.max(initial=-1) + 1, _GROUPS_AT_ONCE))
    for start, end in pairwise([*starts, len(rows)]):
        own = groups[start:end] - groups[start]
        numbers = _count(*_leads(comparisons, own, int(own[-1]) + 1, rows[start:end]))
        decided, circular, undecided = (
            int(before + number)
            for before, number in zip((decided, circular, undecided), numbers, strict=True)
        )
    return Triples(decided, circular, undecided)


def _leads(
    comparisons: Comparisons, groups: Codes, n_groups: int, rows: Codes | slice = slice(None)
) -> tuple[Floats, Floats]:
    """(groups, systems, systems) signs of wins less losses, and 1 where a pair was compared."""
    size = comparisons.n_systems
    leads, compared = np.zeros((2, n_groups, size, size), dtype=np.float64)
    first, second = comparisons.first[rows], comparisons.second[rows]
    outcomes = comparisons.outcomes[rows]
    signs = (outcomes == FIRST).astype(float) - (outcomes == SECOND)
    np.add.at(leads, (groups, first, second), signs)
    compared[groups, first, second] = 1
    return np.sign(leads - leads.transpose(0, 2, 1)), np.maximum(compared, compared.transpose(0, 2, 1))


def _count(leads: Floats, compared: Floats) -> tuple[float, float, float]:
    """Decided, circular and undecided triples: closed ways of three steps, each counted for its starts."""

    def ways(steps: Floats) -> float:
        return float(np.einsum("gij,gjk,gki->", steps, steps, steps, optimize=True))

    decided_pairs = np.abs(leads)
    all_triples = ways(compared) / 6
    decided = ways(decided_pairs) / 6
    circular = ways((leads > 0).astype(float)) / 3
    return round(decided), round(circular), round(all_triples) - round(decided)
