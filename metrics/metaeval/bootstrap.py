"""Percentile intervals by the bootstrap (Efron 1979; for metrics of metrics: Deutsch, Dror and Roth 2021).

`intervals(judged, metrics, replicates=1000, seed=0, kind="boot_inputs", wanted=WANTED, gap=2.0,
spread=in_process) -> {(metric, statistic, grouping): (low, high)}`: the middle 95 % of the statistic's values
in samples drawn with replacement; no entry where less than 90 % of them have a value. `paired(judged, pairs,
statistic, grouping, ...) -> list[MetricDifference]` is the paired bootstrap test (Koehn 2004), `fisher(r, n)`
the quick look. In pieces: `prepare(...)`, `drawn(prepared, block)` for `prepared.blocks`,
`bounds(prepared, values)`.

- `boot_inputs` draws questions with all their answers: other questions, the same systems. The default.
- `boot_systems` draws systems: other systems, the same questions. With few systems it says little.
- `boot_both` draws both, independently of each other.

`acc_eq_cal` keeps the epsilon that was chosen on all answers. Kendall's tau of more than 500 answers is
approximated as `weighted.kendall` says. Bounds are rounded to 10 decimals, so that the last bit of a product,
which may differ between machines, is not in them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Protocol, TypeVar, get_args

import numpy as np

from metrics.errors import MetricError
from metrics.metaeval import data
from metrics.metaeval.correlation import STATISTICS, Statistic, within
from metrics.metaeval.executor import SAMPLES, PartRunner, blocks, in_process, samples
from metrics.metaeval.pairwise import (
    EPSILON_ROUNDING,
    GAP_ROUNDING,
    PAIR_STATISTICS,
    TIE,
    best_epsilon,
    differences,
    pairs_of,
    shares,
    snapped,
    system_pairs,
)
from metrics.metaeval.plan import AnyStatistic, MetricDifference, Pair, check, cohorts_of, correlation_named
from metrics.metaeval.weighted_correlations import (
    Runs,
    WeightedCorrelation,
    moments,
    of_moments,
    prepared,
    runs_of,
)

T = TypeVar("T")

# Pairs of answers to the same question, one by one, where systems are drawn with replacement.
#
# Two copies of a system are not compared with each other: they would agree by construction.


@dataclass(frozen=True, slots=True, eq=False)
class Pairwise:
    """Pairs that count, sorted by question: which answers, whose, and whether the metric is right.

    `each`: the statistic is the mean over questions of their shares, not the share of all pairs.
    """

    first: data.Indices
    second: data.Indices
    question: data.Indices
    right: data.Mask
    each: bool

    def values(self, answers: data.Floats, questions: data.Floats | None) -> data.Floats:
        """(samples,) shares, from (answers, samples) and (questions, samples) weights."""
        if not len(self.first):
            return np.full(answers.shape[1], np.nan)
        starts = data.starts_of(self.question)
        weight = answers[self.first] * answers[self.second]
        above = np.add.reduceat(weight * self.right[:, None], starts, axis=0)
        below = np.add.reduceat(weight, starts, axis=0)
        outside = 1.0 if questions is None else questions[self.question[starts]]
        if self.each:
            above = np.where(below > 0, above, 0.0) / np.where(below > 0, below, 1.0)
            below = (below > 0).astype(np.float64)
        total, mass = (above * outside).sum(axis=0), (below * outside).sum(axis=0)
        return np.where(mass > 0.5, total, np.nan) / np.where(mass > 0.5, mass, 1.0)


def pairwise(statistic: AnyStatistic, rows: data.Rows, scores: data.Floats, gap: float) -> Pairwise:
    """The pairs of one of the pair statistics."""
    pairs = pairs_of(rows)
    order = np.argsort(rows.questions[pairs.first], kind="stable")
    first, second, people = pairs.first[order], pairs.second[order], pairs.leads[order]
    used = snapped(rows, scores) if statistic == "pair_acc" else scores
    metric = used[first] - used[second]
    agree = np.sign(people) == np.sign(metric)
    counted = np.ones(len(first), dtype=bool)
    if statistic == "pair_acc":
        counted = people != 0
    elif statistic == "acc_eq_cal" and len(first):
        epsilon = best_epsilon(differences(rows, scores)) * (1 + EPSILON_ROUNDING)
        agree = np.where(np.abs(metric) <= epsilon, people == 0, agree & (people != 0))
    elif statistic == "rank_match":
        counted = np.abs(people) >= gap - GAP_ROUNDING
        agree &= np.abs(metric) >= TIE
    elif statistic not in ("acc_eq", "acc_eq_cal"):
        raise MetricError(f"The statistic {statistic} is not one of pairs of answers.")
    each = statistic in ("acc_eq", "acc_eq_cal")
    return Pairwise(first[counted], second[counted], rows.questions[first[counted]], agree[counted], each)


# What a sample of questions, of systems or of both makes of a metric's statistics.
#
# Drawn questions come with all their answers; one that is drawn twice counts as two questions. Drawn
# systems come with all theirs. So an answer's weight is how often its question was drawn times how often
# its system was. Groupings see the two apart: within a question only systems have weights, and the mean
# over questions weighs them by theirs.
#
# Where only questions are drawn, what each adds to a sum is known before, and a block of samples is one
# product. Weights are (units, samples), values (samples,).

#: Cells of answers by samples that are worked on at once.
CELLS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class SampleCounts:
    """How often each question and each system is in each sample; None where they are not sampled."""

    questions: data.Floats | None
    systems: data.Floats | None

    def __len__(self) -> int:
        counts = self.systems if self.questions is None else self.questions
        assert counts is not None
        return int(counts.shape[1])

    def parts(self, answers: int) -> "list[SampleCounts]":
        """Some samples at a time, so that weights of so many answers stay small."""
        width = max(1, CELLS // answers)
        slices = [slice(first, first + width) for first in range(0, len(self), width)]
        return [SampleCounts(_columns(self.questions, of), _columns(self.systems, of)) for of in slices]


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The number of each answer's question and system among all."""

    questions: data.Indices
    systems: data.Indices
    starts: data.Indices

    def outside(self, counts: data.Floats | None, of: data.Indices) -> data.Floats | None:
        """(G, samples) weights of the groups, which are questions or systems."""
        return None if counts is None else counts[of[self.starts]]


@dataclass(frozen=True, slots=True, eq=False)
class OfSums:
    """Means over questions, drawn whole: what each question adds above and below the line."""

    above: data.Floats
    below: data.Floats
    questions: data.Indices

    def values(self, sample_counts: SampleCounts) -> data.Floats:
        """(samples,)."""
        assert sample_counts.questions is not None
        weights = sample_counts.questions
        # All questions in their order need no copy, which takes as much as the draws themselves.
        if not np.array_equal(self.questions, np.arange(len(weights))):
            weights = weights[self.questions]
        return _ratio(self.above @ weights, self.below @ weights)


@dataclass(frozen=True, slots=True, eq=False)
class OfMoments:
    """Pearson's r over all answers or by system, questions drawn whole: `sums` are (6, G, questions)."""

    sums: data.Floats

    def values(self, sample_counts: SampleCounts) -> data.Floats:
        """(samples,)."""
        assert sample_counts.questions is not None
        total, *moments = self.sums @ sample_counts.questions
        return _mean(of_moments(total, np.stack(moments)), None)


@dataclass(frozen=True, slots=True, eq=False)
class OfAnswers:
    """Correlations over all answers (one group) or by system."""

    weighted: WeightedCorrelation
    places: Places

    def values(self, sample_counts: SampleCounts) -> data.Floats:
        """(samples,)."""
        parts_of_values = []
        by_system = len(self.places.starts) > 1
        for part in sample_counts.parts(len(self.places.systems)):
            weights = (
                np.ones((1, len(part))) if part.questions is None else part.questions[self.places.questions]
            )
            outside = None
            if part.systems is not None and by_system:
                outside = part.systems[self.places.systems[self.places.starts]]
            elif part.systems is not None:
                weights = weights * part.systems[self.places.systems]
            weights = np.broadcast_to(weights, (len(self.places.systems), len(part)))
            parts_of_values.append(_mean(self.weighted.values(np.ascontiguousarray(weights)), outside))
        return np.concatenate(parts_of_values)


@dataclass(frozen=True, slots=True, eq=False)
class OfQuestions:
    """Means over questions, where systems are drawn: within a question answers have their system's weight."""

    weighted: WeightedCorrelation | None
    pairs: Pairwise | None
    places: Places

    def values(self, sample_counts: SampleCounts) -> data.Floats:
        """(samples,)."""
        parts_of_values = []
        for part in sample_counts.parts(len(self.places.systems)):
            assert part.systems is not None
            inside = part.systems[self.places.systems]
            outside = self.places.outside(part.questions, self.places.questions)
            if self.pairs is not None:
                parts_of_values.append(self.pairs.values(inside, outside))
            elif self.weighted is not None:
                parts_of_values.append(_mean(self.weighted.values(inside), outside))
        return np.concatenate(parts_of_values)


@dataclass(frozen=True, slots=True, eq=False)
class OfSystems:
    """Statistics of systems' means; drawn systems stand as often as they were drawn.

    `sums` are (3, systems, questions): answers, human scores, metric scores. `systems` are the numbers of
    those that have any.
    """

    statistic: AnyStatistic
    sums: data.Floats
    systems: data.Indices

    def values(self, sample_counts: SampleCounts) -> data.Floats:
        """(samples,)."""
        if sample_counts.questions is None:
            sums = self.sums.sum(axis=2, keepdims=True)
        else:
            sums = self.sums @ sample_counts.questions
        count, human, metric = sums
        has_score = count > 0
        human = np.where(has_score, human, np.nan) / np.where(has_score, count, 1.0)
        metric = np.where(has_score, metric, np.nan) / np.where(has_score, count, 1.0)
        if sample_counts.systems is None:
            return self._level(human.T, metric.T)
        times = sample_counts.systems[self.systems].T.astype(np.int64)
        human, metric = (np.broadcast_to(means, times.T.shape).T for means in (human, metric))
        by_sample = np.empty(len(times))
        # A drawn system without a score of the metric has no mean, and the sample is that much smaller.
        for size in np.unique(times.sum(axis=1)):
            own = np.flatnonzero(times.sum(axis=1) == size)
            shape = (len(own), int(size))
            sample = np.repeat(own, size).reshape(shape)
            system = np.repeat(np.tile(np.arange(times.shape[1]), len(own)), times[own].ravel()).reshape(
                shape
            )
            by_sample[own] = self._level(human[sample, system], metric[sample, system])
        return by_sample

    def _level(self, human: data.Floats, metric: data.Floats) -> data.Floats:
        """(samples,) statistics of (samples, systems) means; those that differ by rounding are tied."""
        samples, systems = human.shape
        if systems < 2:
            return np.full(samples, np.nan)
        gone = np.isnan(human).any(axis=1) | np.isnan(metric).any(axis=1)
        human, metric = np.nan_to_num(data.rounded(human)), np.nan_to_num(data.rounded(metric))
        if self.statistic == "pa":
            statistics = _ratio(*system_pairs(human, metric))
        else:
            statistic = correlation(self.statistic)
            starts = np.arange(samples) * systems
            statistics = within(statistic, human.ravel(), metric.reshape(1, -1), starts)[0]
        statistics[gone] = np.nan
        return statistics


def correlation(statistic: AnyStatistic) -> Statistic:
    """The statistic, which is a correlation."""
    correlation_statistic = correlation_named(statistic)
    assert correlation_statistic is not None
    return correlation_statistic


def _columns(counts: data.Floats | None, of: slice) -> data.Floats | None:
    return None if counts is None else np.ascontiguousarray(counts[:, of])


def _mean(values: data.Floats, weights: data.Floats | None) -> data.Floats:
    """(G, samples) to the weighted mean over the groups that have a value."""
    defined = ~np.isnan(values)
    mass = defined.astype(np.float64) if weights is None else defined * weights
    return _ratio((mass * np.nan_to_num(values)).sum(axis=0), mass.sum(axis=0))


def _ratio(above: data.Floats, below: data.Floats) -> data.Floats:
    good = below > 0.5
    return np.where(good, above, np.nan) / np.where(good, below, 1.0)


# One statistic of one metric, made ready to be drawn many times.


class SampledStatistic(Protocol):
    """A statistic that waits for samples."""

    def values(self, sample_counts: SampleCounts) -> data.Floats:
        """(samples,) values, nan where a sample has none."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MetricScores:
    """(n,) scores of one metric for these rows, none of them missing.

    `questions` and `systems` are the rows' numbers among all that are drawn from, which are `drawn_from`
    questions. What several statistics are made of is worked out and held once.
    """

    rows: data.Rows
    scores: data.Floats
    questions: data.Indices
    systems: data.Indices
    drawn_from: int
    _cache: dict[str, Any] = field(default_factory=dict, repr=False)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made when it is first asked for under this name."""
        if name not in self._cache:
            self._cache[name] = make()
        cached: T = self._cache[name]
        return cached


def scored(rows: data.Rows, places: data.Indices, own: data.Rows, scores: data.Floats) -> MetricScores:
    """Scores of some of the rows, by their places."""
    return MetricScores(own, scores, rows.questions[places], rows.systems[places], len(rows.question_names))


def sampled(
    metric_scores: MetricScores,
    statistic: AnyStatistic,
    grouping: data.Grouping,
    *,
    whole_questions: bool,
    gap: float,
) -> SampledStatistic:
    """A statistic of these scores; `whole_questions`: only questions are drawn."""
    rows, scores, questions, systems = (
        metric_scores.rows,
        metric_scores.scores,
        metric_scores.questions,
        metric_scores.systems,
    )
    if grouping == "system":
        return _of_systems(metric_scores, statistic)
    order, starts = data.grouped(rows, grouping)
    if grouping == "item" and whole_questions:
        return OfSums(*shares(statistic, rows, scores, gap), questions[starts])
    places = metric_scores.once(
        f"places {grouping}", lambda: Places(questions[order], systems[order], starts)
    )
    human, metric = rows.human[order], scores[order]
    if grouping == "item":
        if statistic in STATISTICS:
            return OfQuestions(prepared(correlation(statistic), human, metric, starts), None, places)
        return OfQuestions(None, pairwise(statistic, rows, scores, gap), places)
    if whole_questions and statistic == "pearson":
        columns = np.concatenate([np.ones((1, len(order))), moments(human, metric, starts)])
        group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
        return OfMoments(
            _by_question(columns, group, len(starts), places.questions, metric_scores.drawn_from)
        )

    def runs() -> tuple[Runs, Runs]:
        return metric_scores.once(
            f"runs {grouping}", lambda: (runs_of(human, starts), runs_of(metric, starts))
        )

    return OfAnswers(prepared(correlation(statistic), human, metric, starts, runs), places)


def _of_systems(metric_scores: MetricScores, statistic: AnyStatistic) -> OfSystems:
    rows = metric_scores.rows

    def sums() -> data.Floats:
        columns = np.stack([np.ones(len(rows)), rows.human, metric_scores.scores])
        return _by_question(
            columns, rows.systems, len(rows.system_names), metric_scores.questions, metric_scores.drawn_from
        )

    return OfSystems(statistic, metric_scores.once("sums", sums), np.unique(metric_scores.systems))


def _by_question(
    columns: data.Floats, group: data.Indices, groups: int, questions: data.Indices, size: int
) -> data.Floats:
    """(c, n) columns summed by group and question: (c, groups, questions)."""
    cell = group * size + questions
    sums = [np.bincount(cell, weights=column, minlength=groups * size) for column in columns]
    return np.stack(sums).astype(np.float64).reshape(len(columns), groups, size)


Kind = Literal["boot_inputs", "boot_systems", "boot_both"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Wanted = Sequence[tuple[AnyStatistic, data.Grouping]]
Key = tuple[str, AnyStatistic, data.Grouping]
Interval = tuple[float, float]

#: Every correlation in every grouping, the statistics of pairs, and pairwise accuracy of systems.
WANTED: Wanted = (
    *((statistic, grouping) for statistic in STATISTICS for grouping in data.GROUPINGS),
    *((statistic, "item") for statistic in PAIR_STATISTICS),
    ("pa", "system"),
)
COVERAGE = 0.95
DEFINED = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapInput:
    """All that a block needs; it can be sent to another process."""

    keys: tuple[Key, ...]
    parts: tuple[SampledStatistic, ...]
    kind: Kind
    replicates: int
    seed: int
    questions: int
    systems: int

    @property
    def blocks(self) -> range:
        """The numbers of the blocks of samples."""
        return blocks(self.replicates, SAMPLES) if self.parts else range(0)


def intervals(
    answers: data.ScoredAnswers,
    metrics: Sequence[str] | None = None,
    *,
    replicates: int = 1000,
    seed: int = 0,
    kind: Kind = "boot_inputs",
    statistics: Wanted = WANTED,
    gap: float = 2.0,
    spread: PartRunner = in_process,
) -> Mapping[Key, Interval]:
    """The 95 % intervals of some metrics (all, if None). MetricError for a kind or statistic there is not."""
    ready = prepare(
        answers, metrics, replicates=replicates, seed=seed, kind=kind, statistics=statistics, gap=gap
    )
    return bounds(ready, spread(partial(draw_block, ready), list(ready.blocks)))


def prepare(
    answers: data.ScoredAnswers,
    metrics: Sequence[str] | None = None,
    *,
    replicates: int = 1000,
    seed: int = 0,
    kind: Kind = "boot_inputs",
    statistics: Wanted = WANTED,
    gap: float = 2.0,
) -> BootstrapInput:
    """Everything that does not depend on chance."""
    if kind not in KINDS:
        raise MetricError(f"There is no bootstrap “{kind}”; known are: {', '.join(KINDS)}.")
    rows = data.rows_of(answers, metrics)
    keys: list[Key] = []
    parts: list[SampledStatistic] = []
    for metric in rows.names:
        finite = np.isfinite(rows.column(metric))
        if not finite.any():
            continue
        own = rows.only(finite)
        metric_scores = scored(rows, np.flatnonzero(finite), own, own.column(metric))
        for statistic, grouping in statistics:
            check(statistic, grouping)
            keys.append((metric, statistic, grouping))
            parts.append(
                sampled(metric_scores, statistic, grouping, whole_questions=kind == "boot_inputs", gap=gap)
            )
    return _ready(rows, keys, parts, kind=kind, replicates=replicates, seed=seed)


def _ready(
    rows: data.Rows,
    keys: Sequence[Key],
    parts: Sequence[SampledStatistic],
    *,
    kind: Kind,
    replicates: int,
    seed: int,
) -> BootstrapInput:
    sizes = (len(rows.question_names), len(rows.system_names))
    return BootstrapInput(tuple(keys), tuple(parts), kind, replicates, seed, *sizes)


def draw_block(prepared: BootstrapInput, block: int) -> data.Floats:
    """(statistics, samples) values of the samples of one block; nan where there is none."""
    seed, kind = prepared.seed, prepared.kind
    sample = SampleCounts(
        None if kind == "boot_systems" else samples(seed, "boot questions", block, prepared.questions),
        None if kind == "boot_inputs" else samples(seed, "boot systems", block, prepared.systems),
    )
    return np.stack([part.values(sample) for part in prepared.parts])


def bounds(prepared: BootstrapInput, values: Sequence[data.Floats]) -> Mapping[Key, Interval]:
    """The intervals, from the values of all blocks in their order."""
    intervals_by_key: dict[Key, Interval] = {}
    if not values:
        return intervals_by_key
    together = np.concatenate(values, axis=1)[:, : prepared.replicates]
    for key, of in zip(prepared.keys, together, strict=True):
        defined = of[~np.isnan(of)]
        if len(defined) and len(defined) >= DEFINED * prepared.replicates:
            low, high = np.quantile(np.round(defined, 10), [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
            intervals_by_key[key] = (round(float(low), 10), round(float(high), 10))
    return intervals_by_key


def paired(
    answers: data.ScoredAnswers,
    pairs: Sequence[Pair],
    statistic: AnyStatistic = "pearson",
    grouping: data.Grouping = "global",
    *,
    draws: int = 1000,
    seed: int = 0,
    kind: Kind = "boot_inputs",
    gap: float = 2.0,
    spread: PartRunner = in_process,
) -> list[MetricDifference]:
    """The paired bootstrap test of each pair: both metrics in the same samples.

    Over the answers that have both scores. A sign that few samples turn is sure: p is twice the smaller of
    (1 + samples in which A is not better) / (1 + draws) and (1 + samples in which B is not better) /
    (1 + draws), at most 1.
    """
    check(statistic, grouping)
    rows = data.rows_of(answers, sorted({name for pair in pairs for name in pair}))
    dealt = cohorts_of(rows, pairs, statistic, grouping, gap)
    comparisons = [
        MetricDifference(
            *pair,
            statistic,
            grouping,
            "bootstrap",
            None,
            None,
            dealt.sizes[place],
            reason=dealt.why(place, pair),
        )
        for place, pair in enumerate(pairs)
    ]
    for cohort in dealt.cohorts:
        parts = [
            sampled(
                scored(rows, cohort.places, cohort.rows, scores),
                statistic,
                grouping,
                whole_questions=kind == "boot_inputs",
                gap=gap,
            )
            for scores in cohort.scores
        ]
        keys: list[Key] = [(name, statistic, grouping) for name in cohort.names]
        ready = _ready(rows, keys, parts, kind=kind, replicates=draws, seed=seed)
        values = np.concatenate(spread(partial(draw_block, ready), list(ready.blocks)), axis=1)[:, :draws]
        for place, a, b in zip(cohort.pairs, cohort.first, cohort.second, strict=True):
            p, error = _turned(values[a] - values[b])
            comparisons[place] = replace(comparisons[place], delta=dealt.delta(place), p=p, null_sd=error)
    return comparisons


def _turned(apart: data.Floats) -> tuple[float, float | None]:
    """The p-value and the standard error from the differences in all samples; nan counts for neither side."""
    apart = np.round(apart, 10)
    turned = int(min(np.sum(~(apart > 0)), np.sum(~(apart < 0))))
    defined = apart[~np.isnan(apart)]
    error = float(np.round(defined.std(), 10)) if len(defined) else None
    return min(1.0, 2 * (1 + turned) / (1 + len(apart))), error


def fisher(r: float, n: int) -> Interval | None:
    """Fisher's interval of Pearson's r of n independent answers; None for n < 4 or |r| = 1."""
    if n < 4 or abs(r) >= 1:
        return None
    from scipy.special import ndtri

    reach = float(ndtri((1 + COVERAGE) / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)
