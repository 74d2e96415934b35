"""Distributions of labels as targets, and how far predicted distributions are from them.

Leonardelli et al. 2025, LeWiDi-2025; Uma et al. 2021, Learning from Disagreement. Logarithms are natural, but
for the Jensen-Shannon divergence, which is in bits. Arrays are (items, labels).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: A predicted probability is at least this under a logarithm.
CLIP = 1e-12
_SUM = 1e-6
ONE_RATING, NO_RATINGS = "one rating", "no ratings"


@dataclass(frozen=True, slots=True, eq=False)
class SoftScores:
    """Figures of each item, nan where they are undefined; `reasons` by item."""

    cross_entropy: Floats
    manhattan: Floats
    wasserstein: Floats
    wasserstein_normalised: Floats
    kl: Floats
    jensen_shannon: Floats
    reasons: tuple[str, ...]


def targets(counts: npt.ArrayLike, smoothing: float = 0.0) -> Floats:
    """Shares of the labels of each item; nan without ratings. `smoothing` is added to each count."""
    table = np.asarray(counts, dtype=np.float64)
    n = table.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Floats = (table + smoothing) / (n + smoothing * table.shape[1])
    shares[n[:, 0] == 0] = np.nan
    return shares


def entropies(counts: npt.ArrayLike, smoothing: float = 0.0) -> tuple[Floats, Floats]:
    """Entropy of the labels of each item, and by that of equal shares; nan below two ratings."""
    table = np.asarray(counts, dtype=np.float64)
    shares = targets(table, smoothing)
    with np.errstate(invalid="ignore", divide="ignore"):
        terms = np.where(shares > 0, shares * np.log(shares), 0.0)
    entropy: Floats = -terms.sum(axis=1)
    entropy[table.sum(axis=1) < 2] = np.nan
    return entropy, entropy / np.log(table.shape[1])


def soft_scores(
    counts: npt.ArrayLike, predicted: npt.ArrayLike, values: npt.ArrayLike, *, smoothing: float = 0.0
) -> SoftScores:
    """How far predictions are from the labels of each item; `values` are those of ordered labels.

    ValueError where a prediction does not sum to 1.
    """
    shares, p = targets(counts, smoothing), np.asarray(predicted, dtype=np.float64)
    steps = np.diff(np.asarray(values, dtype=np.float64))
    wrong = np.flatnonzero(np.abs(p.sum(axis=1) - 1) > _SUM)
    if len(wrong):
        raise ValueError(f"The prediction of item {wrong[0] + 1} sums to {p[wrong[0]].sum():g}, not to 1.")
    cross_entropy = -(shares * np.log(np.maximum(p, CLIP))).sum(axis=1)
    apart = np.abs(shares.cumsum(axis=1) - p.cumsum(axis=1))[:, :-1]
    wasserstein = (apart * steps).sum(axis=1)
    own = -_sum_logs(shares, shares)
    middle = (shares + p) / 2
    jensen_shannon = (
        _sum_logs(shares, shares) - _sum_logs(shares, middle) + _sum_logs(p, p) - _sum_logs(p, middle)
    ) / (2 * np.log(2))
    empty = np.atleast_1d(np.isnan(shares).any(axis=1))
    return SoftScores(
        cross_entropy,
        np.abs(shares - p).sum(axis=1),
        wasserstein,
        wasserstein / steps.sum(),
        cross_entropy - own,
        np.where(empty, np.nan, np.maximum(jensen_shannon, 0.0)),
        tuple(NO_RATINGS if is_empty else "" for is_empty in empty.tolist()),
    )


def _sum_logs(weights: Floats, of: Floats) -> Floats:
    """Sums of weights times logarithms; what has no weight adds nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        terms = np.where(weights > 0, weights * np.log(of), np.where(np.isnan(weights), np.nan, 0.0))
    total: Floats = terms.sum(axis=1)
    return total


def per_rater(
    human: Sequence[Sequence[float]], predicted: Sequence[Sequence[float]], *, span: float
) -> tuple[float, float]:
    """Of predictions of each rater's own rating: error rate, and distance by the scale's span.

    Both are means in each item, and then over the items that have ratings.
    """
    pairs = [
        (np.asarray(of_item, dtype=np.float64), np.asarray(guess, dtype=np.float64))
        for of_item, guess in zip(human, predicted, strict=True)
        if len(of_item)
    ]
    errors = [float(np.mean(of_item != guess)) for of_item, guess in pairs]
    distances = [float(np.mean(np.abs(of_item - guess))) / span for of_item, guess in pairs]
    return float(np.mean(errors)), float(np.mean(distances))
