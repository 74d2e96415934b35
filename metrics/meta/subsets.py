"""Correlations over many subsets of the same answers at once.

A subset says of each answer whether it is in. Sums are weighted by that, and ranks within a subset follow
from how many of its answers have each value, so nothing is sorted again.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from metrics.meta.scored_answers import Floats

Subsets = npt.NDArray[np.bool_]
Which = Literal["pearson", "spearman"]
LEAST = 3
_NONE = 1e-12
#: Subsets times answers that are worked on at once.
_CELLS = 1 << 21


def over_subsets(x: Floats, y: Floats, subsets: Subsets, statistic: Which) -> Floats:
    """The correlation of two columns (n) over each subset (s, n): (s), nan where it is not defined.

    Answers that lack one of the two scores are in no subset. nan for fewer than three answers, or if one of
    the columns has a single value there.
    """
    there = ~(np.isnan(x) | np.isnan(y))
    x, y, subsets = x[there], y[there], subsets[:, there]
    if not len(x):
        return np.full(len(subsets), np.nan)
    width = max(1, _CELLS // len(x))
    slices = [slice(start, start + width) for start in range(0, len(subsets), width)]
    return np.concatenate([_some(x, y, subsets[of].astype(np.float64), statistic) for of in slices])


def _some(x: Floats, y: Floats, weights: Floats, statistic: Which) -> Floats:
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
    found = np.full(len(weights), np.nan)
    np.divide(together, np.sqrt(spread_x * spread_y), out=found, where=good)
    return np.asarray(np.clip(found, -1.0, 1.0), np.float64)


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
    found: Floats = mean[:, place]
    return found
