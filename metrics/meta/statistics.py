"""Every statistic by its name: what it says of a metric, whichever module defines it."""

from typing import Literal

from metrics.errors import MetricError
from metrics.figure import Figure
from metrics.meta.correlations import correlation
from metrics.meta.itemwise import PAIR_STATISTICS, PairStatistic
from metrics.meta.kernels import STATISTICS, Statistic
from metrics.meta.matching import matched
from metrics.meta.pairs import accuracy_with_ties, pair_accuracy
from metrics.meta.rows import Grouping, Rows
from metrics.meta.scored_answers import Floats
from metrics.meta.softpairs import pairwise_accuracy
from metrics.meta.ties import calibrated

AnyStatistic = Statistic | PairStatistic | Literal["pa"]


def figure_of(
    statistic: AnyStatistic, grouping: Grouping, rows: Rows, scores: Floats, gap: float = 2.0
) -> Figure:
    """The figure of (n,) scores, none of them missing, in one grouping."""
    check(statistic, grouping)
    if statistic == "pa":
        return pairwise_accuracy(rows, scores)
    if statistic == "pair_acc":
        return pair_accuracy(rows, scores).figure
    if statistic == "acc_eq":
        return accuracy_with_ties(rows, scores)
    if statistic == "acc_eq_cal":
        return calibrated(rows, scores).figure
    if statistic == "rank_match":
        return matched(rows, scores, gap).figure
    return correlation(rows, scores, statistic, grouping)


def correlation_named(statistic: AnyStatistic) -> Statistic | None:
    """The statistic if it is a correlation, else None."""
    return next((known for known in STATISTICS if known == statistic), None)


def check(statistic: str, grouping: str) -> None:
    """MetricError unless the statistic exists in this grouping."""
    if statistic in PAIR_STATISTICS and grouping != "item":
        raise MetricError(
            f"The statistic {statistic} compares answers to one question: its grouping is item."
        )
    if statistic == "pa" and grouping != "system":
        raise MetricError("The statistic pa compares systems: its grouping is system.")
    if statistic not in (*STATISTICS, *PAIR_STATISTICS, "pa"):
        known = ", ".join((*STATISTICS, *PAIR_STATISTICS, "pa"))
        raise MetricError(f"There is no statistic “{statistic}” to compare metrics by; known are: {known}.")
