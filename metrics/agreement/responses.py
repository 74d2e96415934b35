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

from metrics.agreement.counts import Counts, Floats, value_counts
from metrics.agreement.groups import stable_order
from metrics.agreement.ratings import Mask, Ratings

# Items decided and rows looked up at a time: what fits a cache.
ITEMS = 1 << 14
ROWS = 1 << 16
SMALL = 1 << 31

STAYS, GOES, IN_PART = 0, 1, 2

Ties = Literal["submission", "group"]


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What happens to an item's ratings of a value: arrays of shape (values, items).

    A tie group is an item's ratings that lie equally far from its mean, on either side. `group` is the lower
    value of the tie group, `quota` how many of its ratings go, `before` how many go that lie farther out.
    `fate` is STAYS, GOES or IN_PART.
    """

    fate: npt.NDArray[np.int8]
    group: npt.NDArray[np.int8]
    quota: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ZRemoved:
    """What the filter removes.

    `mask` (length n) is True for removed ratings; `capped_items` (length n_items) is True where the cap, or
    the number to keep, saved ratings that were far enough out. `z` and `rank` are made when asked for.
    """

    mask: Mask
    capped_items: Mask
    _ratings: Ratings
    _plan: _Plan
    _ddof: int

    @cached_property
    def z(self) -> Floats:
        """The signed z of each rating inside its item, length n; 0 where the item has no variation."""
        counts = value_counts(self._ratings)
        x = self._ratings.scale.steps
        n, s, q = counts.sum(axis=1), counts @ x, counts @ (x * x)
        several = n > self._ddof
        variance = (n * q - s * s) / np.maximum(1, n * (n - self._ddof))
        scale = np.divide(1.0, np.sqrt(variance), out=np.zeros(len(n)), where=several & (variance > 0))
        mean = s / np.maximum(1, n)
        z: Floats = (self._ratings.scores - mean[self._ratings.items]) * scale[self._ratings.items]
        return z

    @cached_property
    def rank(self) -> npt.NDArray[np.int32]:
        """1 for the first removed rating of an item, 2 for the second …, 0 for those kept; length n."""
        rank = np.zeros(len(self.mask), dtype=np.int32)
        rows = np.flatnonzero(self.mask)
        here = _cells(self._ratings, rows)
        rank[rows] = self._plan.before.take(here) + _place(self._ratings, rows, self._plan) + 1
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
    shape = (ratings.scale.size, ratings.n_items)
    plan = _Plan(
        np.empty(shape, np.int8),
        np.empty(shape, np.int8),
        np.empty(shape, np.int32),
        np.empty(shape, np.int32),
    )
    capped = np.zeros(ratings.n_items, dtype=np.bool_)
    for start in range(0, ratings.n_items, ITEMS):
        block = _transposed(counts[start : start + ITEMS])
        here = slice(start, start + block.shape[1])
        n = block.sum(axis=0, dtype=block.dtype)
        far = _far(block, n, limit, ddof) & (n >= least)
        room = np.maximum(0, n - keep if cap is None else np.minimum(cap, n - keep))
        group, before, size = _tie_groups(block, n, far)
        left = room - before
        quota = size * (size <= left) if ties == "group" else np.clip(left, 0, size)
        plan.group[:, here], plan.quota[:, here], plan.before[:, here] = group, quota, before
        plan.fate[:, here] = (quota > 0).astype(np.int8) + ((quota > 0) & (quota < size))
        capped[here] = (before + size).max(axis=0) > room
    return ZRemoved(_mask(ratings, plan), capped, ratings, plan, ddof)


def _transposed(counts: Counts) -> Counts:
    """The block values x items, in 32 bits where its sums of squares leave room for the exact test."""
    largest = int(counts.sum(axis=1).max(initial=0))
    fits = (len(counts.T) * max(1, largest)) ** 2 * max(1, largest) < SMALL
    return np.ascontiguousarray(counts.T, dtype=np.int32 if fits else np.int64)


def _far(block: Counts, n: Counts, limit: float, ddof: int) -> Mask:
    """Which cells have ratings that lie too far from the mean; `block` is values x items."""
    x = np.arange(len(block), dtype=block.dtype)[:, None]  # the scale moved to 0: the test stays the same
    s, q = (block * x).sum(axis=0, dtype=block.dtype), (block * x * x).sum(axis=0, dtype=block.dtype)
    off, spread = n * x - s, n * q - s * s
    over, under = (Fraction(str(limit)) ** 2).as_integer_ratio()
    largest = max(1, int(n.max(initial=0)))
    bound = (len(block) * largest) ** 2 * largest * max(over, under)
    if bound > np.iinfo(block.dtype).max:
        wide: type = np.int64 if bound < 1 << 62 else object
        off, spread, n = off.astype(wide), spread.astype(wide), n.astype(wide)
    far: Mask = (off * off * ((np.maximum(n, ddof) - ddof) * under) > over * n * spread).astype(np.bool_)
    return far & (block > 0)


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


def _mask(ratings: Ratings, plan: _Plan) -> Mask:
    """The removed rows: whole tie groups by their cell, parts of a group in the order of submission."""
    mask = np.zeros(len(ratings), dtype=np.bool_)
    parts = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(ratings), ROWS):
        rows = slice(start, start + ROWS)
        fate = plan.fate.take(_cells(ratings, rows))
        np.equal(fate, GOES, out=mask[rows])
        parts.append(np.flatnonzero(fate == IN_PART) + start)
    partly = np.concatenate(parts)
    mask[partly] = _place(ratings, partly, plan) < plan.quota.take(_cells(ratings, partly))
    return mask


def _cells(ratings: Ratings, rows: slice | npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Where in a flattened array of shape (values, items) the rows belong."""
    keys = ratings.scores[rows].astype(np.int64)
    keys -= ratings.scale.low
    keys *= ratings.n_items
    keys += ratings.items[rows]
    return keys


def _place(ratings: Ratings, rows: npt.NDArray[np.intp], plan: _Plan) -> npt.NDArray[np.int64]:
    """How many of the given rows, which are in order, come before each in its item's tie group."""
    items = ratings.items[rows].astype(np.int64)
    groups = plan.group.take(_cells(ratings, rows)) + items * ratings.scale.size
    order = stable_order(groups)
    ordered = groups[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    return place
