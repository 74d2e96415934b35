"""Correlations of a metric with people, in four groupings.

`correlate(judged, metric, statistic, grouping) -> Figure`, and for many at once
`correlations(judged, metrics, statistics, groupings) -> {(metric, statistic, grouping): Figure}`.

Statistics: Pearson's r, Spearman's rho (ties with their mean rank), Kendall's tau-b. Groupings, as
mt-metrics-eval has them (`none`, `item`, `sys` and system-level scores there; `n` of the figure in brackets):

- `global`: over all answers (answers);
- `item`: within each question over its answers, then the mean over questions (questions). A question in which
  people or the metric give all answers the same score has no correlation and is left out;
- `by_system`: within each system over its answers, then the mean over systems (systems);
- `system`: over the systems' mean scores (systems), human and metric means over the answers that have both.

Answers without a human score or without a score of the metric are left out. What is not defined is None with
a reason in words; nan never leaves this module and numpy is never made to warn.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.figure import Figure
from metrics.metaeval.data import (
    GROUPINGS,
    LARGEST,
    Floats,
    Grouping,
    Indices,
    Rows,
    ScoredAnswers,
    dense,
    grouped,
    rows_of,
    system_means,
)

# Correlations within groups of answers, for many columns of scores at once.
#
# Everywhere: `human` are n human scores, `scores` are (d, n) scores of d metrics (or of d draws), `starts`
# say where each of G groups begins in them. Nothing is missing. Answers are (d, G), nan where a group has
# none.
#
# Pairs are counted in O(n log n) time and O(n) memory: a pair is discordant when sorting by the human score
# leaves it in the wrong order of the metric, and such inversions are counted bit by bit of the ranks (the
# way of a wavelet tree), with no loop over answers.

Statistic = Literal["pearson", "spearman", "kendall"]
STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")
#: Cells of d x n that are worked on at once.
CELLS = 1 << 21
#: Groups of so few answers are counted pair by pair.
SMALL_GROUP = 8


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Pairs of answers within each group: (d, G) numbers by how people and the metric order them."""

    concordant: Indices
    discordant: Indices
    tied_human: Indices
    tied_metric: Indices
    tied_both: Indices

    @property
    def total(self) -> Indices:
        """All pairs of a group."""
        return self.concordant + self.discordant + self.tied_human + self.tied_metric + self.tied_both


def within(statistic: Statistic, human: Floats, scores: Floats, starts: Indices) -> Floats:
    """The statistic of each group for each row of scores; nan where people or metric give one score only."""
    return _by_rows(_kernel(statistic), human, scores, starts)


def _kernel(statistic: Statistic) -> Callable[[Floats, Floats, Indices], Floats]:
    kernels = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
    if statistic not in kernels:
        raise MetricError(f"There is no correlation “{statistic}”; known are: {', '.join(STATISTICS)}.")
    return kernels[statistic]


def _by_rows(
    kernel: Callable[[Floats, Floats, Indices], Floats], human: Floats, scores: Floats, starts: Indices
) -> Floats:
    """A kernel over some rows of scores at a time, so that what it needs stays small."""
    width = max(1, CELLS // max(1, len(human)))
    parts = [kernel(human, scores[first : first + width], starts) for first in range(0, len(scores), width)]
    return np.concatenate([np.zeros((0, len(starts))), *parts])


def pearson(human: Floats, scores: Floats, starts: Indices) -> Floats:
    """Pearson's r of each group. Scores are scaled and centred first, so that no digits are lost."""
    if not len(starts):
        return np.zeros((len(scores), 0))
    sizes = np.diff(np.append(starts, len(human)))
    people = _centred(human, starts, sizes)
    metric = _centred(scores, starts, sizes)
    together = _sums(metric * people, starts)
    spread = _sums(people * people, starts) * _sums(metric * metric, starts)
    good = _varied(human, starts) & _varied(scores, starts) & (spread > 0)
    coefficients = np.full(spread.shape, np.nan)
    np.divide(together, np.sqrt(spread), out=coefficients, where=good)
    return np.asarray(np.clip(coefficients, -1.0, 1.0))


def spearman(human: Floats, scores: Floats, starts: Indices) -> Floats:
    """Spearman's rho of each group: Pearson's r of the ranks, ties with their mean rank."""
    return pearson(ranks(human[None], starts)[0], ranks(scores, starts), starts)


def kendall(human: Floats, scores: Floats, starts: Indices) -> Floats:
    """Kendall's tau-b of each group: (C - D) / sqrt((pairs - human ties)(pairs - metric ties))."""
    counts = pair_counts(human, scores, starts)
    untied = counts.concordant + counts.discordant
    people = (untied + counts.tied_metric).astype(np.float64)
    metric = (untied + counts.tied_human).astype(np.float64)
    coefficients = np.full(people.shape, np.nan)
    np.divide(
        (counts.concordant - counts.discordant).astype(np.float64),
        np.sqrt(people) * np.sqrt(metric),
        out=coefficients,
        where=(people > 0) & (metric > 0),
    )
    return np.asarray(np.clip(coefficients, -1.0, 1.0))


def ranks(scores: Floats, starts: Indices) -> Floats:
    """Ranks from 1 within each group, ties with their mean rank: (d, n)."""
    d, n = scores.shape
    if not n:
        return np.zeros((d, 0))
    groups = np.tile(_groups(starts, n), d) + np.repeat(np.arange(d) * len(starts), n)
    flat = scores.ravel()
    order = np.lexsort((flat, groups))
    runs = _runs(groups[order], flat[order])
    sizes = np.diff(np.append(runs, d * n))
    begin = np.concatenate([starts + row * n for row in range(d)])[groups[order[runs]]]
    mean = runs - begin + (sizes + 1) / 2
    mean_ranks = np.empty(d * n)
    mean_ranks[order] = np.repeat(mean, sizes)
    return mean_ranks.reshape(d, n)


def pair_counts(human: Floats, scores: Floats, starts: Indices) -> PairCounts:
    """How many pairs of each group are concordant, discordant and tied, for each row of scores."""
    d, n = scores.shape
    many = len(starts)
    if not n or not many:
        nothing = np.zeros((d, many), np.int64)
        return PairCounts(nothing, nothing, nothing, nothing, nothing)
    sizes = np.diff(np.append(starts, n))
    if sizes.max() <= SMALL_GROUP:
        return _pair_by_pair(human, scores, starts, sizes)
    groups = np.tile(_groups(starts, n), d) + np.repeat(np.arange(d) * many, n)
    begins = np.concatenate([starts + row * n for row in range(d)])
    people, different = dense(human)
    metric, scored = dense(scores.ravel())
    people = groups * different + np.tile(people, d)
    metric = groups * scored + metric
    by_metric = _sorted(metric, people, d * many * scored * different, different)
    # Sorted by people and then by the metric; what is the same in both stays in the same order.
    order = by_metric[np.argsort(people[by_metric], kind="stable")]
    tied_metric = _tied(by_metric, begins, metric)
    tied_human = _tied(order, begins, people)
    both = _tied(order, begins, people, metric)
    place = np.empty(d * n, np.int64)
    place[by_metric] = np.arange(d * n)
    discordant = inversions(place[order] - begins[groups], begins)
    sizes = np.diff(np.append(begins, d * n))
    pairs = sizes * (sizes - 1) // 2
    concordant = pairs - discordant - tied_human - tied_metric + both
    shape = (d, many)
    return PairCounts(
        concordant.reshape(shape),
        discordant.reshape(shape),
        (tied_human - both).reshape(shape),
        (tied_metric - both).reshape(shape),
        both.reshape(shape),
    )


def _pair_by_pair(human: Floats, scores: Floats, starts: Indices, sizes: Indices) -> PairCounts:
    """The same for small groups: all first and second answers of pairs, place by place in their group."""
    shape = (len(scores), len(starts))
    concordant, discordant = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    tied_human, tied_metric, both = (np.zeros(shape, np.int64) for _ in range(3))
    for second in range(1, int(sizes.max())):
        for first in range(second):
            at = np.flatnonzero(sizes > second)
            i, j = starts[at] + first, starts[at] + second
            people = np.sign(human[i] - human[j]).astype(np.int8)
            metric = (scores[:, i] > scores[:, j]).view(np.int8) - (scores[:, i] < scores[:, j]).view(np.int8)
            product = metric * people
            flat, level = people == 0, metric == 0
            concordant[:, at] += product > 0
            discordant[:, at] += product < 0
            tied_human[:, at] += flat & ~level
            tied_metric[:, at] += ~flat & level
            both[:, at] += flat & level
    return PairCounts(concordant, discordant, tied_human, tied_metric, both)


def inversions(places: Indices, begins: Indices) -> Indices:
    """In each group, how many pairs stand in the wrong order; `places` are a permutation from 0 in each
    group.

    From the highest bit down, elements lie together whose higher bits are the same, in their first order. Of
    those, every 1 before a 0 is an inversion. Then the zeros move before the ones.
    """
    n = len(places)
    counts = np.zeros(len(begins), np.int64)
    sizes = np.diff(np.append(begins, n))
    base = np.repeat(begins, sizes)
    position = np.arange(n)
    for bit in range(int(sizes.max()).bit_length() - 1, -1, -1):
        node = base + ((places >> (bit + 1)) << (bit + 1))
        one = (places >> bit) & 1
        before = np.cumsum(one) - one
        before -= before[node]
        counts += np.add.reduceat(np.where(one == 0, before, 0), begins)
        target = np.where(one == 1, node + (1 << bit) + before, position - before)
        moved = np.empty_like(places)
        moved[target] = places
        places = moved
    return counts


def _sorted(first: Indices, second: Indices, largest: int, different: int) -> Indices:
    """The order by two codes; as one number if it fits. `second` counts `different` codes in each group."""
    if largest < LARGEST:
        return np.argsort(first * different + second % different)
    return np.lexsort((second, first))


def _tied(order: Indices, begins: Indices, *codes: Indices) -> Indices:
    """Pairs of each group that are the same in all codes, by which `order` sorts."""
    runs = _runs(*(code[order] for code in codes))
    sizes = np.diff(np.append(runs, len(order)))
    first = np.searchsorted(runs, begins)
    tied_pairs: Indices = np.add.reduceat(sizes * (sizes - 1) // 2, first)
    return tied_pairs


def _runs(*columns: npt.NDArray[np.generic]) -> Indices:
    """Where runs begin that are the same in all columns."""
    new = np.zeros(len(columns[0]), dtype=bool)
    new[0] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def _groups(starts: Indices, n: int) -> Indices:
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n)))


def _centred(values: Floats, starts: Indices, sizes: Indices) -> Floats:
    """Values less their mean in each group, in parts of the largest of them."""
    largest = np.abs(values).max(axis=-1, keepdims=True)
    centred: Floats = values / np.where(largest > 0, largest, 1.0)
    for _ in range(2):  # the mean of what is nearly the same is itself rounded
        centred = centred - np.repeat(_sums(centred, starts) / sizes, sizes, axis=-1)
    return centred


def _sums(values: Floats, starts: Indices) -> Floats:
    """Sums of groups; a single group is summed pairwise, which keeps more digits."""
    if len(starts) == 1:
        return np.asarray(values.sum(axis=-1, keepdims=True))
    sums: Floats = np.add.reduceat(values, starts, axis=-1)
    return sums


def _varied(values: Floats, starts: Indices) -> npt.NDArray[np.bool_]:
    """Whether a group has two different values."""
    if len(starts) == 1:
        return np.asarray(values.max(axis=-1, keepdims=True) > values.min(axis=-1, keepdims=True))
    varied: npt.NDArray[np.bool_] = np.maximum.reduceat(values, starts, axis=-1) > np.minimum.reduceat(
        values, starts, axis=-1
    )
    return varied


# Two columns of numbers: how they go together, and the p-value that the papers print beside it.
#
# The papers' own tables are of this plain kind: no grouping, and a t-test that takes answers for
# independent.

LEAST = 3
FEW = f"fewer than {LEAST} answers have both scores"
SAME = "all scores on one side are the same"
_ONE_GROUP = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class CorrelationTest:
    """A correlation of n pairs with its two-sided p-value by the t-test; None and a reason without one."""

    figure: Figure
    p: float | None

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: the figure without an interval, and p."""
        fields = self.figure.as_json()
        del fields["ci"]
        return {**fields, "p": self.p}


def both(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The pairs in which neither is missing."""
    complete = ~(np.isnan(x) | np.isnan(y))
    return x[complete], y[complete]


def related(x: Floats, y: Floats, statistic: Statistic, *, few: str = FEW) -> CorrelationTest:
    """A correlation of the pairs in which neither is missing; needs three, and two values on each side.

    p is by the t-test with n - 2 degrees of freedom; Kendall's tau has none here.
    """
    x, y = both(x, y)
    if len(x) < LEAST:
        return CorrelationTest(Figure(None, few, n=len(x)), None)
    value = column_correlation(x, y, statistic)
    if math.isnan(value):
        return CorrelationTest(Figure(None, SAME, n=len(x)), None)
    p = None if statistic == "kendall" else p_of_correlation(value, len(x))
    return CorrelationTest(Figure(value, n=len(x)), p)


def column_correlation(x: Floats, y: Floats, statistic: Statistic = "pearson") -> float:
    """A correlation of two columns without gaps; nan where one of them has a single value."""
    if len(x) < 2:
        return math.nan
    return float(within(statistic, x, y[None], _ONE_GROUP)[0, 0])


def p_of_correlation(r: float, n: int) -> float:
    """P that a correlation of n independent pairs is at least as far from 0 (t-test, n - 2 degrees)."""
    if abs(r) >= 1:
        return 0.0
    return p_of_t(r * math.sqrt((n - 2) / ((1 - r) * (1 + r))), n - 2)


def p_of_t(t: float, degrees: float) -> float:
    """Two-sided p-value of Student's t."""
    from scipy.special import stdtr

    return float(2 * stdtr(degrees, -abs(t)))


# Correlations over many subsets of the same answers at once.
#
# A subset says of each answer whether it is in. Sums are weighted by that, and ranks within a subset follow
# from how many of its answers have each value, so nothing is sorted again.

Subsets = npt.NDArray[np.bool_]
Which = Literal["pearson", "spearman"]
_NONE = 1e-12
#: Subsets times answers that are worked on at once.
_CELLS = 1 << 21


def over_subsets(x: Floats, y: Floats, subsets: Subsets, statistic: Which) -> Floats:
    """The correlation of two columns (n) over each subset (s, n): (s), nan where it is not defined.

    Answers that lack one of the two scores are in no subset. nan for fewer than three answers, or if one of
    the columns has a single value there.
    """
    complete = ~(np.isnan(x) | np.isnan(y))
    x, y, subsets = x[complete], y[complete], subsets[:, complete]
    if not len(x):
        return np.full(len(subsets), np.nan)
    width = max(1, _CELLS // len(x))
    slices = [slice(start, start + width) for start in range(0, len(subsets), width)]
    return np.concatenate(
        [_correlate_weighted(x, y, subsets[of].astype(np.float64), statistic) for of in slices]
    )


def _correlate_weighted(x: Floats, y: Floats, weights: Floats, statistic: Which) -> Floats:
    n = weights.sum(axis=1)
    if statistic == "spearman":
        first, second = _ranks(x, weights), _ranks(y, weights)
    else:
        first, second = _unit(x)[None], _unit(y)[None]
    sizes = np.maximum(n, 1)
    first = first - ((weights * first).sum(axis=1) / sizes)[:, None]
    second = second - ((weights * second).sum(axis=1) / sizes)[:, None]
    weighted = weights * first
    together = (weighted * second).sum(axis=1)
    spread_x, spread_y = (weighted * first).sum(axis=1), (weights * second * second).sum(axis=1)
    good = (n >= LEAST) & (spread_x > _NONE) & (spread_y > _NONE)
    coefficients = np.full(len(weights), np.nan)
    np.divide(together, np.sqrt(spread_x * spread_y), out=coefficients, where=good)
    return np.asarray(np.clip(coefficients, -1.0, 1.0), np.float64)


def _unit(values: Floats) -> Floats:
    """The values moved and scaled to 0..1, so that no square is too small or too large."""
    width = float(np.ptp(values))
    return np.asarray((values - values.min()) / (width if width > 0 else 1.0), np.float64)


def _ranks(values: Floats, weights: Floats) -> Floats:
    """(s, n) ranks from 1 within each subset, ties sharing their mean rank; of others, anything."""
    order = np.argsort(values, kind="stable")
    arranged = values[order]
    starts = np.flatnonzero(np.concatenate(([True], arranged[1:] != arranged[:-1])))
    counts = np.add.reduceat(weights[:, order], starts, axis=1)
    mean = np.cumsum(counts, axis=1) - (counts - 1) / 2
    place = np.empty(len(values), dtype=np.intp)
    place[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
    mean_ranks: Floats = mean[:, place]
    return mean_ranks


Key = tuple[str, Statistic, Grouping]

NO_SCORES = "not defined: no answer has both a human score and a score of this metric"
ONE_ANSWER = "not defined: only one answer has both a human score and a score of this metric"
SAME_HUMAN = "not defined: all human scores are the same"
SAME_METRIC = "not defined: all scores of this metric are the same"
NO_QUESTION = "not defined: no question has answers that differ both for people and for this metric"
TWO_ANSWERS = "not defined: only two answers have both a human score and a score of this metric"
ONE_QUESTION = "not defined: only one question has answers that differ both for people and for this metric"
ONE_DIFFERS = "not defined: only one system has answers that differ both for people and for this metric"
#: Questions, or systems, of which a mean says something.
LEAST_GROUPS = 2
NO_SYSTEM = "not defined: no system has answers that differ both for people and for this metric"
ONE_SYSTEM = "not defined: there is only one system"
TWO_SYSTEMS = "not defined: there are only two systems"
SAME_HUMAN_MEANS = "not defined: the mean human scores of all systems are the same"
SAME_METRIC_MEANS = "not defined: the mean scores of this metric are the same for all systems"


def correlate(answers: ScoredAnswers, metric: str, statistic: Statistic, grouping: Grouping) -> Figure:
    """The correlation of one metric with the human scores; MetricError if there is no such metric."""
    return correlations(answers, [metric], [statistic], [grouping])[metric, statistic, grouping]


def correlations(
    answers: ScoredAnswers,
    metrics: Sequence[str] | None = None,
    statistics: Sequence[Statistic] = STATISTICS,
    groupings: Sequence[Grouping] = GROUPINGS,
) -> Mapping[Key, Figure]:
    """The correlations of many metrics (of all, if None); answers are put in order only once."""
    rows = rows_of(answers, metrics)
    figures: dict[Key, Figure] = {}
    for metric in rows.names:
        own, scores = rows.of(metric)
        for grouping in groupings:
            for statistic in statistics:
                figures[metric, statistic, grouping] = correlation(own, scores, statistic, grouping)
    return figures


def correlation(rows: Rows, scores: Floats, statistic: Statistic, grouping: Grouping) -> Figure:
    """The correlation of (n,) scores, none of them missing, with the human scores of these rows."""
    if not len(rows):
        return Figure(None, NO_SCORES, n=0)
    if grouping == "system":
        return _of_systems(rows, scores, statistic)
    order, starts = grouped(rows, grouping)
    values = within(statistic, rows.human[order], scores[order][None], starts)[0]
    if grouping == "global":
        return _of_all(rows, scores, float(values[0]))
    defined = values[~np.isnan(values)]
    if len(defined) < LEAST_GROUPS:
        of_questions = ONE_QUESTION if len(defined) else NO_QUESTION
        of_systems = ONE_DIFFERS if len(defined) else NO_SYSTEM
        return Figure(None, of_questions if grouping == "item" else of_systems, n=len(defined))
    return Figure(float(defined.mean()), n=len(defined))


def _of_all(rows: Rows, scores: Floats, value: float) -> Figure:
    if len(rows) == LEAST - 1:
        return Figure(None, TWO_ANSWERS, n=len(rows))
    if np.isnan(value):
        return Figure(None, _why(rows.human, scores, ONE_ANSWER, SAME_HUMAN, SAME_METRIC), n=len(rows))
    return Figure(value, n=len(rows))


def _of_systems(rows: Rows, scores: Floats, statistic: Statistic) -> Figure:
    human, metric = system_means(rows, rows.human), system_means(rows, scores)
    value = within(statistic, human, metric[None], np.zeros(1, np.int64))[0, 0]
    if np.isnan(value):
        reason = _why(human, metric, ONE_SYSTEM, SAME_HUMAN_MEANS, SAME_METRIC_MEANS)
        return Figure(None, reason, n=len(human))
    if len(human) == LEAST - 1:
        return Figure(None, TWO_SYSTEMS, n=len(human))
    return Figure(float(value), n=len(human))


def _why(human: Floats, scores: Floats, one: str, same_human: str, same_metric: str) -> str:
    """Why there is no correlation of these values."""
    if len(human) < 2:
        return one
    return same_human if human.min() == human.max() else same_metric
