"""The response z filter: ratings far from their item's mean (KPQA, Lee et al. 2021, section 4.2).

It looks at responses. Jung and Lease (2011) z-score workers, which is another filter. The published rule is
two-sided: one pass, population SD, strictly more than 1, at most five ratings of an item, the largest |z|
first. On noise it manufactures agreement: see docs/quality.md before using it.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from quality.counts import Counts, Floats, cells, value_counts
from quality.grouped import stable_order
from quality.ratings import Mask, Ratings

# Items decided and rows looked up at a time: what fits a cache.
ITEMS = 1 << 13
ROWS = 1 << 16
SMALL = 1 << 31

Ties = Literal["submission", "group"]


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """What happens to each cell of the flattened item x value matrix.

    A tie group is an item's ratings that lie equally far from its mean, on either side. `group` is the first
    cell of the cell's tie group, `size` how many ratings the group has where they are far enough out (else 0),
    `quota` how many of them go, `before` how many go in groups farther out.
    """

    group: npt.NDArray[np.int64]
    size: npt.NDArray[np.int32]
    quota: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]
    z: Floats


@dataclass(frozen=True, eq=False)
class ZRemoved:
    """What the filter removes.

    `mask` (length n) is True for removed ratings; `capped_items` (length n_items) is True where the cap, or the
    number to keep, saved ratings that were far enough out.
    """

    mask: Mask
    capped_items: Mask
    _ratings: Ratings
    _cells: _Cells

    @cached_property
    def z(self) -> Floats:
        """The signed z of every rating inside its item, length n; 0 where the item's ratings are all the same."""
        return self._cells.z[cells(self._ratings, slice(None))]

    @cached_property
    def rank(self) -> npt.NDArray[np.int32]:
        """1 for the first removed rating of an item, 2 for the second …, 0 for those kept; length n."""
        rank = np.zeros(len(self.mask), dtype=np.int32)
        rows = np.flatnonzero(self.mask)
        keys = cells(self._ratings.only(rows), slice(None))
        rank[rows] = self._cells.before[keys] + _place(self._cells.group[keys]) + 1
        return rank


def z_removed(
    ratings: Ratings,
    *,
    limit: float = 1.0,
    cap: int | None = 5,
    ddof: int = 0,
    least: int = 0,
    keep: int = 0,
    ties: Ties = "submission",
) -> ZRemoved:
    """Which ratings lie more than `limit` standard deviations from the mean of their item.

    `cap` bounds how many of an item go, `keep` how many must stay; items with fewer than `least` ratings are
    left alone; `ddof` is 0 for the population SD and 1 for the sample SD. Among ratings equally far out the
    cap takes the first submitted, or with `ties="group"` all of them or none. The defaults are the paper's
    rule; outside that recipe use `limit=2, least=5, keep=3, ties="group"`.

    Decided in whole numbers: candidate iff (n x - s)^2 (n - ddof) > limit^2 n (n q - s^2), with s the sum and
    q the sum of squares of the item's n ratings. Floats decide 16 of the 715 sets of nine ratings wrongly.
    """
    counts = value_counts(ratings)
    items, values = counts.shape
    plan = _Cells(
        np.empty(items * values, dtype=np.int64),
        np.empty(items * values, dtype=np.int32),
        np.empty(items * values, dtype=np.int32),
        np.empty(items * values, dtype=np.int32),
        np.empty(items * values),
    )
    capped = np.zeros(items, dtype=np.bool_)
    for start in range(0, items, ITEMS):
        block = _transposed(counts[start : start + ITEMS])
        n = block.sum(axis=0)
        far, z = _far(block, n, limit, ddof)
        room = np.maximum(0, n - keep if cap is None else np.minimum(cap, n - keep))
        group, before, size = _tie_groups(block, n, far & (n >= least))
        left = room - before
        here = slice(start * values, (start + len(n)) * values)
        plan.group[here] = (group + np.arange(start, start + len(n)) * values).T.ravel()
        plan.size[here] = size.T.ravel()
        plan.quota[here] = (
            np.where(size <= left, size, 0) if ties == "group" else left.clip(0, size)
        ).T.ravel()
        plan.before[here] = before.T.ravel()
        plan.z[here] = z.T.ravel()
        capped[start : start + len(n)] = (before + size).max(axis=0) > room
    return ZRemoved(_mask(ratings, plan), capped, ratings, plan)


def _transposed(counts: Counts) -> Counts:
    """The block values x items, in 32 bits where its sums of squares leave room for the exact test."""
    largest = int(counts.sum(axis=1).max(initial=0))
    fits = (len(counts.T) * max(1, largest)) ** 2 * max(1, largest) < SMALL
    return np.ascontiguousarray(counts.T, dtype=np.int32 if fits else np.int64)


def _far(block: Counts, n: Counts, limit: float, ddof: int) -> tuple[Mask, Floats]:
    """Which cells with ratings lie too far from the mean, and every cell's z; `block` is values x items."""
    x = np.arange(len(block), dtype=block.dtype)[:, None]  # the scale moved to 0: the test stays the same
    s, q = (block * x).sum(axis=0, dtype=block.dtype), (block * x * x).sum(axis=0, dtype=block.dtype)
    off, spread = n * x - s, n * q - s * s
    deviation = np.sqrt(n * spread / np.maximum(1, n - ddof))
    z = off * np.divide(1.0, deviation, out=np.zeros(len(n)), where=deviation > 0)
    over, under = (Fraction(str(limit)) ** 2).as_integer_ratio()
    largest = int(n.max(initial=0))
    bound = (len(block) * largest) ** 2 * max(1, largest) * max(over, under)
    if bound > np.iinfo(block.dtype).max:
        wide: type = np.int64 if bound < 1 << 62 else object
        off, spread, n = off.astype(wide), spread.astype(wide), n.astype(wide)
    far = off * off * ((np.maximum(n, ddof) - ddof) * under) > over * n * spread
    return far.astype(np.bool_) & (block > 0), z


def _tie_groups(block: Counts, n: Counts, far: Mask) -> tuple[Counts, Counts, Counts]:
    """Of each cell: its tie group, how many candidates lie farther out, and how many in its group.

    The last is 0 where the cell itself is no candidate.
    """
    x = np.arange(len(block), dtype=block.dtype)[:, None]
    distance = np.abs(n * x - (block * x).sum(axis=0, dtype=block.dtype))
    candidates = block * far
    group, before, size = np.empty_like(block), np.zeros_like(block), np.zeros_like(block)
    for value in reversed(range(len(block))):
        before += candidates[value] * (distance[value] > distance)
        level = distance[value] == distance
        size += candidates[value] * level
        np.copyto(group, value, where=level)
    size *= far
    return group, before, size


def _mask(ratings: Ratings, plan: _Cells) -> Mask:
    """The removed rows: whole tie groups by their cell, parts of a group in the order of submission."""
    mask = np.zeros(len(ratings), dtype=np.bool_)
    # 0 stays, 1 goes, 2 is for the order of submission to say.
    fate = (plan.quota > 0).astype(np.int8) + ((plan.quota > 0) & (plan.quota < plan.size))
    parts = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(ratings), ROWS):
        rows = slice(start, start + ROWS)
        of_row = fate[cells(ratings, rows)]
        np.equal(of_row, 1, out=mask[rows])
        parts.append(np.flatnonzero(of_row == 2) + start)
    partly = np.concatenate(parts)
    keys = cells(ratings.only(partly), slice(None))
    mask[partly] = _place(plan.group[keys]) < plan.quota[keys]
    return mask


def _place(groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many rows before each row are in the same group."""
    order = stable_order(groups)
    ordered = groups[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    place = np.empty(len(groups), dtype=np.int64)
    place[order] = np.arange(len(groups)) - np.repeat(starts, np.diff(starts, append=len(groups)))
    return place
