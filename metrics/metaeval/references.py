"""How many references does a query need? Correlation by their number, and planning from it.

Mitra et al. 2016 ask in section 5 how to trade the number of queries for the number of answers per query. The
curve is measured by leaving references out at random; what follows for another data set is a model of it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrics.metaeval.data import Floats

#: Numbers of references at which the curve is measured, as far as there are as many.
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
NOTHING = "not defined: too few answers, or a single value"
_MIDDLE = (2.5, 97.5)
#: The share of the limit that is near enough.
NEAR = 0.95
_NORMAL = 1.959964
_GRID = 2000


def steps_to(most: int) -> list[int]:
    """The numbers of references of a curve up to the most that there are."""
    return [*(step for step in STEPS if step < most), most]


def summarise(values: Sequence[float]) -> dict[str, Any]:
    """The mean of a correlation over samples of references, and the middle 95 % of the samples."""
    there = [value for value in values if not math.isnan(value)]
    if not there:
        return {"value": None, "middle": None, "n": 0, "reason": NOTHING}
    low, high = np.percentile(there, _MIDDLE)
    return {
        "value": math.fsum(there) / len(there),
        "middle": [float(low), float(high)] if len(there) > 1 else None,
        "n": len(there),
    }


@dataclass(frozen=True, slots=True)
class ReferenceModel:
    """r(k) = limit * sqrt(k rho / (1 + (k - 1) rho)): a score from k references is Spearman-Brown reliable.

    `limit` is the correlation with ever more references, `rho` the reliability of a score from one; with
    rho 1 references do not matter. `error` is the root of the mean squared distance from the points.
    """

    limit: float
    rho: float
    error: float

    def at(self, k: float) -> float:
        """The correlation expected with k references."""
        return self.limit * math.sqrt(k * self.rho / (1 + (k - 1) * self.rho))


def fit(points: Sequence[tuple[int, float]]) -> ReferenceModel | None:
    """The model nearest to (k, r) by least squares; None for fewer than two numbers of references."""
    if len({k for k, _r in points}) < 2:
        return None
    k = np.array([each for each, _r in points], np.float64)
    r = np.array([each for _k, each in points], np.float64)
    rho = np.arange(1, _GRID + 1)[:, None] / _GRID
    shape: Floats = np.sqrt(k * rho / (1 + (k - 1) * rho))
    limits = np.clip((shape * r).sum(axis=1) / (shape * shape).sum(axis=1), -1, 1)
    errors = ((limits[:, None] * shape - r) ** 2).mean(axis=1)
    best = int(np.argmin(errors))
    return ReferenceModel(float(limits[best]), float(rho[best, 0]), math.sqrt(float(errors[best])))


def plan_references(points: Sequence[tuple[int, float]], *, questions: int) -> dict[str, Any]:
    """What a curve says of a new data set: references that are enough, and queries for as much work.

    `enough` is the least k with 95 % of the limit. `trade` holds, for the same number of references in all
    (questions times the most of the curve), the queries that k references each leave, the correlation
    expected and its 95 % interval by Fisher's z with queries for answers, wide on purpose:
    answers to a query go together. `best` is the k whose interval has the highest lower end.
    """
    model = fit(points)
    if model is None:
        return {"enough": None, "reason": "the curve has a single number of references"}
    most = max(k for k, _r in points)
    steps = [*steps_to(most), 2 * most]
    # k rho / (1 + (k - 1) rho) >= NEAR², solved for k.
    enough = math.ceil(NEAR**2 * (1 - model.rho) / (model.rho * (1 - NEAR**2)) - 1e-9)
    trade, reaches = [], {}
    for k in steps:
        asked = questions * most // k
        expected = model.at(k)
        ends = reaches[k] = _fisher(expected, asked)
        trade.append(
            {
                "references": k,
                "questions": asked,
                "expected": expected,
                "ci": list(ends) if ends else None,
            }
        )
    lowest = [(ends[0], -k) for k, ends in reaches.items() if ends]
    return {
        "limit": model.limit,
        "reliability": model.rho,
        "error": model.error,
        "enough": max(enough, 1),
        "best": -max(lowest)[1] if lowest else None,
        "trade": trade,
    }


def _fisher(r: float, n: int) -> tuple[float, float] | None:
    if n < 4 or abs(r) >= 1:
        return None
    middle, reach = math.atanh(r), _NORMAL / math.sqrt(n - 3)
    return math.tanh(middle - reach), math.tanh(middle + reach)
