"""What happens to a statistic when two metrics swap their scores on some units.

A unit is a question, an answer or a system. Nearly every statistic here is made of sums over units (Pearson's
r of m, m², h·m; a mean over questions of what each adds). Let T_a be the part of a sum that swapped units
have under metric a: then the sum of the new a is S_a - T_a + T_b. So T is one matrix product, swaps (draws by
units) times sums (units by columns), for all metrics at once, and 190 pairs of 20 metrics cost 20 products.

Scores are standardised before they are swapped, over the answers that both have. For Spearman's rho ranks are
taken once and swapped as they are: after a swap they are no longer exactly the ranks of the new scores, which
makes the test one of Pearson's r of ranks. It is as valid, as under the hypothesis ranks are exchangeable
too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from metrics.meta.cohorts import Cohort
from metrics.meta.itemwise import shares
from metrics.meta.kernels import Statistic, ranks, within
from metrics.meta.rows import Grouping, Indices, grouped, system_means
from metrics.meta.scored_answers import Floats
from metrics.meta.softpairs import system_pairs
from metrics.meta.statistics import AnyStatistic

#: A variance below this share of the first one is none.
NONE = 1e-12
CELLS = 1 << 17


class Sums(Protocol):
    """Sums over units, and what they make of a difference between the metrics of each pair."""

    @property
    def columns(self) -> Floats:
        """(units, columns)."""
        ...

    def deltas(self, swapped: Floats) -> Floats:
        """(draws, pairs) differences, from (draws, columns) sums over the units that are swapped."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Means: columns are what a unit adds above and below the line for each metric."""

    columns: Floats
    first: Indices
    second: Indices

    def deltas(self, swapped: Floats) -> Floats:
        """The difference of two ratios of sums."""
        total = self.columns.sum(axis=0).reshape(-1, 2)
        part = swapped.reshape(len(swapped), -1, 2)
        a, b = part[:, self.first], part[:, self.second]
        return _ratio(total[self.first] - a + b) - _ratio(total[self.second] - b + a)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Pearson's r of each group, then their mean: columns are m, m², h·m by metric and group.

    Human scores have mean 0 and sum of squares 1 in each group, so r = Σhm / √(Σm² - (Σm)² / n).
    """

    columns: Floats
    sizes: Floats
    first: Indices
    second: Indices

    def deltas(self, swapped: Floats) -> Floats:
        """The difference of two mean correlations."""
        groups = len(self.sizes)
        total = self.columns.sum(axis=0).reshape(-1, groups, 3)
        part = swapped.reshape(len(swapped), -1, groups, 3)
        found = np.empty((len(swapped), len(self.first)))
        for few in _few(len(self.first), len(swapped) * groups * 3):
            a, b = self.first[few], self.second[few]
            moved = part[:, b] - part[:, a]
            found[:, few] = self._mean(total[a] + moved) - self._mean(total[b] - moved)
        return found

    def _mean(self, sums: Floats) -> Floats:
        spread = sums[..., 1] - sums[..., 0] ** 2 / self.sizes
        good = spread > NONE * self.sizes
        r = np.where(good, sums[..., 2], 0.0) / np.sqrt(np.where(good, spread, 1.0))
        return _ratio(np.stack([r.sum(axis=-1), good.sum(axis=-1)], axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """Statistics of system means: columns are the sum of m by metric and system."""

    columns: Floats
    sizes: Floats
    human: Floats
    statistic: AnyStatistic
    first: Indices
    second: Indices

    def deltas(self, swapped: Floats) -> Floats:
        """The difference of the statistics of two vectors of means."""
        systems = len(self.sizes)
        total = self.columns.sum(axis=0).reshape(-1, systems)
        part = swapped.reshape(len(swapped), -1, systems)
        found = np.empty((len(swapped), len(self.first)))
        for few in _few(len(self.first), len(swapped) * systems):
            a, b = self.first[few], self.second[few]
            moved = part[:, b] - part[:, a]
            found[:, few] = self._of(total[a] + moved) - self._of(total[b] - moved)
        return found

    def _of(self, sums: Floats) -> Floats:
        """(draws, pairs) statistics; sums that only rounding tells apart are ties."""
        means = np.round(sums / self.sizes, 12)
        flat = of_means(self.statistic, self.human, means.reshape(-1, len(self.sizes)))
        return flat.reshape(sums.shape[:-1])


def of_means(statistic: AnyStatistic, human: Floats, means: Floats) -> Floats:
    """A system-level statistic of (draws, systems) means; nan where there is none."""
    if statistic == "pa":
        right, pairs = system_pairs(human, means)
        return _ratio(np.stack([right, pairs], axis=-1))
    assert statistic in ("pearson", "spearman", "kendall")
    return within(statistic, human, means, np.zeros(1, np.int64))[:, 0]


def shares_of(cohort: Cohort, units: Indices, size: int, statistic: AnyStatistic, gap: float) -> Shares:
    """Means over questions, when whole questions are swapped; `units` are the questions' numbers."""
    assert statistic != "pa"
    columns = np.zeros((size, len(cohort.names), 2))
    for k, scores in enumerate(cohort.scores):
        above, below = shares(statistic, cohort.rows, scores, gap)
        columns[units, k, 0], columns[units, k, 1] = above, below
    return Shares(columns.reshape(size, -1), cohort.first, cohort.second)


def values_of(cohort: Cohort, values: Floats, units: Indices, size: int) -> Shares:
    """Means of (metrics, units) values that are swapped as they are; nan where a unit has none."""
    columns = np.zeros((size, len(cohort.names), 2))
    columns[units, :, 0] = np.nan_to_num(values).T
    columns[units, :, 1] = ~np.isnan(values).T
    return Shares(columns.reshape(size, -1), cohort.first, cohort.second)


def moments_of(
    cohort: Cohort, units: Indices, size: int, statistic: Statistic, grouping: Grouping
) -> Moments:
    """Pearson's r, or Spearman's rho, over all answers or by system; `units` is the unit of each answer."""
    order, starts = grouped(cohort.rows, grouping)
    human, scores = cohort.rows.human[order], cohort.scores[:, order]
    if statistic == "spearman":
        human, scores = ranks(human[None], starts)[0], ranks(scores, starts)
    metric = standardised(scores)
    sizes = np.diff(np.append(starts, len(order)))
    group = np.repeat(np.arange(len(starts)), sizes)
    people = human - (np.add.reduceat(human, starts) / sizes)[group]
    flat = np.minimum.reduceat(human, starts) == np.maximum.reduceat(human, starts)
    norm = np.sqrt(np.where(flat, 1.0, np.add.reduceat(people * people, starts)))
    people /= norm[group]
    kept = np.flatnonzero(~flat)
    columns = np.zeros((size, len(cohort.names), len(starts), 3))
    unit = units[order]
    for k, values in enumerate(metric):
        for moment, terms in enumerate((values, values * values, people * values)):
            np.add.at(columns[:, k, :, moment], (unit, group), terms)
    return Moments(
        columns[:, :, kept].reshape(size, -1), sizes[kept].astype(np.float64), cohort.first, cohort.second
    )


def means_of(cohort: Cohort, units: Indices, size: int, statistic: AnyStatistic) -> Means:
    """A statistic of system means; `units` is the unit of each answer."""
    rows = cohort.rows
    systems = len(rows.system_names)
    columns = np.zeros((size, len(cohort.names), systems))
    for k, values in enumerate(standardised(cohort.scores)):
        np.add.at(columns[:, k], (units, rows.systems), values)
    sizes = np.bincount(rows.systems, minlength=systems).astype(np.float64)
    human = system_means(rows, rows.human)
    return Means(columns.reshape(size, -1), sizes, human, statistic, cohort.first, cohort.second)


def standardised(scores: Floats) -> Floats:
    """(metrics, n) scores with mean 0 and standard deviation 1; 0 where they are all the same."""
    centred = scores - scores.mean(axis=-1, keepdims=True)
    spread = np.ptp(scores, axis=-1, keepdims=True)
    centred /= np.where(spread > 0, spread, 1.0)
    deviation = np.sqrt((centred * centred).mean(axis=-1, keepdims=True))
    found: Floats = centred / np.where(deviation > 0, deviation, 1.0)
    return found


def _few(pairs: int, cells: int) -> Iterator[slice]:
    """Some pairs at a time, so that their work stays in the cache; `cells` are those of one pair."""
    width = max(1, CELLS // cells)
    yield from (slice(first, first + width) for first in range(0, pairs, width))


def _ratio(sums: Floats) -> Floats:
    """sums[..., 0] / sums[..., 1], nan where there is nothing below the line."""
    above, below = sums[..., 0], sums[..., 1]
    good = below > 0.5
    found: Floats = np.where(good, above, np.nan) / np.where(good, below, 1.0)
    return found
