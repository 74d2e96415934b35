"""How each answer stands to all others for people and for two metrics: sums of signs in O(n log n).

`sign_sums(human, own, others)`: for each answer i the sum over all answers j of sign(h_i - h_j) · sign(x_i -
y_j), x being its own scores and y those of the others. With x = y these are the rows of Kendall's numerator.
"""

import numpy as np

from metrics.meta.rows import Indices
from metrics.meta.scored_answers import Floats


def sign_sums(human: Floats, own: Floats, others: Floats) -> Floats:
    """(n,) sums of signs.

    Of the 2n points (h, x) that ask and (h, y) that are counted: L lie before and below one that asks, W
    beside it (same h) and below, R below, E before, G after. Then the sum is (2L - E) - (2(R - L - W) - G). A
    tie of x and y counts half on either side: the mean of counting it as below and as above.
    """
    codes = np.unique(human, return_inverse=True)[1]
    kind = np.uint16 if len(human) <= np.iinfo(np.uint16).max else np.int64
    people = np.tile(codes.astype(kind), 2)
    levels = np.bincount(codes)
    before = np.cumsum(levels) - levels
    after = len(human) - before - levels
    found = _lower(people, np.concatenate([own, others]), asks_first=True)
    if len(np.intersect1d(own, others, assume_unique=False)):
        found = (found + _lower(people, np.concatenate([others, own]), asks_first=False)) / 2
    left, beside, below = found
    sums: Floats = 2 * left - before[codes] - 2 * (below - left - beside) + after[codes]
    return sums.astype(np.float64)


def _lower(people: Indices, scores: Floats, *, asks_first: bool) -> Floats:
    """(3, n) L, W and R of the points that ask. Of equal scores the first half of the points lies below."""
    n = len(people) // 2
    counts = np.repeat([not asks_first, asks_first], n).astype(np.int64)
    asks = slice(0, n) if asks_first else slice(n, 2 * n)
    by_score = np.argsort(scores, kind="stable")
    below = _before(by_score, counts)
    level = by_score[np.argsort(people[by_score], kind="stable")]
    starts = np.flatnonzero(np.diff(people[level].astype(np.int64), prepend=-1))
    sizes = np.diff(np.append(starts, 2 * n))
    weight = counts[level]
    running = np.cumsum(weight) - weight
    beside = np.empty(2 * n, np.int64)
    beside[level] = running - np.repeat(running[starts], sizes)
    # Within a level the highest come first: those below are not before.
    highest = by_score[::-1]
    order = highest[np.argsort(people[highest], kind="stable")]
    place = np.empty(2 * n, np.int64)
    place[by_score] = np.arange(2 * n)
    left = np.empty(2 * n, np.int64)
    left[order] = lower_before(place[order], counts[order])
    return np.stack([left[asks], beside[asks], below[asks]]).astype(np.float64)


def _before(order: Indices, weight: Indices) -> Indices:
    """For each element the weight of those before it in an order."""
    sorted_weight = weight[order]
    found = np.empty_like(weight)
    found[order] = np.cumsum(sorted_weight) - sorted_weight
    return found


def lower_before(places: Indices, weight: Indices) -> Indices:
    """For each element the weight of earlier ones with a lower place; `places` are a permutation from 0.

    The way of `kernels.inversions`, bit by bit, but for each element by itself.
    """
    n = len(places)
    found = np.zeros(n, np.int64)
    position = ids = np.arange(n)
    for bit in range(n.bit_length() - 1, -1, -1):
        node = (places >> (bit + 1)) << (bit + 1)
        one = (places >> bit) & 1
        light = weight * (1 - one)
        before = np.cumsum(light) - light
        found[ids] += (before - before[node]) * one
        ones = np.cumsum(one) - one
        ones -= ones[node]
        target = np.where(one == 1, node + (1 << bit) + ones, position - ones)
        order = np.empty_like(target)
        order[target] = position
        places, weight, ids = places[order], weight[order], ids[order]
    return found
