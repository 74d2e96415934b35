"""Correlations over many subsets of the same answers at once.

A subset is a row of weights, 0 or 1 for each answer. Sums are weighted, and ranks within a subset follow from
how many of its answers have each value, so nothing is sorted again.
"""

from typing import Literal

import numpy as np
import numpy.typing as npt

from metrics.meta.judged import Floats

Subsets = npt.NDArray[np.float64]
LEAST = 3
_NONE = 1e-12


def over_subsets(x: Floats, y: Floats, subsets: Subsets, statistic: Literal["pearson", "spearman"]) -> Floats:
    """The correlation of two columns (n) over each subset (s, n): (s), nan where it is not defined.

    Answers that lack one of the two scores are in no subset. nan for fewer than three answers, or if one of
    the columns has a single value there.
    """
    there = ~(np.isnan(x) | np.isnan(y))
    x, y, subsets = x[there], y[there], subsets[:, there]
    if not len(x):
        return np.full(len(subsets), np.nan)
    n = subsets.sum(axis=1)
    if statistic == "spearman":
        first, second = _ranks(x, subsets), _ranks(y, subsets)
    else:
        first, second = _unit(x)[None], _unit(y)[None]
    sizes = np.maximum(n, 1)
    first = first - ((subsets * first).sum(axis=1) / sizes)[:, None]
    second = second - ((subsets * second).sum(axis=1) / sizes)[:, None]
    weighted = subsets * first
    together = (weighted * second).sum(axis=1)
    spread_x, spread_y = (weighted * first).sum(axis=1), (subsets * second * second).sum(axis=1)
    good = (n >= LEAST) & (spread_x > _NONE) & (spread_y > _NONE)
    found = np.full(len(subsets), np.nan)
    np.divide(together, np.sqrt(spread_x * spread_y), out=found, where=good)
    return np.asarray(np.clip(found, -1.0, 1.0), np.float64)


def _unit(values: Floats) -> Floats:
    """The values moved and scaled to 0..1, so that no square is too small or too large."""
    width = float(np.ptp(values))
    return np.asarray((values - values.min()) / (width if width > 0 else 1.0), np.float64)


def _ranks(values: Floats, subsets: Subsets) -> Floats:
    """(s, n) ranks from 1 within each subset, ties sharing their mean rank; of others, anything."""
    order = np.argsort(values, kind="stable")
    arranged = values[order]
    starts = np.flatnonzero(np.concatenate(([True], arranged[1:] != arranged[:-1])))
    counts = np.add.reduceat(subsets[:, order], starts, axis=1)
    mean = np.cumsum(counts, axis=1) - (counts - 1) / 2
    place = np.empty(len(values), dtype=np.intp)
    place[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(values))))
    found: Floats = mean[:, place]
    return found
