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

from collections.abc import Mapping, Sequence

import numpy as np

from metrics.figure import Figure
from metrics.meta.kernels import STATISTICS, Statistic, within
from metrics.meta.rows import GROUPINGS, Grouping, Rows, grouped, rows_of, system_means
from metrics.meta.scored_answers import Floats, ScoredAnswers

Key = tuple[str, Statistic, Grouping]

NO_SCORES = "not defined: no answer has both a human score and a score of this metric"
ONE_ANSWER = "not defined: only one answer has both a human score and a score of this metric"
SAME_HUMAN = "not defined: all human scores are the same"
SAME_METRIC = "not defined: all scores of this metric are the same"
NO_QUESTION = "not defined: no question has answers that differ both for people and for this metric"
NO_SYSTEM = "not defined: no system has answers that differ both for people and for this metric"
ONE_SYSTEM = "not defined: there is only one system"
SAME_HUMAN_MEANS = "not defined: the mean human scores of all systems are the same"
SAME_METRIC_MEANS = "not defined: the mean scores of this metric are the same for all systems"


def correlate(judged: ScoredAnswers, metric: str, statistic: Statistic, grouping: Grouping) -> Figure:
    """The correlation of one metric with the human scores; MetricError if there is no such metric."""
    return correlations(judged, [metric], [statistic], [grouping])[metric, statistic, grouping]


def correlations(
    judged: ScoredAnswers,
    metrics: Sequence[str] | None = None,
    statistics: Sequence[Statistic] = STATISTICS,
    groupings: Sequence[Grouping] = GROUPINGS,
) -> Mapping[Key, Figure]:
    """The correlations of many metrics (of all, if None); answers are put in order only once."""
    rows = rows_of(judged, metrics)
    found: dict[Key, Figure] = {}
    for metric in rows.names:
        own, scores = rows.of(metric)
        for grouping in groupings:
            for statistic in statistics:
                found[metric, statistic, grouping] = correlation(own, scores, statistic, grouping)
    return found


def correlation(rows: Rows, scores: Floats, statistic: Statistic, grouping: Grouping) -> Figure:
    """The correlation of (n,) scores, none of them missing, with the human scores of these rows."""
    if not len(rows):
        return Figure(None, NO_SCORES, n=0)
    if grouping == "system":
        return _of_systems(rows, scores, statistic)
    order, starts = grouped(rows, grouping)
    values = within(statistic, rows.human[order], scores[order][None], starts)[0]
    if grouping == "global":
        if np.isnan(values[0]):
            return Figure(None, _why(rows.human, scores, ONE_ANSWER, SAME_HUMAN, SAME_METRIC), n=len(rows))
        return Figure(float(values[0]), n=len(rows))
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Figure(None, NO_QUESTION if grouping == "item" else NO_SYSTEM, n=0)
    return Figure(float(defined.mean()), n=len(defined))


def _of_systems(rows: Rows, scores: Floats, statistic: Statistic) -> Figure:
    human, metric = system_means(rows, rows.human), system_means(rows, scores)
    value = within(statistic, human, metric[None], np.zeros(1, np.int64))[0, 0]
    if np.isnan(value):
        reason = _why(human, metric, ONE_SYSTEM, SAME_HUMAN_MEANS, SAME_METRIC_MEANS)
        return Figure(None, reason, n=len(human))
    return Figure(float(value), n=len(human))


def _why(human: Floats, scores: Floats, one: str, same_human: str, same_metric: str) -> str:
    """Why there is no correlation of these values."""
    if len(human) < 2:
        return one
    return same_human if human.min() == human.max() else same_metric
