"""Clipped n-gram matches of pairs of short texts: every token of one compared with every token of the other.

Twenty tokens against twenty are four hundred comparisons, which a processor does 64 at a time where pairs
of about the same lengths lie next to each other: sorting the forty tokens takes longer. A gram of n tokens
matches where n matches follow each other on a diagonal. What a candidate repeats counts only as often as
the reference has it; repeats are few, so they are kept as places and not as a matrix.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.texts import Ids, Places

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]

#: Tokens of the longest text; from about here on sorting is quicker.
LONGEST = 48
#: Pairs whose lengths differ by less lie together: a wider step compares more gaps, a narrower one has fewer
#: pairs at once.
STEP = 12
#: Cells of a block of matrices: bytes that stay in the cache of a core.
CELLS = 1 << 19


def count_matches(ids: Ids, starts: Places, candidates: Places, references: Places, orders: int) -> Ints:
    """Clipped matches (orders, P) of pairs of texts of at most `LONGEST` tokens.

    Text k is `ids[starts[k]:starts[k + 1]]`; pair p are the texts `candidates[p]` and `references[p]`.
    """
    found = np.zeros((orders, len(candidates)), np.int64)
    few = int(ids.max(initial=0)) < np.iinfo(np.uint16).max - 2
    numbers = ids.astype(np.uint16 if few else np.uint32)  # half the bytes to compare
    lengths = np.diff(starts)
    for pairs in _alike(lengths[candidates], lengths[references]):
        found[:, pairs] = _count_block(numbers, starts, candidates[pairs], references[pairs], orders)
    return found


def _alike(ours: Places, theirs: Places) -> Iterator[Places]:
    """Pairs by their lengths, as many at a time as a block holds; those with an empty text are in none."""
    kind = -(-ours // STEP) * (LONGEST + 1) - (-theirs // STEP)
    order = np.argsort(kind, kind="stable")
    order = order[(ours[order] > 0) & (theirs[order] > 0)]
    bounds = np.flatnonzero(np.diff(kind[order], prepend=-1, append=-1)).tolist()
    for begin, end in pairwise(bounds):
        pairs = order[begin:end]
        width, height = int(ours[pairs].max()), int(theirs[pairs].max())
        most = max(1, CELLS // (width * max(width, height)))
        for at in range(0, len(pairs), most):
            yield pairs[at : at + most]


def _count_block(
    ids: Numbers,
    starts: Places,
    candidates: Places,
    references: Places,
    orders: int,
) -> npt.NDArray[np.uint8]:
    """Matches (orders, P) of pairs whose matrices fit into one block."""
    gaps = np.iinfo(ids.dtype).max - np.arange(3)  # numbers that no token has: no gap equals another
    ours, theirs = _columns(ids, starts, candidates, gaps[0]), _columns(ids, starts, references, gaps[1])
    same = theirs[:, None] == ours[None]
    repeats = _Repeats(ours, np.where(ours == gaps[0], ours.dtype.type(gaps[2]), ours))
    found = np.zeros((orders, len(candidates)), np.uint8)
    for order in range(orders):
        if order:
            if min(same.shape[:2]) == 1:
                break
            same = same[:-1, :-1] & same[1:, 1:]
        times = np.add.reduce(same.view(np.uint8), axis=0, dtype=np.uint8)
        counted = times > repeats.count_before(order, times.shape)
        np.add.reduce(counted.view(np.uint8), axis=0, dtype=np.uint8, out=found[order])
    return found


def _columns(ids: Numbers, starts: Places, texts: Places, gap: int) -> Numbers:
    """The tokens of each text as a column, with gaps below the shorter ones."""
    begins: Numbers = starts[texts].astype(np.int32 if len(ids) < np.iinfo(np.int32).max // 2 else np.int64)
    sizes = (starts[texts + 1] - starts[texts]).astype(begins.dtype)
    rows = np.arange(int(sizes.max()), dtype=begins.dtype)[:, None]
    columns: Numbers = ids.take(begins + rows, mode="clip")
    columns[rows >= sizes] = gap
    return columns


class _Repeats:
    """How often candidates have a gram before each of its places; `first` and `second` differ in gaps."""

    def __init__(self, first: Numbers, second: Numbers) -> None:
        width, self._columns = first.shape
        earlier = np.tri(width, k=-1, dtype=np.bool_)[:, :, None]
        same = first[:, None] == second[None]
        same &= earlier
        self._row = width * self._columns
        self._single = self._places = np.flatnonzero(same)

    def count_before(self, order: int, shape: tuple[int, ...]) -> npt.NDArray[np.uint8] | int:
        """For each place (row, column) of grams of `order` + 1 tokens; asked for one order after another."""
        if order and len(self._places):
            further = self._places + order * (self._row + self._columns)
            at = np.searchsorted(self._single, further)
            at[at == len(self._single)] = 0
            self._places = self._places[self._single[at] == further]
        if not len(self._places):
            return 0
        cells = self._places // self._row * self._columns + self._places % self._columns
        times = np.bincount(cells, minlength=shape[0] * shape[1])
        return times[: shape[0] * shape[1]].astype(np.uint8).reshape(shape)
