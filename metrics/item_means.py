"""Means over the answers of each system, with intervals for other items; labels of several workers as one."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrics.agreement.data import generator

NO_ANSWERS, ONE_ITEM, NOT_ASKED = "no answers", "one item", "no interval was asked for (0 replicates)"
COVERAGE = 0.95
#: An interval needs this share of the samples to have an answer of the system.
_DEFINED = 0.95


@dataclass(frozen=True, slots=True)
class ItemMean:
    """A mean over answers, or None with its reason; `low` and `high` at 95 %."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """As JSON has it, with the reason for what is null."""
        fields: dict[str, Any] = {"value": self.value, "low": self.low, "high": self.high}
        return fields | ({"reason": self.reason} if self.reason else {})


def majority(labels: Sequence[int]) -> int:
    """The label that most gave; of those that equally many gave the lowest."""
    counts = Counter(labels)
    most = max(counts.values())
    return min(label for label, count in counts.items() if count == most)


def mean_by_system(
    values: Mapping[tuple[str, str], float | None],
    *,
    replicates: int,
    seed: int,
    within: tuple[float, float] | None = None,
) -> dict[str, ItemMean]:
    """The mean of each system over its answers, by (item, system); None is left out of the mean.

    Items are drawn with replacement, the same ones for all systems. Means are cut to `within`.
    """
    items = sorted({item for item, _ in values})
    place = {item: number for number, item in enumerate(items)}
    systems = sorted({system for _, system in values})
    rng = generator(seed, "items")
    several = len(items) > 1 and replicates > 0
    share = np.full(len(items), 1 / len(items)) if items else np.ones(1)
    item_counts = rng.multinomial(len(items), share, size=replicates).astype(np.float64) if several else None
    means = {}
    for system in systems:
        system_values = [
            (place[item], value)
            for (item, of), value in sorted(values.items(), key=lambda entry: entry[0])
            if of == system and value is not None
        ]
        places = np.array([number for number, _ in system_values], dtype=np.int64)
        numbers = np.array([value for _, value in system_values], dtype=np.float64)
        means[system] = _mean(places, numbers, item_counts, replicates, within)
    return means


def _mean(
    places: Any, numbers: Any, item_counts: Any, replicates: int, within: tuple[float, float] | None
) -> ItemMean:
    if not len(numbers):
        return ItemMean(None, reason=NO_ANSWERS)
    low, high = within or (-np.inf, np.inf)
    value = float(np.clip(numbers.mean(), low, high))
    if item_counts is None:
        return ItemMean(value, reason=ONE_ITEM if replicates else NOT_ASKED)
    weights = item_counts[:, places]
    total = weights.sum(axis=1)
    defined = total > 0
    if defined.sum() < _DEFINED * replicates:
        missing = replicates - int(defined.sum())
        return ItemMean(value, reason=f"not defined in {missing} of {replicates} replicates")
    means = np.clip((weights[defined] @ numbers) / total[defined], low, high)
    bounds = np.quantile(means, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return ItemMean(value, float(bounds[0]), float(bounds[1]))


def mean_or_none(values: Iterable[float]) -> float | None:
    """The mean, None of nothing."""
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else None
