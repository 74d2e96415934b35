"""Means over questions when single answers are swapped, in `perm_both` and `perm_systems`.

A question with k answers has 2^k ways to swap them. For each pair of metrics the statistic of every question
is worked out once for every way; a draw then only looks up. Where a question has more than eight answers,
each draw is worked out again, which is slow.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from metrics.meta.cohorts import Cohort
from metrics.meta.draws import BLOCK
from metrics.meta.itemwise import shares
from metrics.meta.kernels import within
from metrics.meta.rows import Indices, Mask, grouped
from metrics.meta.score_swaps import standardised
from metrics.meta.scored_answers import Floats
from metrics.meta.statistics import AnyStatistic, correlation_named

Values = npt.NDArray[np.complex128]
Swapped = npt.NDArray[np.bool_]

#: Answers of a question up to which all ways to swap them are worked out before.
ANSWERS = 8
#: Values of all ways of all questions for all pairs that are kept; of more, each pair's are made when needed.
TABLES = 1 << 25
#: Cells of draws by answers that are worked on at once.
CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class SwapStatistics:
    """What each way to swap answers makes of each question; `columns` only says how many units there are."""

    columns: Floats
    cohort: Cohort
    scores: Floats
    units: Indices
    starts: Indices
    statistic: AnyStatistic
    gap: float
    tables: tuple[Values, ...]

    def start(self) -> Swapped:
        """Room for the swaps of a block."""
        return np.zeros((BLOCK, self.columns.shape[1]), dtype=bool)

    def deltas(self, swapped: npt.NDArray[np.generic]) -> Floats:
        """The differences, from (draws, units) True where a unit is swapped; some draws at a time."""
        width = max(1, CELLS // len(self.units))
        return np.concatenate(
            [
                self._some(swapped[at : at + width][:, self.units].astype(bool))
                for at in range(0, len(swapped), width)
            ]
        )

    def _some(self, answers: Mask) -> Floats:
        found = np.empty((len(answers), len(self.cohort.first)))
        pairs = list(zip(self.cohort.first, self.cohort.second, strict=True))
        if self.few:
            way, opposite = self._ways(answers)
            for pair, (a, b) in enumerate(pairs):
                table = self.tables[pair] if self.tables else self.table(a, b)
                found[:, pair] = _mean(table.take(way)) - _mean(table.take(opposite))
            return found
        for pair, (a, b) in enumerate(pairs):
            first, second = self.scores[a], self.scores[b]
            for draw, moved in enumerate(answers):
                one = self.shares(np.where(moved, second, first))
                other = self.shares(np.where(moved, first, second))
                found[draw, pair] = _mean(one[0] + 1j * one[1]) - _mean(other[0] + 1j * other[1])
        return found

    @property
    def few(self) -> bool:
        """Whether no question has too many answers."""
        return bool(_places(self.starts, len(self.units))[1].max() <= ANSWERS)

    def _ways(self, answers: Mask) -> tuple[Indices, Indices]:
        """(draws, questions) which line of a table holds each question's way, and the opposite way."""
        place, sizes = _places(self.starts, len(self.units))
        ways = 1 << int(sizes.max())
        one: Indices = np.add.reduceat(answers * (1 << place), self.starts, axis=1)
        first = np.arange(len(self.starts)) * ways
        return first + one, first + ((1 << sizes) - 1 - one)

    def table(self, a: int, b: int) -> Values:
        """(questions by ways) what each adds above the line and, as the imaginary part, below it."""
        place, sizes = _places(self.starts, len(self.units))
        ways = np.arange(1 << int(sizes.max()))[:, None]
        moved = (ways >> place) & 1 == 1
        scores = np.where(moved, self.scores[b], self.scores[a])
        statistic = correlation_named(self.statistic)
        if statistic is not None:
            values = within(statistic, self.cohort.rows.human, scores, self.starts)
            above, below = np.nan_to_num(values), ~np.isnan(values)
        else:
            above, below = np.stack([self.shares(row) for row in scores], axis=1)
        return np.asarray(above + 1j * below).T.ravel()

    def shares(self, scores: Floats) -> Floats:
        """(2, questions) what each question adds above and below the line."""
        return np.stack(shares(self.statistic, self.cohort.rows, scores, self.gap))


def anew_of(cohort: Cohort, units: Indices, size: int, statistic: AnyStatistic, gap: float) -> SwapStatistics:
    """For means over questions; `units` is the unit of each answer."""
    starts = grouped(cohort.rows, "item")[1]
    plain = SwapStatistics(
        np.zeros((0, size)), cohort, standardised(cohort.scores), units, starts, statistic, gap, ()
    )
    most = int(_places(starts, len(units))[1].max())
    if not plain.few or len(starts) * len(cohort.first) << most > TABLES:
        return plain
    tables = tuple(plain.table(a, b) for a, b in zip(cohort.first, cohort.second, strict=True))
    return replace(plain, tables=tables)


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
