"""Is metric A better than metric B? Permutation tests (Deutsch, Dror and Roth 2021; Noreen 1989).

`compare(judged, pairs, statistic, grouping, method="perm_inputs", draws=9999, seed=0, spread=in_process)
-> list[Compared]`, one for each pair, in their order. In pieces: `prepare(...) -> Prepared`,
`counted(prepared, block) -> Counted` for each block of `prepared.blocks`, `concluded(prepared, counts)`.

If A and B agree with people equally well, it makes no difference to swap their scores on some units, as both
are standardised first. Each unit is swapped with probability 1/2:

- `perm_inputs` swaps whole questions, with the answers of all systems: would it be so on other questions?
  The default, as question answering has few systems.
- `perm_systems` swaps whole systems. With S systems there are only 2^S different draws.
- `perm_both` swaps each answer by itself (what mt-metrics-eval does): other questions and other systems.

p = (1 + #) / (1 + draws), # counting draws whose difference is at least as far from 0 as the one observed
(Davison and Hinkley 1997, 4.2.1): two-sided, never 0. Draws are made in blocks; counts are whole numbers, and
a draw within 1e-10 of what was observed counts, so that neither order nor partition nor the last bit of a
product can change p. A draw for which the statistic is not defined counts against the difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.meta.answer_swaps import SwapStatistics, anew_of
from metrics.meta.cohorts import Cohort, Pair, PairCohorts, cohorts_of
from metrics.meta.concordance import concordance_of
from metrics.meta.draws import BLOCK, blocks, kept, swaps
from metrics.meta.kernels import within
from metrics.meta.metric_difference import Method, MetricDifference
from metrics.meta.part_runner import PartRunner, in_process
from metrics.meta.rows import Grouping, Indices, Rows, grouped, rows_of
from metrics.meta.score_swaps import Sums, means_of, moments_of, shares_of, standardised, values_of
from metrics.meta.scored_answers import Floats, ScoredAnswers
from metrics.meta.statistics import AnyStatistic, check

PERMUTATIONS = ("perm_inputs", "perm_both", "perm_systems")
CLOSE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class ExtremeCounts:
    """Of one block: draws as extreme as observed, for each pair, and the sum of their squares."""

    extreme: Indices
    squares: Floats


@dataclass(frozen=True, slots=True, eq=False)
class PermutationInput:
    """All that a block needs; it can be sent to another process."""

    pairs: tuple[Pair, ...]
    statistic: AnyStatistic
    grouping: Grouping
    method: Method
    draws: int
    seed: int
    units: int
    sorted: PairCohorts
    sums: tuple[Sums | SwapStatistics, ...]

    @property
    def blocks(self) -> range:
        """The numbers of the blocks of draws."""
        return blocks(self.draws) if self.sums else range(0)

    @property
    def purpose(self) -> str:
        """What the draws are for: all statistics share those of a method."""
        return f"permutation {self.method}"


def compare(
    judged: ScoredAnswers,
    pairs: Sequence[Pair],
    statistic: AnyStatistic = "pearson",
    grouping: Grouping = "global",
    method: Method = "perm_inputs",
    *,
    draws: int = 9999,
    seed: int = 0,
    gap: float = 2.0,
    spread: PartRunner = in_process,
) -> list[MetricDifference]:
    """The test of each pair of metrics. MetricError for a statistic, grouping or method that there is not."""
    prepared = prepare(judged, pairs, statistic, grouping, method, draws=draws, seed=seed, gap=gap)
    return concluded(prepared, spread(partial(counted, prepared), list(prepared.blocks)))


def prepare(
    judged: ScoredAnswers,
    pairs: Sequence[Pair],
    statistic: AnyStatistic,
    grouping: Grouping,
    method: Method,
    *,
    draws: int = 9999,
    seed: int = 0,
    gap: float = 2.0,
) -> PermutationInput:
    """Everything that does not depend on chance."""
    check(statistic, grouping)
    if method not in PERMUTATIONS:
        raise MetricError(f"There is no permutation “{method}”; known are: {', '.join(PERMUTATIONS)}.")
    rows = rows_of(judged, sorted({name for pair in pairs for name in pair}))
    dealt = cohorts_of(rows, pairs, statistic, grouping, gap)
    units = {
        "perm_inputs": len(rows.question_names),
        "perm_systems": len(rows.system_names),
        "perm_both": len(rows),
    }[method]
    sums = tuple(
        _sums(
            cohort,
            _units(cohort, rows, method),
            units,
            statistic=statistic,
            grouping=grouping,
            method=method,
            gap=gap,
        )
        for cohort in dealt.cohorts
    )
    return PermutationInput(tuple(pairs), statistic, grouping, method, draws, seed, units, dealt, sums)


def _units(cohort: Cohort, rows: Rows, method: Method) -> Indices:
    """The number of each answer's unit."""
    if method == "perm_inputs":
        return rows.questions[cohort.places]
    return rows.systems[cohort.places] if method == "perm_systems" else cohort.places


def _sums(
    cohort: Cohort,
    units: Indices,
    size: int,
    *,
    statistic: AnyStatistic,
    grouping: Grouping,
    method: Method,
    gap: float,
) -> Sums | SwapStatistics:
    """How a cohort's differences follow from swaps of `size` units."""
    if grouping == "system":
        return means_of(cohort, units, size, statistic)
    if grouping == "item":
        if method == "perm_inputs":
            return shares_of(cohort, np.unique(units), size, statistic, gap)
        return anew_of(cohort, units, size, statistic, gap)
    assert statistic in ("pearson", "spearman", "kendall")
    if grouping == "by_system" and method == "perm_systems":
        order, starts = grouped(cohort.rows, "by_system")
        scores = standardised(cohort.scores)[:, order]
        values = within(statistic, cohort.rows.human[order], scores, starts)
        return values_of(cohort, values, np.unique(units), size)
    if statistic == "kendall":
        return concordance_of(cohort, units, size, grouping)
    return moments_of(cohort, units, size, statistic, grouping)


def counted(prepared: PermutationInput, block: int) -> ExtremeCounts:
    """The extreme draws of one block."""
    extreme = np.zeros(len(prepared.pairs), np.int64)
    squares = np.zeros(len(prepared.pairs))
    totals = [
        sums.start() if isinstance(sums, SwapStatistics) else np.zeros((BLOCK, sums.columns.shape[1]))
        for sums in prepared.sums
    ]
    for part, swapped in swaps(prepared.seed, prepared.purpose, block, prepared.units):
        for total, sums in zip(totals, prepared.sums, strict=True):
            if isinstance(sums, SwapStatistics):
                total[:, part] = swapped > 0
            else:
                np.add(total, swapped @ sums.columns[part], out=total)
    count = kept(prepared.draws, block)
    for total, sums, cohort in zip(totals, prepared.sums, prepared.sorted.cohorts, strict=True):
        observed = sums.deltas(np.zeros((1, total.shape[1])))
        drawn = _deltas(sums, total[:count])
        far = ~(np.abs(drawn) < np.abs(observed) - CLOSE)
        extreme[cohort.pairs] = far.sum(axis=0)
        squares[cohort.pairs] = np.nansum(drawn * drawn, axis=0)
    return ExtremeCounts(extreme, squares)


def _deltas(sums: Sums | SwapStatistics, total: npt.NDArray[np.float64 | np.bool_]) -> Floats:
    if isinstance(sums, SwapStatistics):
        return sums.deltas(total)
    return sums.deltas(np.asarray(total, dtype=np.float64))


def concluded(prepared: PermutationInput, counts: Sequence[ExtremeCounts]) -> list[MetricDifference]:
    """The tests, from the counts of all blocks in their order."""
    extreme = sum((count.extreme for count in counts), np.zeros(len(prepared.pairs), np.int64))
    squares = sum((count.squares for count in counts), np.zeros(len(prepared.pairs)))
    found = []
    for place, (a, b) in enumerate(prepared.pairs):
        told = (a, b, prepared.statistic, prepared.grouping, prepared.method)
        delta, n = prepared.sorted.delta(place), prepared.sorted.sizes[place]
        if delta is None:
            reason = prepared.sorted.why(place, (a, b))
            found.append(MetricDifference(*told, None, None, n, reason=reason))
            continue
        p = (1 + int(extreme[place])) / (1 + prepared.draws)
        error = float(np.round(np.sqrt(squares[place] / prepared.draws), 10))
        found.append(MetricDifference(*told, delta, p, n, error))
    return found
