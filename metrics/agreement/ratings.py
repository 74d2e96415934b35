"""Ratings as columns: who gave which item which score, in the order of submission."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from metrics.agreement.scale import Scale

Codes = npt.NDArray[np.int32]
Scores = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """n ratings as three columns of length n; row order is the order of submission.

    `items` and `workers` are codes from 0 into `item_names` and `worker_names`; `scores` lie on `scale`,
    counted in its units.
    Attention checks are never among them.
    """

    items: Codes
    workers: Codes
    scores: Scores
    item_names: Sequence[str]
    worker_names: Sequence[str]
    scale: Scale = field(default_factory=Scale)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def n_items(self) -> int:
        """Items that there are, also those without a rating."""
        return len(self.item_names)

    @property
    def n_workers(self) -> int:
        """Workers that there are, also those without a rating."""
        return len(self.worker_names)

    def only(self, mask: Mask | npt.NDArray[np.intp] | slice) -> "Ratings":
        """The rows of a mask, or rows by number; codes and names stay what they are."""
        if isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.all():
            return self  # columns are never changed, so nothing has to be copied
        return Ratings(
            self.items[mask],
            self.workers[mask],
            self.scores[mask],
            self.item_names,
            self.worker_names,
            self.scale,
        )


def ratings_of(rows: Sequence[tuple[str, str, int]], scale: Scale | None = None) -> Ratings:
    """Ratings from a few rows (item, worker, score); names get their codes in order of appearance."""
    items: dict[str, int] = {}
    workers: dict[str, int] = {}
    return Ratings(
        np.array([items.setdefault(item, len(items)) for item, _, _ in rows], dtype=np.int32),
        np.array([workers.setdefault(worker, len(workers)) for _, worker, _ in rows], dtype=np.int32),
        np.array([score for _, _, score in rows], dtype=np.int16),
        list(items),
        list(workers),
        scale or Scale(),
    )


@dataclass(frozen=True, slots=True, eq=False)
class RatingGroups:
    """Which group each rating belongs to: codes (length n) into names; -1 for none."""

    codes: np.ndarray
    names: list[str]
