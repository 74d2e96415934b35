"""One statistic of one metric, made ready to be drawn many times."""

from typing import Protocol

import numpy as np

from metrics.meta.itemwise import shares
from metrics.meta.judged import Floats
from metrics.meta.kernels import STATISTICS
from metrics.meta.pairwise import pairwise
from metrics.meta.resampling import (
    Drawn,
    OfAnswers,
    OfMoments,
    OfQuestions,
    OfSums,
    OfSystems,
    Places,
    correlation,
)
from metrics.meta.rows import Grouping, Indices, Rows, grouped
from metrics.meta.statistics import AnyStatistic
from metrics.meta.weighted import moments, prepared


class Sampled(Protocol):
    """A statistic that waits for samples."""

    def values(self, drawn: Drawn) -> Floats:
        """(samples,) values, nan where a sample has none."""
        ...


def sampled(
    rows: Rows,
    scores: Floats,
    questions: Indices,
    systems: Indices,
    statistic: AnyStatistic,
    grouping: Grouping,
    *,
    sizes: tuple[int, int],
    whole: bool,
    gap: float,
) -> Sampled:
    """(n,) scores of these rows, none of them missing.

    `questions` and `systems` are the rows' numbers among all, of which there are `sizes`; `whole`: only
    questions are drawn.
    """
    if grouping == "system":
        return _of_systems(rows, scores, questions, systems, statistic, sizes[0])
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
        return OfMoments(_by_question(columns, group, len(starts), places.questions, sizes[0]))
    return OfAnswers(prepared(correlation(statistic), human, metric, starts), places)


def _of_systems(
    rows: Rows, scores: Floats, questions: Indices, systems: Indices, statistic: AnyStatistic, size: int
) -> OfSystems:
    columns = np.stack([np.ones(len(rows)), rows.human, scores])
    sums = _by_question(columns, rows.systems, len(rows.system_names), questions, size)
    return OfSystems(statistic, sums, np.unique(systems))


def _by_question(columns: Floats, group: Indices, groups: int, questions: Indices, size: int) -> Floats:
    """(c, n) columns summed by group and question: (c, groups, questions)."""
    cell = group * size + questions
    sums = [np.bincount(cell, weights=column, minlength=groups * size) for column in columns]
    return np.stack(sums).reshape(len(columns), groups, size)
