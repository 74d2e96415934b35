"""Random halves: of the items, and of the ratings of each item."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.ratings import Mask, Ratings

_BITS = 63
_LEAST_RANDOM = 12


def by_item(ratings: Ratings) -> tuple[Ratings, npt.NDArray[np.int64]]:
    """The ratings ordered by item, inside an item still by submission; and the row that each came from."""
    order = np.argsort(ratings.items, kind="stable")
    return (
        Ratings(
            ratings.items[order],
            ratings.workers[order],
            ratings.scores[order],
            ratings.item_names,
            ratings.worker_names,
            ratings.scale,
        ),
        order,
    )


def halves_of_items(ratings: Ratings, rng: np.random.Generator) -> Mask:
    """For each rating whether its item is in the first half; half of the items that have ratings are."""
    rated = np.flatnonzero(np.bincount(ratings.items, minlength=ratings.n_items))
    first = np.zeros(ratings.n_items, dtype=np.bool_)
    first[rng.permutation(rated)[: len(rated) // 2]] = True
    return first[ratings.items]


@dataclass(frozen=True, slots=True, eq=False)
class Splitter:
    """Splits the ratings of every item at random into two halves, as often as one likes.

    `ratings` must be ordered by item. Where an item has an odd number, chance says which half gets one more.
    """

    ratings: Ratings

    def masks(self, rng: np.random.Generator, splits: int) -> Iterator[Mask]:
        """For each split, which ratings are in the first half."""
        items = self.ratings.items
        n = np.bincount(items, minlength=self.ratings.n_items)
        starts = np.cumsum(n) - n
        start = starts[items]
        position = np.arange(len(items)) - start
        bits = int(n.max(initial=1)).bit_length()
        random_bits = min(_BITS - bits - int(self.ratings.n_items).bit_length(), 32)
        if random_bits < _LEAST_RANDOM:
            raise ValueError("too many items with too many ratings to be split")
        base = (items.astype(np.int64) << (bits + random_bits)) | position
        for _ in range(splits):
            keys = base | (rng.integers(0, 1 << random_bits, len(items), dtype=np.int64) << bits)
            keys.sort()
            shuffled = (keys & ((1 << bits) - 1)) + start
            size = n // 2 + (n % 2) * rng.integers(0, 2, len(n))
            mask = np.empty(len(items), dtype=np.bool_)
            mask[shuffled] = position < size[items]
            yield mask
