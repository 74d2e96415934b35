"""What every variance needs of the ratings of an item: how many, their sum, the sum of their squares."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.ratings import Ratings

Whole = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Per item n ratings, their sum s and the sum of their squares q; whole numbers, nothing rounded."""

    n: Whole
    s: Whole
    q: Whole

    @property
    def mean(self) -> Floats:
        """Mean per item; nan where nothing is rated."""
        return divided(self.s, self.n)

    @property
    def squares_within(self) -> Floats:
        """Sum of squared deviations from the item's mean; 0 for a single rating, nan for none."""
        return divided(self.n * self.q - self.s * self.s, self.n)

    @property
    def variance(self) -> Floats:
        """Sample variance per item (n - 1 below the line); nan below two ratings."""
        return divided(self.n * self.q - self.s * self.s, self.n * (self.n - 1))


def sums_of(ratings: Ratings) -> Sums:
    """The sums of every item, also of those without a rating."""
    counts = np.bincount(ratings.items, minlength=ratings.n_items)
    scores = ratings.scores.astype(np.int64)
    # bincount adds in float64, which is exact for whole numbers up to 2**53
    sums = np.bincount(ratings.items, weights=scores, minlength=ratings.n_items)
    squares = np.bincount(ratings.items, weights=scores * scores, minlength=ratings.n_items)
    return Sums(counts.astype(np.int64), sums.astype(np.int64), squares.astype(np.int64))


def pooled_variance(sums: Sums) -> float | None:
    """Variance inside items, over all items with two ratings or more; None if there are none."""
    several = sums.n >= 2
    freedom = int((sums.n[several] - 1).sum())
    return float(sums.squares_within[several].sum()) / freedom if freedom else None


def added(codes: npt.NDArray[np.integer], values: Floats, size: int) -> Floats:
    """Sum of the values of each code from 0 to size - 1."""
    return np.asarray(np.bincount(codes, weights=values, minlength=size), dtype=np.float64)


def divided(above: npt.NDArray[np.number], below: npt.NDArray[np.number]) -> Floats:
    """Quotients; nan where the divisor is zero."""
    quotients = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotients, where=np.asarray(below) != 0)
    return quotients
