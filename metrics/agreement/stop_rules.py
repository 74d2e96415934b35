"""More ratings only where they are needed: when an item has enough.

Both rules look at an item's interval, mean +- t sqrt(v / n). Few ratings say little about their own variance,
so it is drawn towards the variance inside all items, as if `prior_df` more ratings had been seen: with sample
variance v0 of n ratings, v = ((n - 1) v0 + prior_df prior_variance) / (n - 1 + prior_df), and t has n - 1 +
prior_df degrees of freedom. Without that, three equal ratings stop an item at once, which costs more errors
than it saves ratings.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.ratings import Mask
from metrics.agreement.sums import Floats, Sums, Whole, divided


@dataclass(frozen=True, slots=True)
class Rule:
    """Ratings per item: never fewer than `least`, never more than `most`; what is taken as known beforehand.

    `prior_variance` is the variance of one rating inside items, `metrics.agreement.sums.pooled_variance` of
    the stage so far.
    """

    prior_variance: float
    least: int = 5
    most: int = 15
    prior_df: float = 4.0
    confidence: float = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class ItemPrecision:
    """Per item: `enough` ratings?, the `half_width` of its interval (nan without ratings), those `missing`.

    `missing` fills up to `least` at once and then asks one by one.
    """

    enough: Mask
    half_width: Floats
    missing: Whole


def precision(sums: Sums, rule: Rule, *, half_width: float = 0.8) -> ItemPrecision:
    """Enough when the mean is known to +- `half_width`."""
    widths = half_widths(sums, rule)
    return _standing(sums, rule, widths, widths <= half_width)


def decision(sums: Sums, rule: Rule, *, threshold: float = 3.5) -> ItemPrecision:
    """Enough when the interval lies on one side of `threshold`: is the answer at least that good or not?"""
    widths = half_widths(sums, rule)
    return _standing(sums, rule, widths, np.abs(sums.mean - threshold) > widths)


def half_widths(sums: Sums, rule: Rule) -> Floats:
    """Half the width of each item's interval, in points of the scale; nan without ratings."""
    from scipy.special import stdtrit  # noqa: PLC0415 - 0.1 s that nobody pays who does not ask

    freedom = sums.n - 1 + rule.prior_df
    spread = np.nan_to_num(sums.squares_within) + rule.prior_df * rule.prior_variance
    variance_of_mean = divided(divided(spread, freedom), sums.n)
    kinds, which = np.unique(freedom, return_inverse=True)
    quantiles: npt.NDArray[np.float64] = stdtrit(np.maximum(kinds, 1), 0.5 + rule.confidence / 2)
    return quantiles[which] * np.sqrt(variance_of_mean)


def _standing(sums: Sums, rule: Rule, widths: Floats, sure: Mask) -> ItemPrecision:
    enough = ((sums.n >= rule.least) & sure) | (sums.n >= rule.most)
    missing = np.where(enough, 0, np.maximum(rule.least - sums.n, 1)).astype(np.int64)
    return ItemPrecision(enough, widths, missing)
