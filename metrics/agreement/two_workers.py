"""How every two of a few workers rated the items that both rated."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.figure import Figure
from metrics.agreement.kappa import from_table
from metrics.agreement.ratings import Ratings

#: Items whose scores are laid out at a time.
_ITEMS = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """`workers`: codes, the busiest first. `tables[i, j]` (V x V) counts common items by both scores."""

    workers: npt.NDArray[np.int64]
    tables: npt.NDArray[np.int64]

    def common(self, one: int, other: int) -> int:
        """Items that both rated."""
        return int(self.tables[one, other].sum())

    def kappa(self, one: int, other: int) -> Figure:
        """Quadratic kappa (Cohen 1968) of the two on their common items."""
        return from_table(self.tables[one, other], "quadratic")


def busiest(ratings: Ratings, most: int = 30) -> Pairs:
    """The workers with most ratings, in a table of every two. Duplicates must have been removed."""
    n = np.bincount(ratings.workers, minlength=ratings.n_workers)
    workers = np.argsort(-n, kind="stable")[:most]
    workers = workers[n[workers] > 0]
    place = np.full(ratings.n_workers, -1, dtype=np.int64)
    place[workers] = np.arange(len(workers))
    mine = ratings.only(place[ratings.workers] >= 0)
    size, width = ratings.scale.size, len(workers) * ratings.scale.size
    columns = place[mine.workers] * size + (mine.scores.astype(np.int64) - ratings.scale.low)
    rated, items = np.unique(mine.items, return_inverse=True)
    table = np.zeros((width, width))
    for start in range(0, len(rated), _ITEMS):
        rows = (items >= start) & (items < start + _ITEMS)
        given = np.zeros((min(_ITEMS, len(rated) - start), width), dtype=np.float32)
        given[items[rows] - start, columns[rows]] = 1
        table += given.T @ given
    tables = table.reshape(len(workers), size, len(workers), size).transpose(0, 2, 1, 3)
    return Pairs(workers, tables.astype(np.int64))
