"""Krippendorff's alpha of labels: categories, numbers, or sets of labels, with intervals by resampling.

Sets by the distances of Passonneau (2006, MASI) or Jaccard, which are not squared. Undefined is None with one
of the reasons below.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from metrics.agreement.alpha import Level, coincidences, distances
from metrics.agreement.data import Floats, added, divided, generator

Codes = npt.NDArray[np.int64]
SetDistance = Literal["masi", "jaccard"]
NO_VARIATION, ONE_RATER, NO_PAIRABLE_ITEMS = "no variation", "one rater", "no pairable items"
ONE_ITEM, NOT_ASKED = "one pairable item", "no interval was asked for (0 replicates)"
COVERAGE = 0.95
#: An interval needs this share of the replicates to have an alpha.
_DEFINED = 0.9
#: Distances of categories (V, V) by how many pairable labels there are of each (V,).
Distances = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """One entry for each label: codes of its item, its worker and its category."""

    items: Codes
    workers: Codes
    categories: Codes
    n_categories: int


@dataclass(frozen=True, slots=True)
class LabelAlpha:
    """alpha = 1 - observed / expected disagreement, or None with its reason; `low` and `high` at 95 %."""

    alpha: float | None
    observed: float | None = None
    expected: float | None = None
    reason: str = ""
    low: float | None = None
    high: float | None = None
    interval_reason: str = ""


def masi_distance(one: frozenset[str], other: frozenset[str]) -> float:
    """1 - m |A and B| / |A or B|; m is 1 for equal sets, 2/3 for a part and its whole, 1/3 for others."""
    if not one and not other:
        return 0.0
    shared = len(one & other)
    weight = 1.0 if one == other else 2 / 3 if one <= other or other <= one else 1 / 3
    return 1 - weight * shared / len(one | other)


def jaccard_distance(one: frozenset[str], other: frozenset[str]) -> float:
    """1 - |A and B| / |A or B|; 0 for two empty sets."""
    return 1 - len(one & other) / len(one | other) if one or other else 0.0


def set_distances(sets: Sequence[frozenset[str]], distance: SetDistance) -> Distances:
    """The distances of sets, which do not depend on how many there are of each."""
    measure = masi_distance if distance == "masi" else jaccard_distance
    table = np.array([[measure(one, other) for other in sets] for one in sets]).reshape(len(sets), len(sets))
    return lambda _: table


def level_distances(values: Sequence[float], level: Level) -> Distances:
    """The distances of values, in rising order, at a level of measurement."""
    numbers = np.asarray(values, dtype=np.float64)
    return lambda marginal: distances(numbers, marginal, level)


def label_alpha(labels: Labels, apart: Distances, *, replicates: int = 0, seed: int = 0) -> LabelAlpha:
    """Alpha with its interval over items and workers, who are drawn independently of each other.

    Pairs of a worker with their own copy say nothing about agreement and do not count, as in
    `metrics.agreement.intervals`.
    """
    if len(np.unique(labels.workers)) < 2:
        return LabelAlpha(None, reason=ONE_RATER, interval_reason=ONE_RATER)
    n_items = int(labels.items.max()) + 1
    cells = labels.items * labels.n_categories + labels.categories
    counts = np.bincount(cells, minlength=n_items * labels.n_categories).reshape(n_items, -1)
    together = coincidences(counts)
    total = float(together.sum())
    if not total:
        return LabelAlpha(None, reason=NO_PAIRABLE_ITEMS, interval_reason=NO_PAIRABLE_ITEMS)
    marginal = together.sum(axis=0)
    table = apart(marginal)
    observed = float((together * table).sum()) / total
    expected = float(marginal @ table @ marginal) / (total * (total - 1))
    if expected <= 0:
        return LabelAlpha(None, observed, expected, NO_VARIATION, interval_reason=NO_VARIATION)
    low, high, reason = _interval(labels, apart, counts, replicates=replicates, seed=seed)
    return LabelAlpha(1 - observed / expected, observed, expected, "", low, high, reason)


def _interval(
    labels: Labels, apart: Distances, counts: npt.NDArray[np.int64], *, replicates: int, seed: int
) -> tuple[float | None, float | None, str]:
    if not replicates:
        return None, None, NOT_ASKED
    pairable = counts.sum(axis=1) > 1
    if pairable.sum() < 2:
        return None, None, ONE_ITEM
    by_replicate = _Samples(labels, pairable).draw(apart, replicates, generator(seed, "labels"))
    alphas = by_replicate[~np.isnan(by_replicate)]
    if len(alphas) < _DEFINED * replicates:
        return None, None, f"not defined in {replicates - len(alphas)} of {replicates} replicates"
    low, high = np.quantile(alphas, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high), ""


class _Samples:
    """Alphas of samples of the items with two labels or more, and of their workers."""

    def __init__(self, labels: Labels, pairable: npt.NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(pairable[labels.items])
        order = rows[np.argsort(labels.items[rows], kind="stable")]
        self.items = np.unique(labels.items[order], return_inverse=True)[1].reshape(-1)
        self.workers = np.unique(labels.workers[order], return_inverse=True)[1].reshape(-1)
        self.categories, self.n_categories = labels.categories[order], labels.n_categories
        self.n_items, self.n_workers = int(self.items.max()) + 1, int(self.workers.max()) + 1
        self.ends = np.concatenate(([0], np.cumsum(np.bincount(self.items))))

    def draw(self, apart: Distances, replicates: int, rng: np.random.Generator) -> Floats:
        alphas = np.full(replicates, np.nan)
        for replicate in range(replicates):
            of_item = rng.multinomial(self.n_items, np.full(self.n_items, 1 / self.n_items)).astype(float)
            of_worker = rng.multinomial(self.n_workers, np.full(self.n_workers, 1 / self.n_workers))
            alphas[replicate] = self._alpha(apart, of_item, of_worker[self.workers].astype(float))
        return alphas

    def _alpha(self, apart: Distances, of_item: Floats, times: Floats) -> float:
        """An item counts as often as its labels, by the mean of the pairs of its different workers.

        Pairs of a worker with themselves have the distance 0, so that only the number of pairs tells.
        """
        from scipy.sparse import csr_array

        size = self.n_categories
        labels = added(self.items, times, self.n_items)
        copies = added(self.items, times * times, self.n_items)
        pairs = labels**2 - copies
        counted = of_item * (pairs > 0)
        weight = np.nan_to_num(divided(counted * labels, pairs))
        shape = (self.n_items, size)
        by_item = csr_array((times, self.categories, self.ends), shape=shape)
        weighted = csr_array((times * weight[self.items], self.categories, self.ends), shape=shape)
        together = (by_item.T @ weighted).toarray()
        marginal = added(self.categories, counted[self.items] * times, size)
        total = float(marginal.sum())
        own = float((counted[self.items] ** 2 * times**2).sum())
        table = apart(marginal)
        expected = float(marginal @ table @ marginal)
        if expected <= 0 or total * total <= own:
            return float("nan")
        return 1 - (float((together * table).sum()) / total) / (expected / (total * total - own))
