"""Two columns of numbers: how they go together, and the p-value that the papers print beside it.

The papers' own tables are of this plain kind: no grouping, and a t-test that takes answers for independent.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrics.figure import Figure
from metrics.meta.kernels import Statistic, within
from metrics.meta.scored_answers import Floats

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
        said = self.figure.as_json()
        del said["ci"]
        return {**said, "p": self.p}


def both(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The pairs in which neither is missing."""
    there = ~(np.isnan(x) | np.isnan(y))
    return x[there], y[there]


def related(x: Floats, y: Floats, statistic: Statistic, *, few: str = FEW) -> CorrelationTest:
    """A correlation of the pairs in which neither is missing; needs three, and two values on each side.

    p is by the t-test with n - 2 degrees of freedom; Kendall's tau has none here.
    """
    x, y = both(x, y)
    if len(x) < LEAST:
        return CorrelationTest(Figure(None, few, n=len(x)), None)
    value = correlation(x, y, statistic)
    if math.isnan(value):
        return CorrelationTest(Figure(None, SAME, n=len(x)), None)
    p = None if statistic == "kendall" else p_of_correlation(value, len(x))
    return CorrelationTest(Figure(value, n=len(x)), p)


def correlation(x: Floats, y: Floats, statistic: Statistic = "pearson") -> float:
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
    from scipy.special import stdtr  # noqa: PLC0415 - takes a while to load

    return float(2 * stdtr(degrees, -abs(t)))
