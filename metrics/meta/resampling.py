"""What a sample of questions, of systems or of both makes of a metric's statistics.

Drawn questions come with all their answers; one that is drawn twice counts as two questions. Drawn systems come with
all theirs. So an answer's weight is how often its question was drawn times how often its system was. Groupings see
the two apart: within a question only systems have weights, and the mean over questions weighs them by theirs.
"""

from dataclasses import dataclass

import numpy as np

from metrics.meta.itemwise import Shares, shares
from metrics.meta.judged import Floats
from metrics.meta.kernels import STATISTICS, within
from metrics.meta.pairwise import Pairwise, pairwise
from metrics.meta.rows import Grouping, Indices, Rows, grouped
from metrics.meta.softpairs import system_pairs
from metrics.meta.statistics import AnyStatistic
from metrics.meta.weighted import weighted

#: Cells of samples by answers that are worked on at once.
CELLS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """How often each question and each system is in each sample; None where they are not sampled."""

    questions: Floats | None
    systems: Floats | None

    def __len__(self) -> int:
        drawn = self.systems if self.questions is None else self.questions
        assert drawn is not None
        return len(drawn)

    def some(self, of: slice) -> "Drawn":
        """Some of the samples."""
        return Drawn(
            None if self.questions is None else self.questions[of],
            None if self.systems is None else self.systems[of],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """One statistic of one metric, ready to be drawn.

    `rows` and `scores` lie group by group and begin at `starts`; `questions` and `systems` are the numbers of
    each answer's question and system among all. `shares` are of questions, where these are drawn whole.
    """

    statistic: AnyStatistic
    grouping: Grouping
    human: Floats
    scores: Floats
    starts: Indices
    questions: Indices
    systems: Indices
    shares: Shares | None
    pairs: Pairwise | None

    def values(self, drawn: Drawn) -> Floats:
        """(samples,) values, nan where a sample has none."""
        width = max(1, CELLS // len(self.human))
        slices = [slice(first, first + width) for first in range(0, len(drawn), width)]
        return np.concatenate([self._some(drawn.some(of)) for of in slices])

    def _some(self, drawn: Drawn) -> Floats:
        if self.grouping == "system":
            return self._of_systems(drawn)
        if self.grouping == "global":
            return self._weighted(_at(drawn.questions, self.questions), _at(drawn.systems, self.systems))[
                :, 0
            ]
        if self.grouping == "by_system":
            inside = _at(drawn.questions, self.questions)
            values = self._weighted(inside, None)
            return _mean(values, _at(drawn.systems, self.systems[self.starts]))
        outside = _at(drawn.questions, self.questions[self.starts])
        if self.shares is not None:
            assert outside is not None
            above, below = self.shares
            return _ratio(outside @ above, outside @ below)
        inside = _at(drawn.systems, self.systems)
        assert inside is not None
        if self.pairs is not None:
            return self.pairs.values(inside, outside)
        return _mean(self._weighted(inside, None), outside)

    def _weighted(self, one: Floats | None, other: Floats | None) -> Floats:
        """(samples, groups) correlations."""
        weights = one if other is None else other if one is None else one * other
        assert self.statistic in STATISTICS
        if weights is None:
            return within(self.statistic, self.human, self.scores[None], self.starts)
        return weighted(self.statistic, self.human, self.scores, self.starts, weights)

    def _of_systems(self, drawn: Drawn) -> Floats:
        """Of systems' means over the drawn questions; drawn systems stand as often as they were drawn."""
        human, metric = self._means(drawn.questions, self.human), self._means(drawn.questions, self.scores)
        if drawn.systems is None:
            return self._level(human, metric)
        # A drawn system without a score of the metric has no mean.
        there = drawn.systems[:, self.systems[self.starts]].astype(np.int64)
        found = np.empty(len(drawn))
        for size in np.unique(there.sum(axis=1)):
            own = np.flatnonzero(there.sum(axis=1) == size)
            line = np.repeat(own if len(human) > 1 else np.zeros_like(own), size).reshape(-1, size)
            system = np.repeat(np.tile(np.arange(there.shape[1]), len(own)), there[own].ravel()).reshape(
                -1, size
            )
            found[own] = self._level(human[line, system], metric[line, system])
        return found

    def _level(self, human: Floats, metric: Floats) -> Floats:
        """(samples,) statistics of (samples, systems) means; means that only rounding tells apart are ties."""
        samples, systems = human.shape
        if systems < 2:
            return np.full(samples, np.nan)
        gone = np.isnan(human).any(axis=1) | np.isnan(metric).any(axis=1)
        human, metric = np.nan_to_num(np.round(human, 12)), np.nan_to_num(_rounded(metric))
        if self.statistic == "pa":
            found = _ratio(*system_pairs(human, metric))
        else:
            assert self.statistic in STATISTICS
            starts = np.arange(samples) * systems
            found = within(self.statistic, human.ravel(), metric.reshape(1, -1), starts)[0]
        found[gone] = np.nan
        return found

    def _means(self, questions: Floats | None, values: Floats) -> Floats:
        """(samples, systems) means; one line where no questions are drawn."""
        weights = np.ones((1, len(values))) if questions is None else questions[:, self.questions]
        mass = np.add.reduceat(weights, self.starts, axis=1)
        sums = np.add.reduceat(weights * values, self.starts, axis=1)
        return np.where(mass > 0, sums, np.nan) / np.where(mass > 0, mass, 1.0)


def sampled(
    rows: Rows,
    scores: Floats,
    questions: Indices,
    systems: Indices,
    statistic: AnyStatistic,
    grouping: Grouping,
    *,
    whole: bool,
    gap: float,
) -> Sampled:
    """`questions` and `systems` are the rows' numbers among all; `whole`: only questions are drawn."""
    order, starts = grouped(rows, "by_system" if grouping == "system" else grouping)
    own, pairs = None, None
    if grouping == "item" and whole:
        assert statistic != "pa"
        own = shares(statistic, rows, scores, gap)
    elif grouping == "item" and statistic not in STATISTICS:
        pairs = pairwise(statistic, rows, scores, gap)
    return Sampled(
        statistic,
        grouping,
        rows.human[order],
        scores[order],
        starts,
        questions[order],
        systems[order],
        own,
        pairs,
    )


def _rounded(values: Floats) -> Floats:
    """Rounded to 12 digits of the largest."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    if not largest:
        return values
    return np.asarray(np.round(values / largest, 12) * largest)


def _at(drawn: Floats | None, places: Indices) -> Floats | None:
    return None if drawn is None else drawn[:, places]


def _mean(values: Floats, weights: Floats | None) -> Floats:
    """(samples, groups) to the weighted mean over the groups that have a value."""
    there = ~np.isnan(values)
    mass = there.astype(np.float64) if weights is None else there * weights
    return _ratio((mass * np.nan_to_num(values)).sum(axis=1), mass.sum(axis=1))


def _ratio(above: Floats, below: Floats) -> Floats:
    good = below > 0.5
    return np.where(good, above, np.nan) / np.where(good, below, 1.0)
