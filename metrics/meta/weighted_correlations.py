"""Correlations of samples drawn with replacement, for many samples at once.

A sample is a weight for each answer: how often it was drawn. `prepared(statistic, human, scores, starts)`
looks at the (n,) scores once; its `values(weights)` takes (n, samples) weights to (G, samples) correlations,
nan where a sample has none. A sample's ranks are its own: the answers below count as often as they were
drawn.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from metrics.meta.kernels import Statistic
from metrics.meta.rows import Indices
from metrics.meta.runs import GROUPS, Runs, group_sums, runs_of
from metrics.meta.scored_answers import Floats
from metrics.meta.signs import sign_sums

NONE = 1e-12
#: Groups up to this size have their concordance summed over all pairs, larger ones to first order.
MANY = 500


class WeightedCorrelation(Protocol):
    """A correlation that waits for weights."""

    def values(self, weights: Floats) -> Floats:
        """(G, samples) from (n, samples)."""
        ...


def prepared(statistic: Statistic, human: Floats, scores: Floats, starts: Indices) -> WeightedCorrelation:
    """The statistic of these scores, which lie group by group."""
    if statistic == "pearson":
        return Pearson(moments(human, scores, starts), starts)
    people, metric = runs_of(human, starts), runs_of(scores, starts)
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
    found: Floats = np.where(flat[group], 0.0, middle) / np.where(spread > 0, spread, 1.0)[group]
    return found
