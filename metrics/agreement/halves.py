"""Two halves of the ratings of each item beside each other.

Both halves are one study with twice as many workers and items: code 2 c belongs to the first half and 2 c + 1
to the second. A filter that runs on it treats the halves, in one pass, as if neither knew of the other.
"""

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from metrics.agreement.groups import stable_order
from metrics.agreement.ratings import Mask, Ratings

_BITS = 63
_LEAST_RANDOM = 12
_MANY = 100_000
_SPLITS_PER_PAIRING = 5


def splits_of_ratings(ratings: Ratings, splits: int, rng: np.random.Generator) -> Iterator[Mask]:
    """For each split, which ratings are in the second half; each half has n // 2 or one more of an item's n.

    The ratings of an item are paired at random, and a coin for each pair says which of the two goes where.
    Of more than 100,000 ratings the pairs are drawn again for every fifth split only.
    """
    keep = _SPLITS_PER_PAIRING if len(ratings) > _MANY else 1
    order = stable_order(ratings.items).astype(np.int32)
    items = ratings.items[order]
    n = np.bincount(items, minlength=ratings.n_items)
    pairs = (n + 1) // 2
    start = (np.cumsum(n) - n).astype(np.int32)[items]
    position = np.arange(len(items), dtype=np.int32) - start
    pair = (np.cumsum(pairs) - pairs).astype(np.int32)[items] + position // 2
    odd = (position % 2).astype(np.bool_)
    bits = int(n.max(initial=1)).bit_length()
    free = min(_BITS - bits - int(ratings.n_items).bit_length(), 32)
    if free < _LEAST_RANDOM:
        raise ValueError("too many items with too many ratings to be split")
    base = items.astype(np.int64)
    base <<= bits + free
    base |= position
    del items, position
    shuffled = order
    for split in range(splits):
        if split % keep == 0:
            keys = rng.integers(0, 1 << free, len(base), dtype=np.int64)
            keys <<= bits
            keys |= base
            keys.sort()
            keys &= (1 << bits) - 1
            keys += start
            shuffled = order[keys]
            del keys
        coins = rng.integers(0, 2, int(pairs.sum()), dtype=np.bool_)
        second = np.empty(len(base), dtype=np.bool_)
        second[shuffled] = coins[pair] ^ odd
        yield second


def doubled(ratings: Ratings, second: Mask) -> Ratings:
    """The two halves beside each other: items and workers are doubled."""
    half = second.astype(np.int32)
    return Ratings(
        ratings.items * 2 + half,
        ratings.workers * 2 + half,
        ratings.scores,
        _DoubledNames(ratings.item_names),
        _DoubledNames(ratings.worker_names),
        ratings.scale,
    )


class _DoubledNames(Sequence[str]):
    """Every name twice, without a copy."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def __len__(self) -> int:
        return 2 * len(self.names)

    @overload
    def __getitem__(self, code: int) -> str: ...
    @overload
    def __getitem__(self, code: slice) -> list[str]: ...
    def __getitem__(self, code: int | slice) -> str | list[str]:
        if isinstance(code, slice):
            return [self.names[each // 2] for each in range(*code.indices(len(self)))]
        if not 0 <= code < len(self):
            raise IndexError(code)
        return self.names[code // 2]
