"""One statistic of one metric, made ready to be drawn many times."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from metrics.meta.itemwise import shares
from metrics.meta.kernels import STATISTICS
from metrics.meta.pairwise import pairwise
from metrics.meta.resampling import (
    OfAnswers,
    OfMoments,
    OfQuestions,
    OfSums,
    OfSystems,
    Places,
    SampleCounts,
    correlation,
)
from metrics.meta.rows import Grouping, Indices, Rows, grouped
from metrics.meta.scored_answers import Floats
from metrics.meta.statistics import AnyStatistic
from metrics.meta.weighted_correlations import moments, prepared


class SampledStatistic(Protocol):
    """A statistic that waits for samples."""

    def values(self, drawn: SampleCounts) -> Floats:
        """(samples,) values, nan where a sample has none."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MetricScores:
    """(n,) scores of one metric for these rows, none of them missing.

    `questions` and `systems` are the rows' numbers among all that are drawn from, which are `drawn_from`
    questions.
    """

    rows: Rows
    scores: Floats
    questions: Indices
    systems: Indices
    drawn_from: int


def scored(rows: Rows, places: Indices, own: Rows, scores: Floats) -> MetricScores:
    """Scores of some of the rows, by their places."""
    return MetricScores(own, scores, rows.questions[places], rows.systems[places], len(rows.question_names))


def sampled(
    given: MetricScores, statistic: AnyStatistic, grouping: Grouping, *, whole: bool, gap: float
) -> SampledStatistic:
    """A statistic of these scores; `whole`: only questions are drawn."""
    rows, scores, questions, systems = given.rows, given.scores, given.questions, given.systems
    if grouping == "system":
        return _of_systems(given, statistic)
    order, starts = grouped(rows, grouping)
    places = Places(questions[order], systems[order], starts)
    human, metric = rows.human[order], scores[order]
    if grouping == "item":
        if whole:
            return OfSums(*shares(statistic, rows, scores, gap), questions[starts])
        if statistic in STATISTICS:
            return OfQuestions(prepared(correlation(statistic), human, metric, starts), None, places)
        return OfQuestions(None, pairwise(statistic, rows, scores, gap), places)
    if whole and statistic == "pearson":
        columns = np.concatenate([np.ones((1, len(order))), moments(human, metric, starts)])
        group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
        return OfMoments(_by_question(columns, group, len(starts), places.questions, given.drawn_from))
    return OfAnswers(prepared(correlation(statistic), human, metric, starts), places)


def _of_systems(given: MetricScores, statistic: AnyStatistic) -> OfSystems:
    rows = given.rows
    columns = np.stack([np.ones(len(rows)), rows.human, given.scores])
    sums = _by_question(columns, rows.systems, len(rows.system_names), given.questions, given.drawn_from)
    return OfSystems(statistic, sums, np.unique(given.systems))


def _by_question(columns: Floats, group: Indices, groups: int, questions: Indices, size: int) -> Floats:
    """(c, n) columns summed by group and question: (c, groups, questions)."""
    cell = group * size + questions
    sums = [np.bincount(cell, weights=column, minlength=groups * size) for column in columns]
    return np.stack(sums).astype(np.float64).reshape(len(columns), groups, size)
