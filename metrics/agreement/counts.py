"""From ratings to how often each item got each score: what agreement and filters work on."""

from collections.abc import Iterator
from typing import overload

import numpy as np
import numpy.typing as npt

from metrics.agreement.ratings import Ratings

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Rows whose keys lie in memory at a time; more when the result itself is larger than that.
ROWS = 1 << 17


def cells(ratings: Ratings, rows: slice) -> Counts:
    """The cell of each rating in the flattened item x value matrix, for a slice of rows."""
    keys = ratings.items[rows].astype(np.int64)
    keys *= ratings.scale.size
    keys += ratings.scores[rows]
    keys -= ratings.scale.low
    return keys


def own_cells(ratings: Ratings, rows: slice) -> Counts:
    """The cell of each rating in the flattened worker x value matrix, for a slice of rows."""
    keys = ratings.workers[rows].astype(np.int64)
    keys *= ratings.scale.size
    keys += ratings.scores[rows]
    keys -= ratings.scale.low
    return keys


def portions(ratings: Ratings, size: int) -> Iterator[slice]:
    """Slices of rows to add up into `size` numbers: so large that the adding does not take longest."""
    step = max(ROWS, size)
    return (slice(start, start + step) for start in range(0, len(ratings), step))


def checked(ratings: Ratings) -> Ratings:
    """The ratings themselves, when every score lies on their scale; ValueError otherwise."""
    if len(ratings):
        low, high = int(ratings.scores.min()), int(ratings.scores.max())
        if low < ratings.scale.low or high > ratings.scale.high:
            outside = low if low < ratings.scale.low else high
            raise ValueError(
                f"a score of {ratings.scale.text(outside)} is not on the scale {ratings.scale.description}"
            )
    return ratings


@overload
def value_counts(ratings: Ratings) -> Counts: ...
@overload
def value_counts(ratings: Ratings, weights: npt.ArrayLike) -> Floats: ...
def value_counts(ratings: Ratings, weights: npt.ArrayLike | None = None) -> Counts | Floats:
    """How often each item got each score: shape (n_items, scale.size), int64, or float64 with weights.

    `weights` has one number for each rating. Items without a rating have a row of zeros. ValueError for
    scores outside the scale.
    """
    checked(ratings)
    given = None if weights is None else np.asarray(weights, dtype=np.float64)
    if given is not None and given.shape != (len(ratings),):
        raise ValueError("there must be as many weights as ratings")
    size = ratings.n_items * ratings.scale.size
    shape = (ratings.n_items, ratings.scale.size)
    if given is None:
        counts = np.zeros(size, dtype=np.int64)
        for rows in portions(ratings, size):
            counts += np.bincount(cells(ratings, rows), minlength=size)
        return counts.reshape(shape)
    weighted = np.zeros(size)
    for rows in portions(ratings, size):
        weighted += np.bincount(cells(ratings, rows), given[rows], size)
    return weighted.reshape(shape)
