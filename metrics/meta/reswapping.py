"""Means over questions when single answers are swapped, in `perm_both` and `perm_systems`.

A question with k answers has 2^k ways to swap them. For each pair of metrics the statistic of every question
is worked out once for every way; a draw then only looks up. Where a question has more than eight answers,
each draw is worked out anew, which is slow.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.meta.cohorts import Cohort
from metrics.meta.itemwise import shares
from metrics.meta.judged import Floats
from metrics.meta.kernels import STATISTICS, within
from metrics.meta.rows import Indices, Mask, grouped
from metrics.meta.statistics import AnyStatistic
from metrics.meta.swapping import standardised

Values = npt.NDArray[np.complex128]

#: Answers of a question up to which all ways to swap them are worked out before.
ANSWERS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Anew:
    """What each way to swap answers makes of each question; `columns` only says how many units there are."""

    columns: Floats
    cohort: Cohort
    scores: Floats
    units: Indices
    starts: Indices
    statistic: AnyStatistic
    gap: float
    tables: tuple[Values, ...]

    def taken(self, part: slice, swapped: Floats) -> Floats:
        """The swaps of some units in their place among all."""
        found = np.zeros((len(swapped), self.columns.shape[1]))
        found[:, part] = swapped
        return found

    def deltas(self, swapped: Floats) -> Floats:
        """The differences, from (draws, units) 1 where a unit is swapped."""
        answers = swapped[:, self.units] > 0
        found = np.empty((len(swapped), len(self.cohort.first)))
        pairs = zip(self.cohort.first, self.cohort.second, strict=True)
        if self.tables:
            way, opposite = self._ways(answers)
            for pair, table in enumerate(self.tables):
                found[:, pair] = _mean(table.take(way)) - _mean(table.take(opposite))
            return found
        for pair, (a, b) in enumerate(pairs):
            first, second = self.scores[a], self.scores[b]
            for draw, moved in enumerate(answers):
                one = self.shares(np.where(moved, second, first))
                other = self.shares(np.where(moved, first, second))
                found[draw, pair] = _mean(one[0] + 1j * one[1]) - _mean(other[0] + 1j * other[1])
        return found

    def _ways(self, answers: Mask) -> tuple[Indices, Indices]:
        """(draws, questions) which line of a table holds each question's way, and the opposite way."""
        place, sizes = _places(self.starts, len(self.units))
        ways = 1 << int(sizes.max())
        one: Indices = np.add.reduceat(answers * (1 << place), self.starts, axis=1)
        first = np.arange(len(self.starts)) * ways
        return first + one, first + ((1 << sizes) - 1 - one)

    def shares(self, scores: Floats) -> Floats:
        """(2, questions) what each question adds above and below the line."""
        return np.stack(shares(self.statistic, self.cohort.rows, scores, self.gap))


def anew_of(cohort: Cohort, units: Indices, size: int, statistic: AnyStatistic, gap: float) -> Anew:
    """For means over questions; `units` is the unit of each answer."""
    starts = grouped(cohort.rows, "item")[1]
    scores = standardised(cohort.scores)
    plain = Anew(np.zeros((0, size)), cohort, scores, units, starts, statistic, gap, ())
    _, sizes = _places(starts, len(units))
    if sizes.max() > ANSWERS:
        return plain
    tables = tuple(_table(plain, a, b) for a, b in zip(cohort.first, cohort.second, strict=True))
    return Anew(plain.columns, cohort, scores, units, starts, statistic, gap, tables)


def _table(anew: Anew, a: int, b: int) -> Values:
    """(questions by ways) what each question adds, above the line and, as the imaginary part, below it."""
    place, sizes = _places(anew.starts, len(anew.units))
    ways = np.arange(1 << int(sizes.max()))[:, None]
    moved = (ways >> place) & 1 == 1
    scores = np.where(moved, anew.scores[b], anew.scores[a])
    if anew.statistic in STATISTICS:
        values = within(anew.statistic, anew.cohort.rows.human, scores, anew.starts)
        above, below = np.nan_to_num(values), ~np.isnan(values)
    else:
        above, below = np.stack([anew.shares(row) for row in scores], axis=1)
    return np.asarray(above + 1j * below).T.ravel()


def _places(starts: Indices, n: int) -> tuple[Indices, Indices]:
    """Of each answer its place among those of its question, and of each question how many there are."""
    sizes = np.diff(np.append(starts, n))
    return np.arange(n) - np.repeat(starts, sizes), sizes


def _mean(values: Values) -> Floats:
    """(..., questions) to the mean over questions."""
    sums = values.sum(axis=-1)
    good = sums.imag > 0.5
    found: Floats = np.where(good, sums.real, np.nan) / np.where(good, sums.imag, 1.0)
    return found
