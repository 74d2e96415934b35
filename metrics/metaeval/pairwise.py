"""Pairs of answers to the same question: does a metric put them in the order in which people put them?

`pair_acc(judged, metric) -> Pairs`, `acc_eq(judged, metric, grouping="item") -> Figure`.

- `pair_acc` is the share of the pairs that people do not rate equal which the metric orders as they do. A tie
  of the metric is a miss, and counted apart. A guess is right half of the time.
- `acc_eq` (Deutsch, Foster and Freitag 2023, "Ties Matter", eq. 9; `acc23` of mt-metrics-eval) also wants
  ties predicted: (concordant pairs + pairs tied for both) / all pairs. Grouped by `item` it is the mean over
  questions with two answers or more; `global` takes all pairs of answers, `by_system` the mean over systems.

Where people judged pairs, not answers, the pairs are those that they judged: they prefer whom most judgments
prefer, and tie a pair that is even. Else they are all pairs of answers to a question, by their human scores.

For `acc_eq` scores are tied when they are equal; a tolerance is what `ties` calibrates. For `pair_acc` scores
of answers to the same question are the same when they differ by no more than rounding does (5e-13 of the
metric's range): smoothed BLEU-4 gives answers that share no phrase scores of 1e-13, and their order means
nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from metrics.errors import MetricError
from metrics.figure import Figure
from metrics.metaeval import data
from metrics.metaeval.correlation import (
    NO_SCORES,
    ONE_SYSTEM,
    SAME_HUMAN_MEANS,
    PairCounts,
    Statistic,
    pair_counts,
    within,
)
from metrics.metaeval.executor import BLOCK, blocks, generator, swaps

SCORE_ROUNDING = 5e-13
NO_PAIR = "not defined: no question has two answers with human scores and scores of this metric"
ALL_TIED = "not defined: people rate all answers to the same question equal"
#: A share of one pair is 0 or 1, whatever the metric is worth.
ONE_PAIR = "not defined: only one pair of answers to the same question has scores of both"
ONE_ORDERED = "not defined: people tell apart only one pair of answers to the same question"
ONE_PAIR_OF_SYSTEMS = "not defined: people tell apart only one pair of systems"


@dataclass(frozen=True, slots=True)
class Pairs:
    """An accuracy over pairs (n of the figure), and how many of them the metric left tied."""

    figure: Figure
    metric_ties: int

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: the figure and `metric_ties`."""
        return {**self.figure.as_json(), "metric_ties": self.metric_ties}

    def within(self, ci: tuple[float, float] | None) -> "Pairs":
        """The same with an interval."""
        return replace(self, figure=replace(self.figure, ci=ci))


def pair_acc(answers: data.ScoredAnswers, metric: str) -> Pairs:
    """The share of pairs of answers to the same question that the metric orders as people do."""
    rows, scores = data.rows_of(answers, [metric]).of(metric)
    return pair_accuracy(rows, scores)


def pair_accuracy(rows: data.Rows, scores: data.Floats) -> Pairs:
    """`pair_acc` of (n,) scores, none of them missing."""
    counts = count_pairs(rows, snapped(rows, scores))
    right, tied = int(counts.concordant.sum()), int(counts.tied_metric.sum())
    ordered = right + tied + int(counts.discordant.sum())
    if not ordered:
        reason = ALL_TIED if counts.total.any() else NO_PAIR if len(rows) else NO_SCORES
        return Pairs(Figure(None, reason, n=0), 0)
    if ordered == 1:
        return Pairs(Figure(None, ONE_ORDERED, n=1), tied)
    return Pairs(Figure(right / ordered, n=ordered), tied)


def pairs_of(rows: data.Rows) -> data.JudgedPairs:
    """The pairs that people judged; else all pairs of answers to a question, led by the human scores."""
    if rows.pairs is not None:
        return rows.pairs
    starts = data.grouped(rows, "item")[1]
    sizes = np.diff(np.append(starts, len(rows)))
    none = np.zeros(0, np.int64)
    blocks = list(index_pairs(starts, sizes))
    first = np.concatenate([none, *(block[0] for block in blocks)])
    second = np.concatenate([none, *(block[1] for block in blocks)])
    return data.JudgedPairs(first, second, rows.human[first] - rows.human[second])


def count_pairs(rows: data.Rows, scores: data.Floats) -> PairCounts:
    """How people and the metric order the pairs of each question."""
    starts = data.grouped(rows, "item")[1]
    if rows.pairs is None:
        return pair_counts(rows.human, scores[None], starts)
    first, second = rows.pairs.first, rows.pairs.second
    people, metric = np.sign(rows.pairs.leads), np.sign(scores[first] - scores[second])

    def count(mask: data.Mask) -> data.Indices:
        return np.bincount(rows.questions[first[mask]], minlength=len(starts))[None]

    return PairCounts(
        count(people * metric > 0),
        count(people * metric < 0),
        count((people == 0) & (metric != 0)),
        count((people != 0) & (metric == 0)),
        count((people == 0) & (metric == 0)),
    )


def snapped(rows: data.Rows, scores: data.Floats) -> data.Floats:
    """Scores of which those are equal that differ only by rounding within a question."""
    if not len(scores):
        return scores
    order = np.lexsort((scores, rows.questions))
    sorted_scores, questions = scores[order], rows.questions[order]
    new = np.ones(len(scores), dtype=bool)
    new[1:] = (questions[1:] != questions[:-1]) | (np.diff(sorted_scores) > SCORE_ROUNDING * np.ptp(scores))
    snapped_scores = np.empty_like(scores)
    snapped_scores[order] = sorted_scores[np.flatnonzero(new)[np.cumsum(new) - 1]]
    return snapped_scores


def acc_eq(answers: data.ScoredAnswers, metric: str, grouping: data.Grouping = "item") -> Figure:
    """Pairwise accuracy with ties; `n` counts pairs if global, else the questions or systems of the mean."""
    rows, scores = data.rows_of(answers, [metric]).of(metric)
    return accuracy_with_ties(rows, scores, grouping)


def accuracy_with_ties(rows: data.Rows, scores: data.Floats, grouping: data.Grouping = "item") -> Figure:
    """`acc_eq` of (n,) scores, none of them missing."""
    if not len(rows):
        return Figure(None, NO_SCORES, n=0)
    if grouping == "item":
        counts = count_pairs(rows, scores)
    else:
        order, starts = data.grouped(rows, grouping)
        counts = pair_counts(rows.human[order], scores[order][None], starts)
    with_pairs = counts.total[0] > 0
    if not with_pairs.any():
        return Figure(None, NO_PAIR, n=0)
    if counts.total[0].sum() == 1:
        return Figure(None, ONE_PAIR, n=1)
    right, pairs = (counts.concordant + counts.tied_both)[0][with_pairs], counts.total[0][with_pairs]
    value = float(np.mean(right / pairs))
    return Figure(value, n=int(pairs.sum()) if grouping == "global" else len(pairs))


# Pairwise accuracy with ties whose threshold is calibrated (Deutsch, Foster and Freitag 2023, section 5).
#
# `acc_eq_cal(judged, metric, seed=0) -> Calibrated`.
#
# A metric of fine grain hardly ever gives a tie, so `acc_eq` counts every pair against it that people tie.
# Here two scores are tied when they differ by at most epsilon, and epsilon is the one that gives the
# highest accuracy. The accuracy changes only where a pair becomes tied, so the candidates are 0 and all
# differences of pairs: all of them are tried, by a sum over the sorted pairs. Of several best ones the
# smallest is taken.
#
# An epsilon chosen on the same answers flatters. `held_out` is the mean over questions with the epsilon of
# the half that they are not in; halves are drawn with the seed, by the order of the questions' names.

ONE_QUESTION = (
    "not defined: only one question has a pair of answers, so there is no other to choose epsilon on"
)
#: Differences of this relative size are the same: 0.3 - 0.2 and 0.2 - 0.1 are one candidate.
EPSILON_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class CalibratedAccuracy:
    """The highest accuracy (n: questions), its epsilon, and the accuracy with one chosen elsewhere."""

    figure: Figure
    epsilon: float | None
    held_out: Figure

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: the figure, `epsilon` and the value of `held_out`."""
        fields = {**self.figure.as_json(), "epsilon": self.epsilon, "held_out": self.held_out.value}
        if self.held_out.value is None:
            fields["held_out_reason"] = self.held_out.reason
        return fields

    def within(self, ci: tuple[float, float] | None) -> "CalibratedAccuracy":
        """The same with an interval."""
        return replace(self, figure=replace(self.figure, ci=ci))


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Pairs of answers within questions: whose, whether people tie them, what the metric says.

    `weight` is 1 / pairs of the question. `gap` is the metric's absolute difference, `right` says that the
    metric orders the pair as people do.
    """

    question: data.Indices
    tied: data.Mask
    right: data.Mask
    gap: data.Floats
    weight: data.Floats

    def only(self, mask: data.Mask) -> "Differences":
        """The pairs of a mask."""
        return Differences(
            self.question[mask], self.tied[mask], self.right[mask], self.gap[mask], self.weight[mask]
        )


def acc_eq_cal(answers: data.ScoredAnswers, metric: str, *, seed: int = 0) -> CalibratedAccuracy:
    """Tie-calibrated accuracy of a metric."""
    rows, scores = data.rows_of(answers, [metric]).of(metric)
    return calibrated(rows, scores, seed=seed)


def calibrated(rows: data.Rows, scores: data.Floats, *, seed: int = 0) -> CalibratedAccuracy:
    """`acc_eq_cal` of (n,) scores, none of them missing."""
    pairs = differences(rows, scores)
    if not len(pairs.gap):
        none = Figure(None, NO_PAIR if len(rows) else NO_SCORES, n=0)
        return CalibratedAccuracy(none, None, none)
    if len(pairs.gap) == 1:
        none = Figure(None, ONE_PAIR, n=1)
        return CalibratedAccuracy(none, None, none)
    epsilon = best_epsilon(pairs)
    questions = np.unique(pairs.question)
    value = Figure(accuracy(pairs, epsilon) / len(questions), n=len(questions))
    return CalibratedAccuracy(value, epsilon, _held_out(pairs, questions, seed))


def _held_out(pairs: Differences, questions: data.Indices, seed: int) -> Figure:
    if len(questions) < 2:
        return Figure(None, ONE_QUESTION, n=0)
    order = generator(seed, "halves of questions for epsilon").permutation(len(questions))
    first = np.isin(pairs.question, questions[order < len(questions) // 2])
    total = 0.0
    for half in (first, ~first):
        total += accuracy(pairs.only(half), best_epsilon(pairs.only(~half)))
    return Figure(total / len(questions), n=len(questions))


def differences(rows: data.Rows, scores: data.Floats) -> Differences:
    """All pairs of answers to the same question."""
    pairs = pairs_of(rows)
    question = rows.questions[pairs.first]
    apart = scores[pairs.first] - scores[pairs.second]
    people = np.sign(pairs.leads)
    weight = 1 / np.bincount(question, minlength=1)[question]
    return Differences(question, people == 0, people * apart > 0, np.abs(apart), weight)


def index_pairs(starts: data.Indices, sizes: data.Indices) -> Iterator[tuple[data.Indices, data.Indices]]:
    """Indices of the first and second answers of all pairs within groups, group size by group size."""
    for size in np.unique(sizes[sizes > 1]):
        first, second = np.triu_indices(int(size), 1)
        begin = starts[sizes == size]
        yield (begin[:, None] + first).ravel(), (begin[:, None] + second).ravel()


def accuracy(pairs: Differences, epsilon: float) -> float:
    """The sum over questions of the share of pairs that are right when differences up to epsilon are ties."""
    return float(np.sum(pairs.weight * right(pairs, epsilon)))


def right(pairs: Differences, epsilon: float) -> data.Mask:
    """Which pairs are right when differences up to epsilon are ties."""
    return np.where(pairs.gap <= epsilon * (1 + EPSILON_ROUNDING), pairs.tied, pairs.right)


def best_epsilon(pairs: Differences) -> float:
    """The smallest of 0 and all differences at which `accuracy` is highest."""
    order = np.argsort(pairs.gap, kind="stable")
    gap = pairs.gap[order]
    gain = np.cumsum((pairs.weight * (pairs.tied.astype(float) - pairs.right))[order])
    last = np.append(gap[1:] > gap[:-1] * (1 + EPSILON_ROUNDING), True)
    candidates, gains = gap[last], gain[last]
    # Ties at 0 are there with every epsilon; they are the start, not a gain.
    begin = float(gains[0]) if candidates[0] == 0 else 0.0
    best = int(np.argmax(gains >= gains.max() - EPSILON_ROUNDING * max(1.0, len(gap))))
    if gains[best] <= begin + EPSILON_ROUNDING * max(1.0, len(gap)):
        return 0.0
    return float(candidates[best])


# The win-lose match of KPQA's Table 7 (002, section 5.4 "Rank-Pair"): clear cases only.
#
# `rank_match(judged, metric, gap=2.0) -> RankMatch`.
#
# Pairs of answers to the same question whose human scores differ by at least `gap` on their scale; the
# share of them that the metric orders as people do. Pairs are joined by question, never by row. The paper
# says "greater than 2" and counts what is at least 2 (93 pairs on MS-MARCO). Human means are sums of thirds
# and fifths, so a gap that is short by rounding counts. Metric scores closer than 1e-8 are a tie, and a tie
# is no match.

TIE = 1e-8
GAP_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class RankMatch:
    """The share of pairs that match (n of the figure: pairs), and the numbers behind it."""

    figure: Figure
    gap: float
    pairs: int
    match: int
    metric_ties: int

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: the figure, `gap`, `pairs`, `match`, `metric_ties`."""
        return {
            **self.figure.as_json(),
            "gap": self.gap,
            "pairs": self.pairs,
            "match": self.match,
            "metric_ties": self.metric_ties,
        }

    def within(self, ci: tuple[float, float] | None) -> "RankMatch":
        """The same with an interval."""
        return replace(self, figure=replace(self.figure, ci=ci))


def rank_match(answers: data.ScoredAnswers, metric: str, gap: float = 2.0) -> RankMatch:
    """How often the metric agrees where people see a clear difference."""
    rows, scores = data.rows_of(answers, [metric]).of(metric)
    return matched(rows, scores, gap)


def matched(rows: data.Rows, scores: data.Floats, gap: float = 2.0) -> RankMatch:
    """`rank_match` of (n,) scores, none of them missing."""
    question_matches = matches(rows, scores, gap)
    pairs, match, ties = (
        len(question_matches.question),
        int(question_matches.match.sum()),
        int(question_matches.tie.sum()),
    )
    few = "only one pair of answers to a question is" if pairs else "no two answers to a question are"
    reason = f"not defined: {few} {gap:g} apart for people"
    value = Figure(match / pairs, n=pairs) if pairs > 1 else Figure(None, reason, n=pairs)
    return RankMatch(value, gap, pairs, match, ties)


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The clear pairs: their question, whether the metric ties them, whether it orders them as people do."""

    question: data.Indices
    tie: data.Mask
    match: data.Mask


def matches(rows: data.Rows, scores: data.Floats, gap: float = 2.0) -> Matches:
    """The pairs of answers to a question that are at least `gap` apart for people."""
    pairs = pairs_of(rows)
    clear = np.abs(pairs.leads) >= gap - GAP_ROUNDING
    metric = (scores[pairs.first] - scores[pairs.second])[clear]
    tie = np.abs(metric) < TIE
    return Matches(
        rows.questions[pairs.first[clear]], tie, ~tie & (np.sign(metric) == np.sign(pairs.leads[clear]))
    )


# Statistics that are a mean over questions, taken apart: what each question adds above and below the line.
#
# `shares(statistic, rows, scores, gap) -> (above, below)`: the statistic is sum(above) / sum(below).
# Swapping or resampling whole questions only changes which of these are summed.

PairStatistic = Literal["pair_acc", "acc_eq", "acc_eq_cal", "rank_match"]
PAIR_STATISTICS: tuple[PairStatistic, ...] = get_args(PairStatistic)

Shares = tuple[data.Floats, data.Floats]


def shares(
    statistic: Statistic | PairStatistic | Literal["pa"],
    rows: data.Rows,
    scores: data.Floats,
    gap: float = 2.0,
) -> Shares:
    """(questions) above and below the line. `acc_eq_cal` keeps the epsilon that is best for all answers."""
    starts = data.grouped(rows, "item")[1]
    if statistic == "pearson" or statistic == "spearman" or statistic == "kendall":  # noqa: PLR1714 - for mypy
        return of_values(within(statistic, rows.human, scores[None], starts)[0])
    if statistic == "pair_acc":
        return _pair_acc(rows, scores)
    if statistic == "acc_eq":
        return _acc_eq(rows, scores)
    if statistic == "acc_eq_cal":
        return _calibrated(rows, scores, len(starts))
    if statistic == "rank_match":
        return _matched(rows, scores, gap, len(starts))
    raise MetricError(f"There is no statistic “{statistic}” of the answers to a question.")


def of_values(values: data.Floats) -> Shares:
    """The shares of a mean over the values that are not nan."""
    defined = ~np.isnan(values)
    return np.where(defined, values, 0.0), defined.astype(np.float64)


def _pair_acc(rows: data.Rows, scores: data.Floats) -> Shares:
    counts = count_pairs(rows, snapped(rows, scores))
    ordered = counts.concordant + counts.discordant + counts.tied_metric
    return counts.concordant[0].astype(np.float64), ordered[0].astype(np.float64)


def _acc_eq(rows: data.Rows, scores: data.Floats) -> Shares:
    counts = count_pairs(rows, scores)
    total = counts.total[0]
    good = (counts.concordant + counts.tied_both)[0]
    return good / np.maximum(total, 1), (total > 0).astype(np.float64)


def _calibrated(rows: data.Rows, scores: data.Floats, questions: int) -> Shares:
    pairs = differences(rows, scores)
    if not len(pairs.gap):
        return np.zeros(questions), np.zeros(questions)
    good = pairs.weight * right(pairs, best_epsilon(pairs))
    has_pairs = np.bincount(pairs.question, minlength=questions) > 0
    above = np.bincount(pairs.question, weights=good, minlength=questions).astype(np.float64)
    return above, has_pairs.astype(np.float64)


def _matched(rows: data.Rows, scores: data.Floats, gap: float, questions: int) -> Shares:
    question_matches = matches(rows, scores, gap)
    match = np.bincount(question_matches.question[question_matches.match], minlength=questions)
    pairs = np.bincount(question_matches.question, minlength=questions)
    return match.astype(np.float64), pairs.astype(np.float64)


# Pairs of systems: does a metric order systems as people do, and with the same confidence?
#
# `pa(judged, metric) -> Figure`: the share of pairs of systems whose mean scores the metric orders as
# people do (Kocmi et al. 2021, pairwise accuracy). Pairs that people tie are left out; a tie of the metric
# is a miss.
#
# `spa(judged, metrics, draws, seed) -> {metric: Figure}`: soft pairwise accuracy (Thompson et al. 2024).
# For each pair of systems a paired permutation test on their common questions gives the one-sided p that
# the first is better, once by people and once by the metric; spa is 1 - the mean difference of the two. The
# same draws serve both. Draws as large as what was observed count half, so that it does not matter which
# system is the first. Answers count that have both scores; several answers of a system to a question count
# with their mean.

NOTHING_SHARED = "not defined: no two systems answered the same question"
#: Sums this close are the same, whatever the order of their terms did to the last digits.
CLOSE = 1e-9


def pa(answers: data.ScoredAnswers, metric: str) -> Figure:
    """Pairwise accuracy over systems; `n` counts pairs that people do not tie."""
    rows, scores = data.rows_of(answers, [metric]).of(metric)
    return pairwise_accuracy(rows, scores)


def pairwise_accuracy(rows: data.Rows, scores: data.Floats) -> Figure:
    """`pa` of (n,) scores, none of them missing."""
    if not len(rows):
        return Figure(None, NO_SCORES, n=0)
    human = data.system_means(rows, rows.human)
    if len(human) < 2:
        return Figure(None, ONE_SYSTEM, n=0)
    right, pairs = system_pairs(human, data.system_means(rows, scores)[None])
    if not pairs[0]:
        return Figure(None, SAME_HUMAN_MEANS, n=0)
    if pairs[0] == 1:
        return Figure(None, ONE_PAIR_OF_SYSTEMS, n=1)
    return Figure(float(right[0] / pairs[0]), n=int(pairs[0]))


def system_pairs(human: data.Floats, metric: data.Floats) -> tuple[data.Floats, data.Floats]:
    """For (…, systems) means: pairs that both order the same way, and pairs that people order."""
    first, second = np.triu_indices(metric.shape[-1], 1)
    people = np.sign(human[..., first] - human[..., second])
    same = people * np.sign(metric[..., first] - metric[..., second]) > 0
    ordered = np.broadcast_to(people != 0, same.shape)
    return same.sum(axis=-1).astype(np.float64), ordered.sum(axis=-1).astype(np.float64)


def spa(
    answers: data.ScoredAnswers, metrics: Sequence[str] | None = None, *, draws: int = 1000, seed: int = 0
) -> Mapping[str, Figure]:
    """Soft pairwise accuracy of some metrics (all, if None); `n` counts pairs of systems."""
    rows = data.rows_of(answers, metrics)
    return {metric: soft_accuracy(*rows.of(metric), draws=draws, seed=seed) for metric in rows.names}


def soft_accuracy(rows: data.Rows, scores: data.Floats, *, draws: int = 1000, seed: int = 0) -> Figure:
    """`spa` of (n,) scores, none of them missing."""
    if not len(rows):
        return Figure(None, NO_SCORES, n=0)
    systems = len(rows.system_names)
    if systems < 2:
        return Figure(None, ONE_SYSTEM, n=0)
    human, metric = _paired(rows, rows.human), _paired(rows, scores)
    shared = (human != 0).any(axis=0) | (metric != 0).any(axis=0) | _common(rows)
    if not shared.any():
        return Figure(None, NOTHING_SHARED, n=0)
    apart = np.concatenate([human[:, shared], metric[:, shared]], axis=1)
    scale = np.abs(apart).sum(axis=0)
    apart = apart / np.where(scale > 0, scale, 1.0)
    observed = apart.sum(axis=0)
    above = np.zeros(apart.shape[1])
    for block in blocks(draws):
        total = np.zeros((BLOCK, apart.shape[1]))
        for part, swapped in swaps(seed, "soft pairs", block, len(apart)):
            total += swapped @ apart[part]
        null = (observed - 2 * total)[: min(BLOCK, draws - block * BLOCK)]
        above += (null > observed + CLOSE).sum(axis=0) + 0.5 * (np.abs(null - observed) <= CLOSE).sum(axis=0)
    p = above / draws
    pairs = int(shared.sum())
    return Figure(float(1 - np.abs(p[:pairs] - p[pairs:]).mean()), n=pairs)


def _cells(rows: data.Rows, values: data.Floats) -> data.Floats:
    """(questions, systems) mean values, nan where a system did not answer."""
    shape = (len(rows.question_names), len(rows.system_names))
    cell = rows.questions * shape[1] + rows.systems
    n = np.bincount(cell, minlength=shape[0] * shape[1])
    sums = np.bincount(cell, weights=values, minlength=shape[0] * shape[1])
    means: data.Floats = np.where(n > 0, sums / np.maximum(n, 1), np.nan).reshape(shape)
    return means


def _paired(rows: data.Rows, values: data.Floats) -> data.Floats:
    """(questions, pairs of systems) differences, 0 where one of the two did not answer."""
    cells = _cells(rows, values)
    first, second = np.triu_indices(cells.shape[1], 1)
    return np.nan_to_num(cells[:, first] - cells[:, second])


def _common(rows: data.Rows) -> data.Mask:
    """Which pairs of systems answered a common question."""
    rated = ~np.isnan(_cells(rows, rows.human))
    first, second = np.triu_indices(rated.shape[1], 1)
    return np.asarray((rated[:, first] & rated[:, second]).any(axis=0))
