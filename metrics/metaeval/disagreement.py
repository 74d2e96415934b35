"""Answers on which a metric and people differ most: Lee et al. 2021, 5.4 "Error analysis".

"We pick 100 error cases from MS-MARCO in the order of a large difference in ranks among 1k samples between
human judgments and BERTScore-KPQA."
"""

from dataclasses import dataclass

import numpy as np

from metrics.errors import MetricError
from metrics.metaeval.correlation import ranks
from metrics.metaeval.data import Floats, ScoredAnswers

#: As many as the paper looks at.
MOST = 100


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An answer by its row, with its ranks from 1 (the lowest score) for people and for the metric.

    `difference` is the metric's rank less that of people: above 0 the metric finds it better than people do.
    """

    row: int
    human: float
    metric: float
    human_rank: float
    metric_rank: float

    @property
    def difference(self) -> float:
        """The metric's rank less that of people."""
        return self.metric_rank - self.human_rank


def rank_values(values: Floats) -> Floats:
    """Ranks from 1, ties sharing their mean rank."""
    found: Floats = ranks(values[None], np.zeros(1, np.int64))[0]
    return found


def largest_differences(judged: ScoredAnswers, metric: str, most: int = MOST) -> list[Disagreement]:
    """The answers with the largest differences in rank, the largest first; equal ones by rows.

    MetricError where there is no such metric.
    """
    if metric not in judged.metrics:
        known = ", ".join(sorted(judged.metrics)) or "none"
        raise MetricError(f"There are no scores of the metric {metric}; there are those of: {known}.")
    values = judged.metrics[metric]
    rows = np.flatnonzero(np.isfinite(judged.human) & np.isfinite(values))
    if not len(rows):
        return []
    human, own = rank_values(judged.human[rows]), rank_values(values[rows])
    order = np.argsort(-np.abs(own - human), kind="stable")[:most]
    return [
        Disagreement(
            int(rows[at]),
            float(judged.human[rows[at]]),
            float(values[rows[at]]),
            float(human[at]),
            float(own[at]),
        )
        for at in order.tolist()
    ]
