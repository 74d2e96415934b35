"""Correlations of samples drawn with replacement, for many samples at once.

A sample is a weight for each answer: how often it was drawn. `weights` are (samples, n); human scores and scores of
one metric are (n,), group by group, as in `kernels`. Answers are (samples, G), nan where a sample has none. A sample's
ranks are its own: the answers below count as often as they were drawn.
"""

import numpy as np

from metrics.meta.judged import Floats
from metrics.meta.kernels import Statistic
from metrics.meta.rows import Indices
from metrics.meta.signs import sign_sums

NONE = 1e-12
MANY = 2500


def weighted(statistic: Statistic, human: Floats, scores: Floats, starts: Indices, weights: Floats) -> Floats:
    """The statistic of each sample in each group."""
    if statistic == "kendall":
        return kendall(human, scores, starts, weights)
    if statistic == "spearman":
        human, scores = ranks(human, starts, weights), ranks(scores, starts, weights)
    return pearson(human, scores, starts, weights)


def pearson(human: Floats, scores: Floats, starts: Indices, weights: Floats) -> Floats:
    """Pearson's r; human scores and scores are (n,) or (samples, n)."""
    human, scores = _scaled(human, starts), _scaled(scores, starts)
    total = _sums(weights, starts)
    mass = np.maximum(total, 1.0)
    people, metric = _sums(weights * human, starts), _sums(weights * scores, starts)
    together = _sums(weights * human * scores, starts) - people * metric / mass
    spread_people = _sums(weights * human * human, starts) - people * people / mass
    spread_metric = _sums(weights * scores * scores, starts) - metric * metric / mass
    good = (spread_people > NONE * mass) & (spread_metric > NONE * mass)
    root = np.sqrt(np.where(good, spread_people, 1.0)) * np.sqrt(np.where(good, spread_metric, 1.0))
    return np.where(good, np.clip(together / root, -1.0, 1.0), np.nan)


def ranks(scores: Floats, starts: Indices, weights: Floats) -> Floats:
    """(samples, n) mean ranks within groups."""
    order, runs = _sorted(scores, starts)
    mass = np.add.reduceat(weights[:, order], runs, axis=1)
    below = np.cumsum(mass, axis=1) - mass
    first = np.searchsorted(runs, starts)
    sizes = np.diff(np.append(first, len(runs)))
    rank = below - np.repeat(below[:, first], sizes, axis=1) + (mass + 1) / 2
    found = np.empty_like(weights)
    found[:, order] = np.repeat(rank, np.diff(np.append(runs, len(order))), axis=1)
    return found


def kendall(human: Floats, scores: Floats, starts: Indices, weights: Floats) -> Floats:
    """Kendall's tau-b. Copies of an answer are tied with each other in both, and so in none of the sums.

    In a group of more than `MANY` answers the numerator is the linear part of itself in the weights (its Hájek
    projection, by which its sampling variance is known to first order); the denominators are exact.
    """
    people, metric = untied(human, starts, weights), untied(scores, starts, weights)
    found = np.full(people.shape, np.nan)
    ends = np.append(starts[1:], len(human))
    for group, (begin, end) in enumerate(zip(starts, ends, strict=True)):
        of = slice(begin, end)
        numerator = concordance(human[of], scores[of], weights[:, of])
        good = (people[:, group] > 0.5) & (metric[:, group] > 0.5)
        root = np.sqrt(np.where(good, people[:, group], 1.0) * np.where(good, metric[:, group], 1.0))
        found[:, group] = np.where(good, numerator / root, np.nan)
    return np.clip(found, -1.0, 1.0)


def concordance(human: Floats, scores: Floats, weights: Floats) -> Floats:
    """(samples,) concordant less discordant pairs of one group."""
    if len(human) > MANY:
        sums = sign_sums(human, scores, scores)
        linear: Floats = weights @ sums - sums.sum() / 2
        return linear
    signs = (_signs(human) * _signs(scores)).astype(np.float64)
    return np.asarray(((weights @ signs) * weights).sum(axis=1) / 2)


def untied(scores: Floats, starts: Indices, weights: Floats) -> Floats:
    """(samples, G) pairs of answers in a sample that these scores do not tie."""
    order, runs = _sorted(scores, starts)
    mass = np.add.reduceat(weights[:, order], runs, axis=1)
    first = np.searchsorted(runs, starts)
    total = np.add.reduceat(mass, first, axis=1)
    found: Floats = (total * total - np.add.reduceat(mass * mass, first, axis=1)) / 2
    return found


def _signs(values: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    """(n, n) signs of all differences."""
    above = (values[:, None] > values).view(np.int8)
    return above - above.T


def _sorted(scores: Floats, starts: Indices) -> tuple[Indices, Indices]:
    """The order by group and score, and where runs of the same score begin in it."""
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(scores))))
    order = np.lexsort((scores, group))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (group[1:] != group[:-1]) | (scores[order[1:]] != scores[order[:-1]])
    return order, np.flatnonzero(new)


def _scaled(values: Floats, starts: Indices) -> Floats:
    """Values around 0 of size 1 in each group, so that squares of tiny scores are not lost."""
    sizes = np.diff(np.append(starts, values.shape[-1]))
    middle = values - np.repeat(_sums(values, starts) / sizes, sizes, axis=-1)
    largest = np.maximum.reduceat(np.abs(middle), starts, axis=-1)
    middle /= np.repeat(np.where(largest > 0, largest, 1.0), sizes, axis=-1)
    spread = np.sqrt(_sums(middle * middle, starts) / sizes)
    found: Floats = middle / np.repeat(np.where(spread > 0, spread, 1.0), sizes, axis=-1)
    return found


def _sums(values: Floats, starts: Indices) -> Floats:
    found: Floats = np.add.reduceat(values, starts, axis=-1)
    return found
