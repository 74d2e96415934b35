"""How many judgments a study needs: before money is spent.

Words: `reliability` is the squared correlation of a mean with what endless raters would say; power is the
chance that a study of this size finds a difference that is there.
"""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from metrics.agreement.figure import NO_PAIRS, Figure
from metrics.agreement.sums import Sums, pooled_variance

NO_AGREEMENT = "not defined: without agreement above chance no number of ratings helps"
NO_COMMON_ITEMS = "not defined: fewer than two items have ratings for both systems"
MOST_ITEMS = 10_000_000
"""Beyond this the answer is None: no study."""
TOO_MANY = f"not found: more than {MOST_ITEMS:,} items"


@dataclass(frozen=True, slots=True)
class Step:
    """Reliability of the mean of n ratings per item."""

    n: int
    reliability: Figure


def spearman_brown(one: float, n: float) -> float:
    """Reliability of the mean of n ratings when one rating has reliability `one` (Spearman 1910, Brown 1910).

    n may be a fraction: half a study has n = 0.5.
    """
    return n * one / (1 + (n - 1) * one)


def reliability_table(one: float | None, most: int = 20) -> list[Step]:
    """Reliability at n = 1 ... `most`, from the agreement of single ratings: interval alpha or ICC(1)."""
    if one is None or one <= 0:
        return [Step(n, Figure(None, NO_AGREEMENT)) for n in range(1, most + 1)]
    return [Step(n, Figure(spearman_brown(one, n))) for n in range(1, most + 1)]


def ratings_for(one: float | None, reliability: float) -> Figure:
    """Ratings per item (a whole number) until the mean has this reliability; 0 < reliability < 1."""
    if one is None or one <= 0:
        return Figure(None, NO_AGREEMENT)
    if one >= 1:
        return Figure(1.0)
    needed = reliability * (1 - one) / (one * (1 - reliability))
    return Figure(float(max(1, ceil(needed - 1e-9))))


@dataclass(frozen=True, slots=True)
class ScoreSpread:
    """What the size of a comparison depends on, in points of the scale.

    `sd_difference`: how much the true difference of two systems varies from item to item. `sd_rating`: how
    much ratings of the same answer vary (the root of the pooled variance inside items).
    """

    sd_difference: float
    sd_rating: float


def variance_of_difference(spread: ScoreSpread, ratings: int) -> float:
    """Variance of one item's difference of two means of so many ratings each."""
    return spread.sd_difference**2 + 2 * spread.sd_rating**2 / ratings


def items_for_systems(
    spread: ScoreSpread, *, ratings: int, difference: float, power: float = 0.8, level: float = 0.05
) -> int:
    """Items that two systems must both answer so that a true difference of their means is found.

    N = (z(1 - level/2) + z(power))^2 (sd_difference^2 + 2 sd_rating^2 / ratings) / difference^2, the paired
    z test, two-sided. Add items, not raters: raters lower only the second term. ValueError without a
    difference, a rating, or a power and level between 0 and 1.
    """
    if difference == 0 or ratings < 1 or not (0 < level < power < 1):
        raise ValueError("needs a difference, at least one rating, and 0 < level < power < 1")
    from scipy.special import ndtri  # noqa: PLC0415 - only planning needs scipy

    reach = float(ndtri(1 - level / 2) + ndtri(power))
    return max(2, ceil(reach**2 * variance_of_difference(spread, ratings) / difference**2 - 1e-9))


def power_for_systems(
    spread: ScoreSpread, *, items: int, ratings: int, difference: float, level: float = 0.05
) -> float:
    """Chance that so many items show a true difference of two systems: the paired z test, two-sided."""
    from scipy.special import ndtr, ndtri  # noqa: PLC0415 - only planning needs scipy

    critical = float(ndtri(1 - level / 2))
    shift = abs(difference) * sqrt(items / variance_of_difference(spread, ratings))
    return float(ndtr(shift - critical) + ndtr(-shift - critical))


def spread_of(first: Sums, second: Sums) -> ScoreSpread | Figure:
    """The spread from a pilot: sums of two systems, row i of both being the same question.

    The variance of the observed differences holds the raters' scatter too; that part is subtracted (not below
    0).
    """
    both = (first.n > 0) & (second.n > 0)
    if int(both.sum()) < 2:
        return Figure(None, NO_COMMON_ITEMS)
    together = Sums(
        np.concatenate([first.n, second.n]),
        np.concatenate([first.s, second.s]),
        np.concatenate([first.q, second.q]),
    )
    rating = pooled_variance(together)
    if rating is None:
        return Figure(None, NO_PAIRS)
    differences = first.mean[both] - second.mean[both]
    scatter = rating * float((1 / first.n[both] + 1 / second.n[both]).mean())
    return ScoreSpread(sqrt(max(float(differences.var(ddof=1)) - scatter, 0.0)), sqrt(rating))
