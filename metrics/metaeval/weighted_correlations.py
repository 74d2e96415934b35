"""Correlations of samples drawn with replacement, for many samples at once.

A sample is a weight for each answer: how often it was drawn. `prepared(statistic, human, scores, starts)`
looks at the (n,) scores once; its `values(weights)` takes (n, samples) weights to (G, samples) correlations,
nan where a sample has none. A sample's ranks are its own: the answers below count as often as they were
drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from metrics.metaeval.correlation import Statistic
from metrics.metaeval.data import Floats, Indices

# Answers of a group that have the same score: what ranks and ties are made of.

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
        from scipy.sparse import csr_array

        n = len(self.order)
        parts = (np.ones(n), self.order, np.append(self.starts, n))
        masses: Floats = csr_array(parts, shape=(len(self.starts), n)) @ weights
        return masses


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


# How each answer compares with all others for people and for two metrics: sums of signs in O(n log n).
#
# `sign_sums(human, own, others)`: for each answer i the sum over all answers j of sign(h_i - h_j) ·
# sign(x_i - y_j), x being its own scores and y those of the others. With x = y these are the rows of
# Kendall's numerator.


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
    lower = _lower(people, np.concatenate([own, others]), asks_first=True)
    if len(np.intersect1d(own, others, assume_unique=False)):
        lower = (lower + _lower(people, np.concatenate([others, own]), asks_first=False)) / 2
    left, beside, below = lower
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
    sums_before = np.empty_like(weight)
    sums_before[order] = np.cumsum(sorted_weight) - sorted_weight
    return sums_before


def lower_before(places: Indices, weight: Indices) -> Indices:
    """For each element the weight of earlier ones with a lower place; `places` are a permutation from 0.

    The way of `kernels.inversions`, bit by bit, but for each element by itself.
    """
    n = len(places)
    sums_before = np.zeros(n, np.int64)
    position = ids = np.arange(n)
    for bit in range(n.bit_length() - 1, -1, -1):
        node = (places >> (bit + 1)) << (bit + 1)
        one = (places >> bit) & 1
        light = weight * (1 - one)
        before = np.cumsum(light) - light
        sums_before[ids] += (before - before[node]) * one
        ones = np.cumsum(one) - one
        ones -= ones[node]
        target = np.where(one == 1, node + (1 << bit) + ones, position - ones)
        order = np.empty_like(target)
        order[target] = position
        places, weight, ids = places[order], weight[order], ids[order]
    return sums_before


NONE = 1e-12
#: Groups up to this size have their concordance summed over all pairs, larger ones to first order.
MANY = 500


class WeightedCorrelation(Protocol):
    """A correlation that waits for weights."""

    def values(self, weights: Floats) -> Floats:
        """(G, samples) from (n, samples)."""
        ...


def prepared(
    statistic: Statistic,
    human: Floats,
    scores: Floats,
    starts: Indices,
    runs: Callable[[], tuple[Runs, Runs]] | None = None,
) -> WeightedCorrelation:
    """The statistic of these scores, which lie group by group; `runs` may give those of both."""
    if statistic == "pearson":
        return Pearson(moments(human, scores, starts), starts)
    people, metric = runs() if runs else (runs_of(human, starts), runs_of(scores, starts))
    if statistic == "spearman":
        return Spearman(people, metric, starts)
    ends = np.append(starts[1:], len(human))
    parts = [
        _concordance(human[begin:end], scores[begin:end]) for begin, end in zip(starts, ends, strict=True)
    ]
    return Kendall(people, metric, starts, tuple(parts))


@dataclass(frozen=True, slots=True, eq=False)
class Pearson:
    """Pearson's r from `columns` (5, n): h, m, h², m², h·m, each of mean 0 and size 1 in its group."""

    columns: Floats
    starts: Indices

    def values(self, weights: Floats) -> Floats:
        """(G, samples)."""
        ends = np.append(self.starts[1:], len(weights))
        if len(self.starts) <= GROUPS:
            ranges = [slice(begin, end) for begin, end in zip(self.starts, ends, strict=True)]
            sums = np.stack([self.columns[:, of] @ weights[of] for of in ranges], axis=1)
        else:
            columns = self.columns[:, :, None]
            sums = np.stack([np.add.reduceat(column * weights, self.starts, axis=0) for column in columns])
        return of_moments(group_sums(weights, self.starts), sums)


def moments(human: Floats, scores: Floats, starts: Indices) -> Floats:
    """(5, n) what each answer adds to the sums of h, m, h², m², h·m."""
    people, metric = _scaled(human, starts), _scaled(scores, starts)
    return np.stack([people, metric, people * people, metric * metric, people * metric])


def of_moments(total: Floats, sums: Floats) -> Floats:
    """Pearson's r of (...) total weights and (5, ...) sums."""
    mass = np.maximum(total, 1.0)
    people, metric, people_squares, metric_squares, products = sums
    together = products - people * metric / mass
    people_spread = people_squares - people * people / mass
    metric_spread = metric_squares - metric * metric / mass
    good = (people_spread > NONE * mass) & (metric_spread > NONE * mass)
    root = np.sqrt(np.where(good, people_spread, 1.0)) * np.sqrt(np.where(good, metric_spread, 1.0))
    return np.where(good, np.clip(together / root, -1.0, 1.0), np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class Spearman:
    """Spearman's rho. Ranks of N answers have the mean (N + 1) / 2, so only Σ w r r' runs over answers."""

    people: Runs
    metric: Runs
    starts: Indices

    def values(self, weights: Floats) -> Floats:
        """(G, samples)."""
        total = group_sums(weights, self.starts)
        centre = (total + 1) / 2
        people, people_spread = _ranks(self.people, weights, centre)
        metric, metric_spread = _ranks(self.metric, weights, centre)
        products = weights * people[self.people.of]
        products *= metric[self.metric.of]
        together = group_sums(products, self.starts)
        good = (people_spread > 1e-9) & (metric_spread > 1e-9)
        root = np.sqrt(np.where(good, people_spread, 1.0)) * np.sqrt(np.where(good, metric_spread, 1.0))
        return np.where(good, np.clip(together / root, -1.0, 1.0), np.nan)


def _ranks(runs: Runs, weights: Floats, centre: Floats) -> tuple[Floats, Floats]:
    """(R, samples) ranks of runs less their mean, and (G, samples) their weighted squares."""
    mass = runs.mass(weights)
    ranks = np.cumsum(mass, axis=0)
    offset = (ranks - mass)[runs.first] + centre - 0.5
    ranks -= mass / 2
    ranks -= offset[runs.group]
    return ranks, group_sums(mass * ranks * ranks, runs.first)


@dataclass(frozen=True, slots=True, eq=False)
class Kendall:
    """Kendall's tau-b. Copies of an answer are tied with each other in both, and so in none of the sums.

    In a group of more than `MANY` answers the numerator is the linear part of itself in the weights (its
    Hajek projection, by which its sampling variance is known to first order); the denominators are exact.
    """

    people: Runs
    metric: Runs
    starts: Indices
    parts: tuple[Floats, ...]

    def values(self, weights: Floats) -> Floats:
        """(G, samples)."""
        people, metric = _untied(self.people, weights), _untied(self.metric, weights)
        ends = np.append(self.starts[1:], len(weights))
        numerators = []
        for part, begin, end in zip(self.parts, self.starts, ends, strict=True):
            own = weights[begin:end]
            if part.ndim == 1:
                numerators.append(part @ own - part.sum() / 2)
            else:
                numerators.append(((part @ own) * own).sum(axis=0) / 2)
        good = (people > 0.5) & (metric > 0.5)
        root = np.sqrt(np.where(good, people, 1.0)) * np.sqrt(np.where(good, metric, 1.0))
        return np.where(good, np.clip(np.stack(numerators) / root, -1.0, 1.0), np.nan)


def _untied(runs: Runs, weights: Floats) -> Floats:
    """(G, samples) pairs of answers in a sample that these scores do not tie."""
    mass = runs.mass(weights)
    total = group_sums(mass, runs.first)
    return np.asarray((total * total - group_sums(mass * mass, runs.first)) / 2)


def _concordance(human: Floats, scores: Floats) -> Floats:
    """(n, n) products of signs of a small group, or (n,) their sums."""
    if len(human) > MANY:
        return sign_sums(human, scores, scores)
    return np.sign(human[:, None] - human) * np.sign(scores[:, None] - scores)


def _scaled(values: Floats, starts: Indices) -> Floats:
    """Values around 0 of size 1 in each group, so that squares of tiny scores are not lost."""
    sizes = np.diff(np.append(starts, len(values)))
    group = np.repeat(np.arange(len(starts)), sizes)
    middle = values - (np.add.reduceat(values, starts) / sizes)[group]
    largest = np.maximum.reduceat(np.abs(middle), starts)
    middle /= np.where(largest > 0, largest, 1.0)[group]
    middle -= (np.add.reduceat(middle, starts) / sizes)[group]
    spread = np.sqrt(np.add.reduceat(middle * middle, starts) / sizes)
    flat = np.maximum.reduceat(values, starts) == np.minimum.reduceat(values, starts)
    scaled: Floats = np.where(flat[group], 0.0, middle) / np.where(spread > 0, spread, 1.0)[group]
    return scaled
