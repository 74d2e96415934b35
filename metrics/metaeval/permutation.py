"""Is metric A better than metric B? Permutation tests (Deutsch, Dror and Roth 2021; Noreen 1989).

`compare(judged, pairs, statistic, grouping, method="perm_inputs", draws=9999, seed=0, spread=in_process)
-> list[MetricDifference]`, one for each pair, in their order. In pieces: `prepare(...)`, `counted(prepared,
block)` for each block of `prepared.blocks`, `concluded(prepared, counts)`.

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.metaeval import data
from metrics.metaeval.correlation import Statistic, pair_counts, ranks, within
from metrics.metaeval.executor import BLOCK, PartRunner, blocks, count_draws, in_process, swaps
from metrics.metaeval.pairwise import shares, system_pairs
from metrics.metaeval.plan import (
    AnyStatistic,
    Cohort,
    Method,
    MetricDifference,
    Pair,
    PairCohorts,
    check,
    cohorts_of,
    correlation_named,
)
from metrics.metaeval.weighted_correlations import sign_sums

# What happens to a statistic when two metrics swap their scores on some units.
#
# A unit is a question, an answer or a system. Nearly every statistic here is made of sums over units
# (Pearson's r of m, m², h·m; a mean over questions of what each adds). Let T_a be the part of a sum that
# swapped units have under metric a: then the sum of the new a is S_a - T_a + T_b. So T is one matrix
# product, swaps (draws by units) times sums (units by columns), for all metrics at once, and 190 pairs of
# 20 metrics cost 20 products.
#
# Scores are standardised before they are swapped, over the answers that both have. For Spearman's rho ranks
# are taken once and swapped as they are: after a swap they are no longer exactly the ranks of the new
# scores, which makes the test one of Pearson's r of ranks. It is as valid, as under the hypothesis ranks
# are exchangeable too.

#: A variance below this share of the first one is none.
NONE = 1e-12
SCORE_CELLS = 1 << 17


class Sums(Protocol):
    """Sums over units, and what they make of a difference between the metrics of each pair."""

    @property
    def columns(self) -> data.Floats:
        """(units, columns)."""
        ...

    def deltas(self, swapped: data.Floats) -> data.Floats:
        """(draws, pairs) differences, from (draws, columns) sums over the units that are swapped."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Means: columns are what a unit adds above and below the line for each metric."""

    columns: data.Floats
    first: data.Indices
    second: data.Indices

    def deltas(self, swapped: data.Floats) -> data.Floats:
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

    columns: data.Floats
    sizes: data.Floats
    first: data.Indices
    second: data.Indices

    def deltas(self, swapped: data.Floats) -> data.Floats:
        """The difference of two mean correlations."""
        groups = len(self.sizes)
        total = self.columns.sum(axis=0).reshape(-1, groups, 3)
        part = swapped.reshape(len(swapped), -1, groups, 3)
        deltas_of_draws = np.empty((len(swapped), len(self.first)))
        for few in _few(len(self.first), len(swapped) * groups * 3):
            a, b = self.first[few], self.second[few]
            moved = part[:, b] - part[:, a]
            deltas_of_draws[:, few] = self._mean(total[a] + moved) - self._mean(total[b] - moved)
        return deltas_of_draws

    def _mean(self, sums: data.Floats) -> data.Floats:
        spread = sums[..., 1] - sums[..., 0] ** 2 / self.sizes
        good = spread > NONE * self.sizes
        r = np.where(good, sums[..., 2], 0.0) / np.sqrt(np.where(good, spread, 1.0))
        return _ratio(np.stack([r.sum(axis=-1), good.sum(axis=-1)], axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """Statistics of system means: columns are the sum of m by metric and system."""

    columns: data.Floats
    sizes: data.Floats
    human: data.Floats
    statistic: AnyStatistic
    first: data.Indices
    second: data.Indices

    def deltas(self, swapped: data.Floats) -> data.Floats:
        """The difference of the statistics of two vectors of means."""
        systems = len(self.sizes)
        total = self.columns.sum(axis=0).reshape(-1, systems)
        part = swapped.reshape(len(swapped), -1, systems)
        deltas_of_draws = np.empty((len(swapped), len(self.first)))
        for few in _few(len(self.first), len(swapped) * systems):
            a, b = self.first[few], self.second[few]
            moved = part[:, b] - part[:, a]
            deltas_of_draws[:, few] = self._of(total[a] + moved) - self._of(total[b] - moved)
        return deltas_of_draws

    def _of(self, sums: data.Floats) -> data.Floats:
        """(draws, pairs) statistics; sums that only rounding tells apart are ties."""
        means = np.round(sums / self.sizes, 12)
        flat = of_means(self.statistic, self.human, means.reshape(-1, len(self.sizes)))
        return flat.reshape(sums.shape[:-1])


def of_means(statistic: AnyStatistic, human: data.Floats, means: data.Floats) -> data.Floats:
    """A system-level statistic of (draws, systems) means; nan where there is none."""
    if statistic == "pa":
        right, pairs = system_pairs(human, means)
        return _ratio(np.stack([right, pairs], axis=-1))
    assert statistic in ("pearson", "spearman", "kendall")
    return within(statistic, human, means, np.zeros(1, np.int64))[:, 0]


def shares_of(cohort: Cohort, units: data.Indices, size: int, statistic: AnyStatistic, gap: float) -> Shares:
    """Means over questions, when whole questions are swapped; `units` are the questions' numbers."""
    assert statistic != "pa"
    columns = np.zeros((size, len(cohort.names), 2))
    for k, scores in enumerate(cohort.scores):
        above, below = shares(statistic, cohort.rows, scores, gap)
        columns[units, k, 0], columns[units, k, 1] = above, below
    return Shares(columns.reshape(size, -1), cohort.first, cohort.second)


def values_of(cohort: Cohort, values: data.Floats, units: data.Indices, size: int) -> Shares:
    """Means of (metrics, units) values that are swapped as they are; nan where a unit has none."""
    columns = np.zeros((size, len(cohort.names), 2))
    columns[units, :, 0] = np.nan_to_num(values).T
    columns[units, :, 1] = ~np.isnan(values).T
    return Shares(columns.reshape(size, -1), cohort.first, cohort.second)


def moments_of(
    cohort: Cohort, units: data.Indices, size: int, statistic: Statistic, grouping: data.Grouping
) -> Moments:
    """Pearson's r, or Spearman's rho, over all answers or by system; `units` is the unit of each answer."""
    order, starts = data.grouped(cohort.rows, grouping)
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
    varied = np.flatnonzero(~flat)
    columns = np.zeros((size, len(cohort.names), len(starts), 3))
    unit = units[order]
    for k, values in enumerate(metric):
        for moment, terms in enumerate((values, values * values, people * values)):
            np.add.at(columns[:, k, :, moment], (unit, group), terms)
    return Moments(
        columns[:, :, varied].reshape(size, -1), sizes[varied].astype(np.float64), cohort.first, cohort.second
    )


def means_of(cohort: Cohort, units: data.Indices, size: int, statistic: AnyStatistic) -> Means:
    """A statistic of system means; `units` is the unit of each answer."""
    rows = cohort.rows
    systems = len(rows.system_names)
    columns = np.zeros((size, len(cohort.names), systems))
    for k, values in enumerate(standardised(cohort.scores)):
        np.add.at(columns[:, k], (units, rows.systems), values)
    sizes = np.bincount(rows.systems, minlength=systems).astype(np.float64)
    human = data.system_means(rows, rows.human)
    return Means(columns.reshape(size, -1), sizes, human, statistic, cohort.first, cohort.second)


def standardised(scores: data.Floats) -> data.Floats:
    """(metrics, n) scores with mean 0 and standard deviation 1; 0 where they are all the same."""
    centred = scores - scores.mean(axis=-1, keepdims=True)
    spread = np.ptp(scores, axis=-1, keepdims=True)
    centred /= np.where(spread > 0, spread, 1.0)
    deviation = np.sqrt((centred * centred).mean(axis=-1, keepdims=True))
    standard_scores: data.Floats = centred / np.where(deviation > 0, deviation, 1.0)
    return standard_scores


def _few(pairs: int, cells: int) -> Iterator[slice]:
    """Some pairs at a time, so that their work stays in the cache; `cells` are those of one pair."""
    width = max(1, SCORE_CELLS // cells)
    yield from (slice(first, first + width) for first in range(0, pairs, width))


def _ratio(sums: data.Floats) -> data.Floats:
    """sums[..., 0] / sums[..., 1], nan where there is nothing below the line."""
    above, below = sums[..., 0], sums[..., 1]
    good = below > 0.5
    ratios: data.Floats = np.where(good, above, np.nan) / np.where(good, below, 1.0)
    return ratios


# Means over questions when single answers are swapped, in `perm_both` and `perm_systems`.
#
# A question with k answers has 2^k ways to swap them. For each pair of metrics the statistic of every
# question is worked out once for every way; a draw then only looks up. Where a question has more than eight
# answers, each draw is worked out again, which is slow.

Values = npt.NDArray[np.complex128]
Swapped = npt.NDArray[np.bool_]

#: Answers of a question up to which all ways to swap them are worked out before.
ANSWERS = 8
#: Values of all ways of all questions for all pairs that are kept; of more, each pair's are made when needed.
TABLES = 1 << 25
#: Cells of draws by answers that are worked on at once.
ANSWER_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class SwapStatistics:
    """What each way to swap answers makes of each question; `columns` only says how many units there are."""

    columns: data.Floats
    cohort: Cohort
    scores: data.Floats
    units: data.Indices
    starts: data.Indices
    statistic: AnyStatistic
    gap: float
    tables: tuple[Values, ...]

    def start(self) -> Swapped:
        """Room for the swaps of a block."""
        return np.zeros((BLOCK, self.columns.shape[1]), dtype=bool)

    def deltas(self, swapped: npt.NDArray[np.generic]) -> data.Floats:
        """The differences, from (draws, units) True where a unit is swapped; some draws at a time."""
        width = max(1, ANSWER_CELLS // len(self.units))
        return np.concatenate(
            [
                self._swap_block(swapped[at : at + width][:, self.units].astype(bool))
                for at in range(0, len(swapped), width)
            ]
        )

    def _swap_block(self, answers: data.Mask) -> data.Floats:
        deltas_of_draws = np.empty((len(answers), len(self.cohort.first)))
        pairs = list(zip(self.cohort.first, self.cohort.second, strict=True))
        if self.few:
            way, opposite = self._ways(answers)
            for pair, (a, b) in enumerate(pairs):
                table = self.tables[pair] if self.tables else self.table(a, b)
                deltas_of_draws[:, pair] = _mean(table.take(way)) - _mean(table.take(opposite))
            return deltas_of_draws
        for pair, (a, b) in enumerate(pairs):
            first, second = self.scores[a], self.scores[b]
            for draw, moved in enumerate(answers):
                one = self.shares(np.where(moved, second, first))
                other = self.shares(np.where(moved, first, second))
                deltas_of_draws[draw, pair] = _mean(one[0] + 1j * one[1]) - _mean(other[0] + 1j * other[1])
        return deltas_of_draws

    @property
    def few(self) -> bool:
        """Whether no question has too many answers."""
        return bool(_places(self.starts, len(self.units))[1].max() <= ANSWERS)

    def _ways(self, answers: data.Mask) -> tuple[data.Indices, data.Indices]:
        """(draws, questions) which line of a table holds each question's way, and the opposite way."""
        place, sizes = _places(self.starts, len(self.units))
        ways = 1 << int(sizes.max())
        one: data.Indices = np.add.reduceat(answers * (1 << place), self.starts, axis=1)
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

    def shares(self, scores: data.Floats) -> data.Floats:
        """(2, questions) what each question adds above and below the line."""
        return np.stack(shares(self.statistic, self.cohort.rows, scores, self.gap))


def anew_of(
    cohort: Cohort, units: data.Indices, size: int, statistic: AnyStatistic, gap: float
) -> SwapStatistics:
    """For means over questions; `units` is the unit of each answer."""
    starts = data.grouped(cohort.rows, "item")[1]
    plain = SwapStatistics(
        np.zeros((0, size)), cohort, standardised(cohort.scores), units, starts, statistic, gap, ()
    )
    most = int(_places(starts, len(units))[1].max())
    if not plain.few or len(starts) * len(cohort.first) << most > TABLES:
        return plain
    tables = tuple(plain.table(a, b) for a, b in zip(cohort.first, cohort.second, strict=True))
    return replace(plain, tables=tables)


def _places(starts: data.Indices, n: int) -> tuple[data.Indices, data.Indices]:
    """Of each answer its place among those of its question, and of each question how many there are."""
    sizes = np.diff(np.append(starts, n))
    return np.arange(n) - np.repeat(starts, sizes), sizes


def _mean(values: Values) -> data.Floats:
    """(..., questions) to the mean over questions."""
    sums = values.sum(axis=-1)
    good = sums.imag > 0.5
    means: data.Floats = np.where(good, sums.real, np.nan) / np.where(good, sums.imag, 1.0)
    return means


# Kendall's tau under swaps, for all answers or by system.
#
# Let f be the number of concordant less discordant pairs of a mixture of A and B, A where s = 1 and B where
# s = -1. The difference of the two mixtures, f(s) - f(-s), is a sum over units:
#
#     Σ_q s_q · ½ Σ_(i in q) Σ_j sgn(h_i - h_j)
#                 · [sgn(a_i - a_j) - sgn(b_i - b_j) + sgn(a_i - b_j) - sgn(b_i - a_j)],
#
# as all terms in s_q · s_r cancel. So 9,999 draws are a matrix product here too. Each of the four terms is
# divided by the tau-b denominator of its metrics (mixed ones by the geometric mean), which counts ties as
# they are before the swap: exact when metrics have no ties, close when they have few. A system for which
# one of the two has no tau is left out.


@dataclass(frozen=True, slots=True, eq=False)
class Concordance:
    """Columns are, for each pair, what a unit adds to the difference; a swapped unit takes it away."""

    columns: data.Floats

    def deltas(self, swapped: data.Floats) -> data.Floats:
        """The differences."""
        deltas_of_draws: data.Floats = self.columns.sum(axis=0) - 2 * swapped
        return deltas_of_draws


def concordance_of(cohort: Cohort, units: data.Indices, size: int, grouping: data.Grouping) -> Concordance:
    """Kendall's tau-b; `units` is the unit of each answer."""
    order, starts = data.grouped(cohort.rows, grouping)
    human, scores = cohort.rows.human[order], standardised(cohort.scores)[:, order]
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    counts = pair_counts(human, scores, starts)
    untied = counts.concordant + counts.discordant
    root = np.sqrt(np.sqrt((untied + counts.tied_metric) * (untied + counts.tied_human).astype(np.float64)))
    # A pair is seen from both of its answers, and a swap turns the difference: ½ · ½ of both signs.
    scale = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    alone = [_group_sign_sums(human, own, own, starts) * scale[k][group] ** 2 for k, own in enumerate(scores)]
    columns = np.zeros((size, len(cohort.first)))
    for pair, (a, b) in enumerate(zip(cohort.first, cohort.second, strict=True)):
        mixed = _group_sign_sums(human, scores[a], scores[b], starts) - _group_sign_sums(
            human, scores[b], scores[a], starts
        )
        mixed *= (scale[a] * scale[b])[group]
        both = (scale[a] > 0) & (scale[b] > 0)
        weights = np.where(both[group], alone[a] - alone[b] + mixed, 0.0) / (2 * both.sum())
        columns[:, pair] = np.bincount(units[order], weights=weights, minlength=size)
    return Concordance(columns)


def _group_sign_sums(
    human: data.Floats, own: data.Floats, others: data.Floats, starts: data.Indices
) -> data.Floats:
    """Sums of signs within groups."""
    groups = zip(
        np.split(human, starts[1:]), np.split(own, starts[1:]), np.split(others, starts[1:]), strict=True
    )
    return np.concatenate([sign_sums(*group) for group in groups])


PERMUTATIONS = ("perm_inputs", "perm_both", "perm_systems")
CLOSE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class ExtremeCounts:
    """Of one block: draws as extreme as observed, for each pair, and the sum of their squares."""

    extreme: data.Indices
    squares: data.Floats


@dataclass(frozen=True, slots=True, eq=False)
class PermutationInput:
    """All that a block needs; it can be sent to another process."""

    pairs: tuple[Pair, ...]
    statistic: AnyStatistic
    grouping: data.Grouping
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
    answers: data.ScoredAnswers,
    pairs: Sequence[Pair],
    statistic: AnyStatistic = "pearson",
    grouping: data.Grouping = "global",
    method: Method = "perm_inputs",
    *,
    draws: int = 9999,
    seed: int = 0,
    gap: float = 2.0,
    spread: PartRunner = in_process,
) -> list[MetricDifference]:
    """The test of each pair of metrics. MetricError for a statistic, grouping or method that there is not."""
    prepared = prepare(answers, pairs, statistic, grouping, method, draws=draws, seed=seed, gap=gap)
    return concluded(prepared, spread(partial(counted, prepared), list(prepared.blocks)))


def prepare(
    answers: data.ScoredAnswers,
    pairs: Sequence[Pair],
    statistic: AnyStatistic,
    grouping: data.Grouping,
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
    rows = data.rows_of(answers, sorted({name for pair in pairs for name in pair}))
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


def _units(cohort: Cohort, rows: data.Rows, method: Method) -> data.Indices:
    """The number of each answer's unit."""
    if method == "perm_inputs":
        return rows.questions[cohort.places]
    return rows.systems[cohort.places] if method == "perm_systems" else cohort.places


def _sums(
    cohort: Cohort,
    units: data.Indices,
    size: int,
    *,
    statistic: AnyStatistic,
    grouping: data.Grouping,
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
        order, starts = data.grouped(cohort.rows, "by_system")
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
    count = count_draws(prepared.draws, block)
    for total, sums, cohort in zip(totals, prepared.sums, prepared.sorted.cohorts, strict=True):
        observed = sums.deltas(np.zeros((1, total.shape[1])))
        deltas_of_draws = _deltas(sums, total[:count])
        far = ~(np.abs(deltas_of_draws) < np.abs(observed) - CLOSE)
        extreme[cohort.pairs] = far.sum(axis=0)
        squares[cohort.pairs] = np.nansum(deltas_of_draws * deltas_of_draws, axis=0)
    return ExtremeCounts(extreme, squares)


def _deltas(sums: Sums | SwapStatistics, total: npt.NDArray[np.float64 | np.bool_]) -> data.Floats:
    if isinstance(sums, SwapStatistics):
        return sums.deltas(total)
    return sums.deltas(np.asarray(total, dtype=np.float64))


def concluded(prepared: PermutationInput, counts: Sequence[ExtremeCounts]) -> list[MetricDifference]:
    """The tests, from the counts of all blocks in their order."""
    extreme = sum((count.extreme for count in counts), np.zeros(len(prepared.pairs), np.int64))
    squares = sum((count.squares for count in counts), np.zeros(len(prepared.pairs)))
    differences = []
    for place, (a, b) in enumerate(prepared.pairs):
        identity = (a, b, prepared.statistic, prepared.grouping, prepared.method)
        delta, n = prepared.sorted.delta(place), prepared.sorted.sizes[place]
        if delta is None:
            reason = prepared.sorted.why(place, (a, b))
            differences.append(MetricDifference(*identity, None, None, n, reason=reason))
            continue
        p = (1 + int(extreme[place])) / (1 + prepared.draws)
        error = float(np.round(np.sqrt(squares[place] / prepared.draws), 10))
        differences.append(MetricDifference(*identity, delta, p, n, error))
    return differences
