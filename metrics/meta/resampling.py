"""What a sample of questions, of systems or of both makes of a metric's statistics.

Drawn questions come with all their answers; one that is drawn twice counts as two questions. Drawn systems
come with all theirs. So an answer's weight is how often its question was drawn times how often its system
was. Groupings see the two apart: within a question only systems have weights, and the mean over questions
weighs them by theirs.

Where only questions are drawn, what each adds to a sum is known before, and a block of samples is one
product. Weights are (units, samples), values (samples,).
"""

from dataclasses import dataclass

import numpy as np

from metrics.meta.kernels import Statistic, within
from metrics.meta.pairwise import Pairwise
from metrics.meta.rows import Indices, rounded
from metrics.meta.scored_answers import Floats
from metrics.meta.softpairs import system_pairs
from metrics.meta.statistics import AnyStatistic, correlation_named
from metrics.meta.weighted_correlations import WeightedCorrelation, of_moments

#: Cells of answers by samples that are worked on at once.
CELLS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class SampleCounts:
    """How often each question and each system is in each sample; None where they are not sampled."""

    questions: Floats | None
    systems: Floats | None

    def __len__(self) -> int:
        drawn = self.systems if self.questions is None else self.questions
        assert drawn is not None
        return int(drawn.shape[1])

    def parts(self, answers: int) -> "list[SampleCounts]":
        """Some samples at a time, so that weights of so many answers stay small."""
        width = max(1, CELLS // answers)
        slices = [slice(first, first + width) for first in range(0, len(self), width)]
        return [SampleCounts(_columns(self.questions, of), _columns(self.systems, of)) for of in slices]


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The number of each answer's question and system among all."""

    questions: Indices
    systems: Indices
    starts: Indices

    def outside(self, drawn: Floats | None, of: Indices) -> Floats | None:
        """(G, samples) weights of the groups, which are questions or systems."""
        return None if drawn is None else drawn[of[self.starts]]


@dataclass(frozen=True, slots=True, eq=False)
class OfSums:
    """Means over questions, drawn whole: what each question adds above and below the line."""

    above: Floats
    below: Floats
    questions: Indices

    def values(self, drawn: SampleCounts) -> Floats:
        """(samples,)."""
        assert drawn.questions is not None
        weights = drawn.questions[self.questions]
        return _ratio(self.above @ weights, self.below @ weights)


@dataclass(frozen=True, slots=True, eq=False)
class OfMoments:
    """Pearson's r over all answers or by system, questions drawn whole: `sums` are (6, G, questions)."""

    sums: Floats

    def values(self, drawn: SampleCounts) -> Floats:
        """(samples,)."""
        assert drawn.questions is not None
        total, *moments = self.sums @ drawn.questions
        return _mean(of_moments(total, np.stack(moments)), None)


@dataclass(frozen=True, slots=True, eq=False)
class OfAnswers:
    """Correlations over all answers (one group) or by system."""

    weighted: WeightedCorrelation
    places: Places

    def values(self, drawn: SampleCounts) -> Floats:
        """(samples,)."""
        found = []
        by_system = len(self.places.starts) > 1
        for part in drawn.parts(len(self.places.systems)):
            weights = (
                np.ones((1, len(part))) if part.questions is None else part.questions[self.places.questions]
            )
            outside = None
            if part.systems is not None and by_system:
                outside = part.systems[self.places.systems[self.places.starts]]
            elif part.systems is not None:
                weights = weights * part.systems[self.places.systems]
            weights = np.broadcast_to(weights, (len(self.places.systems), len(part)))
            found.append(_mean(self.weighted.values(np.ascontiguousarray(weights)), outside))
        return np.concatenate(found)


@dataclass(frozen=True, slots=True, eq=False)
class OfQuestions:
    """Means over questions, where systems are drawn: within a question answers have their system's weight."""

    weighted: WeightedCorrelation | None
    pairs: Pairwise | None
    places: Places

    def values(self, drawn: SampleCounts) -> Floats:
        """(samples,)."""
        found = []
        for part in drawn.parts(len(self.places.systems)):
            assert part.systems is not None
            inside = part.systems[self.places.systems]
            outside = self.places.outside(part.questions, self.places.questions)
            if self.pairs is not None:
                found.append(self.pairs.values(inside, outside))
            elif self.weighted is not None:
                found.append(_mean(self.weighted.values(inside), outside))
        return np.concatenate(found)


@dataclass(frozen=True, slots=True, eq=False)
class OfSystems:
    """Statistics of systems' means; drawn systems stand as often as they were drawn.

    `sums` are (3, systems, questions): answers, human scores, metric scores. `systems` are the numbers of
    those that have any.
    """

    statistic: AnyStatistic
    sums: Floats
    systems: Indices

    def values(self, drawn: SampleCounts) -> Floats:
        """(samples,)."""
        if drawn.questions is None:
            sums = self.sums.sum(axis=2, keepdims=True)
        else:
            sums = self.sums @ drawn.questions
        count, human, metric = sums
        there = count > 0
        human = np.where(there, human, np.nan) / np.where(there, count, 1.0)
        metric = np.where(there, metric, np.nan) / np.where(there, count, 1.0)
        if drawn.systems is None:
            return self._level(human.T, metric.T)
        times = drawn.systems[self.systems].T.astype(np.int64)
        human, metric = (np.broadcast_to(means, times.T.shape).T for means in (human, metric))
        found = np.empty(len(times))
        # A drawn system without a score of the metric has no mean, and the sample is that much smaller.
        for size in np.unique(times.sum(axis=1)):
            own = np.flatnonzero(times.sum(axis=1) == size)
            shape = (len(own), int(size))
            sample = np.repeat(own, size).reshape(shape)
            system = np.repeat(np.tile(np.arange(times.shape[1]), len(own)), times[own].ravel()).reshape(
                shape
            )
            found[own] = self._level(human[sample, system], metric[sample, system])
        return found

    def _level(self, human: Floats, metric: Floats) -> Floats:
        """(samples,) statistics of (samples, systems) means; those that differ by rounding are tied."""
        samples, systems = human.shape
        if systems < 2:
            return np.full(samples, np.nan)
        gone = np.isnan(human).any(axis=1) | np.isnan(metric).any(axis=1)
        human, metric = np.nan_to_num(rounded(human)), np.nan_to_num(rounded(metric))
        if self.statistic == "pa":
            found = _ratio(*system_pairs(human, metric))
        else:
            statistic = correlation(self.statistic)
            starts = np.arange(samples) * systems
            found = within(statistic, human.ravel(), metric.reshape(1, -1), starts)[0]
        found[gone] = np.nan
        return found


def correlation(statistic: AnyStatistic) -> Statistic:
    """The statistic, which is a correlation."""
    known = correlation_named(statistic)
    assert known is not None
    return known


def _columns(drawn: Floats | None, of: slice) -> Floats | None:
    return None if drawn is None else np.ascontiguousarray(drawn[:, of])


def _mean(values: Floats, weights: Floats | None) -> Floats:
    """(G, samples) to the weighted mean over the groups that have a value."""
    there = ~np.isnan(values)
    mass = there.astype(np.float64) if weights is None else there * weights
    return _ratio((mass * np.nan_to_num(values)).sum(axis=0), mass.sum(axis=0))


def _ratio(above: Floats, below: Floats) -> Floats:
    good = below > 0.5
    return np.where(good, above, np.nan) / np.where(good, below, 1.0)
