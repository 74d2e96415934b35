"""How each answer stands to all others for people and for two metrics: sums of signs in O(n log n).

`sign_sums(human, own, others, starts)`: for each answer i the sum over the answers j of its group of
sign(h_i - h_j) · sign(x_i - y_j), x being its own scores and y those of the others. With x = y these are the
rows of Kendall's numerator.
"""

import numpy as np

from metrics.meta.judged import Floats
from metrics.meta.rows import Indices


def sign_sums(human: Floats, own: Floats, others: Floats, starts: Indices) -> Floats:
    """(n,) sums of signs within groups."""
    n = len(human)
    sizes = np.diff(np.append(starts, n))
    group = np.repeat(np.arange(len(starts)), sizes)
    points = _Points(
        np.concatenate([group, group]),
        np.concatenate([human, human]),
        np.concatenate([own, others]),
        2 * starts,
    )
    below = [points.counted(strict, lower) for strict in (True, False) for lower in (True, False)]
    earlier = points.before(True) + points.before(False)
    lower = points.lower(True) + points.lower(False)
    found: Floats = (sum(below) - earlier - (lower - sizes[group])).astype(np.float64)
    return found


class _Points:
    """2n points (group, human, score): the first n ask, the second n are counted."""

    def __init__(self, group: Indices, human: Floats, scores: Floats, begins: Indices) -> None:
        self.n = len(group) // 2
        self.group, self.begins = group, begins
        asks = np.repeat([1, 0], self.n)
        self.weight = 1 - asks
        # Of equals, those that ask come first where equals shall not count, and last where they shall.
        self.by_human = {
            strict: np.lexsort((asks * (-1 if strict else 1), human, group)) for strict in (True, False)
        }
        self.by_score = {
            strict: np.lexsort((asks * (-1 if strict else 1), scores, group)) for strict in (True, False)
        }

    def counted(self, human: bool, score: bool) -> Indices:
        """Of each that asks: how many come before it by people and by score; True: strictly."""
        order, by_score = self.by_human[human], self.by_score[score]
        place = np.empty(2 * self.n, np.int64)
        place[by_score] = np.arange(2 * self.n)
        counts = lower_before(place[order] - self.begins[self.group[order]], self.weight[order], self.begins)
        return self._asked(order, counts)

    def before(self, strict: bool) -> Indices:
        """Of each that asks: how many come before it by people."""
        return self._running(self.by_human[strict])

    def lower(self, strict: bool) -> Indices:
        """Of each that asks: how many come before it by score."""
        return self._running(self.by_score[strict])

    def _running(self, order: Indices) -> Indices:
        weight = self.weight[order]
        total = np.cumsum(weight) - weight
        return self._asked(order, total - total[self.begins[self.group[order]]])

    def _asked(self, order: Indices, counts: Indices) -> Indices:
        found = np.empty(2 * self.n, np.int64)
        found[order] = counts
        return found[: self.n]


def lower_before(places: Indices, weight: Indices, begins: Indices) -> Indices:
    """For each element the weight of earlier ones of its group with a lower place.

    `places` are a permutation from 0 in each group. The way of `kernels.inversions`, bit by bit, but for each
    element by itself.
    """
    n = len(places)
    found = np.zeros(n, np.int64)
    sizes = np.diff(np.append(begins, n))
    base = np.repeat(begins, sizes)
    position = ids = np.arange(n)
    for bit in range(int(sizes.max()).bit_length() - 1, -1, -1):
        node = base + ((places >> (bit + 1)) << (bit + 1))
        one = (places >> bit) & 1
        light = np.where(one == 0, weight, 0)
        before = np.cumsum(light) - light
        before -= before[node]
        found[ids[one == 1]] += before[one == 1]
        ones = np.cumsum(one) - one
        ones -= ones[node]
        target = np.where(one == 1, node + (1 << bit) + ones, position - ones)
        order = np.empty_like(target)
        order[target] = position
        places, weight, ids = places[order], weight[order], ids[order]
    return found
