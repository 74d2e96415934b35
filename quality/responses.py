"""The response z filter: ratings far from their item's mean (KPQA, Lee et al. 2021, section 4.2).

It looks at responses. Jung and Lease (2011) z-score workers, which is another filter. The published rule is
two-sided: one pass, population SD, strictly more than 1, at most five ratings of an item, the largest |z|
first. On noise it manufactures agreement: see docs/quality.md before using it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from quality.counts import ROWS, Counts, Floats, cells, value_counts
from quality.ratings import Mask, Ratings

# Items decided at a time.
ITEMS = 1 << 15

Ties = Literal["submission", "group"]


@dataclass(frozen=True, slots=True, eq=False)
class ZRemoved:
    """What the filter removes.

    `mask` (length n) is True for removed ratings, `z` (length n) the signed z of every rating inside its item
    (0 where the item's ratings are all the same), `rank` (length n) 1 for the first removed of an item, 2 for
    the second …, 0 for the kept. `capped_items` (length n_items) is True where the cap or the number to keep
    saved ratings that were far enough out.
    """

    mask: Mask
    z: Floats
    rank: npt.NDArray[np.int32]
    capped_items: Mask


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What happens to each cell of the flattened item x value matrix; `capped` has a value per item.

    A tie group is an item's ratings that lie equally far from its mean, on either side. `group` is the first
    cell of the cell's tie group, `quota` how many ratings of the group go (0 where the cell is near the
    mean), `before` how many go in groups farther out.
    """

    group: npt.NDArray[np.int64]
    quota: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]
    z: Floats
    capped: Mask


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
    items, size = counts.shape
    plan = _Plan(
        np.zeros(items * size, dtype=np.int64),
        np.zeros(items * size, dtype=np.int32),
        np.zeros(items * size, dtype=np.int32),
        np.zeros(items * size),
        np.zeros(items, dtype=np.bool_),
    )
    for start in range(0, items, ITEMS):
        block = np.ascontiguousarray(counts[start : start + ITEMS].T)
        n = block.sum(axis=0)
        far, z = _far(block, n, limit, ddof)
        room = np.maximum(0, n - keep if cap is None else np.minimum(cap, n - keep))
        group, before, total = _tie_groups(block, n, far & (n >= least))
        left = room - before
        quota = np.where(total <= left, total, 0) if ties == "group" else np.clip(left, 0, total)
        cells_here = slice(start * size, start * size + block.size)
        plan.group[cells_here] = (group + np.arange(start, start + len(n)) * size).T.ravel()
        plan.quota[cells_here] = quota.T.ravel()
        plan.before[cells_here] = before.T.ravel()
        plan.z[cells_here] = z.T.ravel()
        plan.capped[start : start + len(n)] = (before + total).max(axis=0) > room
    return _carried_out(ratings, plan)


def _far(block: Counts, n: Counts, limit: float, ddof: int) -> tuple[Mask, Floats]:
    """Which cells with ratings lie too far from the mean, and every cell's z; `block` is values x items."""
    x = np.arange(len(block))[:, None]  # the scale moved to 0: neither z nor the test changes
    s, q = (block * x).sum(axis=0), (block * x * x).sum(axis=0)
    off, spread = n * x - s, n * q - s * s
    deviation = np.sqrt(n * spread / np.maximum(1, n - ddof))
    z = np.divide(off, deviation, out=np.zeros(off.shape), where=deviation > 0)
    exact = Fraction(str(limit)) ** 2
    over, under = exact.as_integer_ratio()
    largest = int(n.max(initial=0))
    if (len(block) * largest) ** 2 * max(1, largest) * max(over, under) >= 1 << 62:
        off, spread, n = off.astype(object), spread.astype(object), n.astype(object)
    far = off * off * (np.maximum(n, ddof) - ddof) * under > over * n * spread
    return far.astype(np.bool_) & (block > 0), z


def _tie_groups(block: Counts, n: Counts, far: Mask) -> tuple[Counts, Counts, Counts]:
    """Of each cell: its tie group, how many candidates lie farther out, and how many in its group.

    The last is 0 where the cell itself is no candidate.
    """
    values = len(block)
    x = np.arange(values)[:, None]
    distance = np.abs(n * x - (block * x).sum(axis=0))
    candidates = np.where(far, block, 0)
    group, before, total = np.zeros_like(block), np.zeros_like(block), np.zeros_like(block)
    for value in reversed(range(values)):
        before += candidates[value] * (distance[value] > distance)
        level = distance[value] == distance
        total += candidates[value] * level
        group[level] = value
    total[~far] = 0
    return group, before, total


def _carried_out(ratings: Ratings, plan: _Plan) -> ZRemoved:
    rows_in_all = len(ratings)
    z = np.empty(rows_in_all)
    found: list[npt.NDArray[np.int64]] = []
    for start in range(0, rows_in_all, ROWS):
        keys = cells(ratings, slice(start, start + ROWS))
        z[start : start + ROWS] = plan.z[keys]
        near = np.flatnonzero(plan.quota[keys])
        found.append(plan.group[keys[near]] * rows_in_all + (near + start))
    mask, rank = np.zeros(rows_in_all, dtype=np.bool_), np.zeros(rows_in_all, dtype=np.int32)
    candidates = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    candidates.sort()
    group, rows = np.divmod(candidates, max(1, rows_in_all))
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    place = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
    # One of a group's two cells may be empty; a cell that has ratings holds the group's numbers.
    keys = (
        ratings.items[rows].astype(np.int64) * ratings.scale.size + ratings.scores[rows] - ratings.scale.low
    )
    goes = place < plan.quota[keys]
    mask[rows[goes]] = True
    rank[rows[goes]] = plan.before[keys[goes]] + place[goes] + 1
    return ZRemoved(mask, z, rank, plan.capped)
