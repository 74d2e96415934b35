"""Other agreements corrected for chance, for labels without order; gaps allowed.

All are (observed - expected) / (1 - expected) with the observed share of agreeing pairs, averaged over items
with two ratings or more; they differ in what chance is expected to do. Formulas with missing ratings: Gwet,
Handbook of Inter-Rater Reliability (4th edition, 2014), chapters 2 and 3. The labels are those of the scale,
given or not.
"""

import numpy as np
import numpy.typing as npt

from metrics.agreement.figure import NO_PAIRS, NO_RATINGS, NO_VARIATION, ONE_RATER, Figure
from metrics.agreement.ratings import Ratings
from metrics.agreement.sums import Floats, Whole, divided


def gwet_ac1(counts: Whole) -> Figure:
    """AC1 (Gwet, British Journal of Mathematical and Statistical Psychology 61, 2008), of items by labels.

    Chance: only hard items are guessed. It does not fall when nearly all ratings have one label.
    """
    if not counts.sum():
        return Figure(None, NO_RATINGS)
    rated = counts[counts.sum(axis=1) > 0]
    labels = counts.shape[1]
    shares = (rated / rated.sum(axis=1, keepdims=True)).mean(axis=0)
    expected = float((shares * (1 - shares)).sum()) / (labels - 1)
    return _corrected(counts, expected)


def brennan_prediger(counts: Whole) -> Figure:
    """Kappa of Brennan & Prediger (Educational and Psychological Measurement 41, 1981), of items by labels.

    Chance: every label is equally likely.
    """
    return _corrected(counts, 1 / counts.shape[1])


def conger(ratings: Ratings) -> Figure:
    """Kappa of Conger (Psychological Bulletin 88, 1980): Cohen's kappa for more than two raters.

    Chance: each worker uses the labels as often as in their own ratings. It needs workers who rate many
    items.
    """
    if not len(ratings):
        return Figure(None, NO_RATINGS)
    size = ratings.scale.size
    labels = ratings.scores.astype(np.int64) - ratings.scale.low
    by_worker = _table(ratings.workers, labels, ratings.n_workers, size)
    by_worker = by_worker[by_worker.sum(axis=1) > 0]
    raters = len(by_worker)
    if raters < 2:
        return Figure(None, ONE_RATER)
    shares: Floats = by_worker / by_worker.sum(axis=1, keepdims=True)
    expected = float((shares.mean(axis=0) ** 2 - shares.var(axis=0, ddof=1) / raters).sum())
    return _corrected(_table(ratings.items, labels, ratings.n_items, size), expected)


def _table(rows: npt.NDArray[np.integer], labels: Whole, height: int, width: int) -> Whole:
    cells = rows.astype(np.int64) * width + labels
    return np.bincount(cells, minlength=height * width).reshape(height, width).astype(np.int64)


def _corrected(counts: Whole, expected: float) -> Figure:
    n = counts.sum(axis=1)
    several = n >= 2
    if not several.any():
        return Figure(None, NO_PAIRS if n.any() else NO_RATINGS)
    pairs = (counts * (counts - 1)).sum(axis=1)
    observed = float(divided(pairs, n * (n - 1))[several].mean())
    return Figure((observed - expected) / (1 - expected)) if expected < 1 else Figure(None, NO_VARIATION)
