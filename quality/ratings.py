"""Ratings as columns: who gave which item which score, in the order of submission."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Scores = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]
Number = int | float | str | Fraction
#: Scores are kept as numbers of 16 bits.
_FARTHEST = 30_000


MOST_SCORES = 1001


@dataclass(frozen=True, slots=True)
class Scale:
    """Scores from `low` to `high`, both of them allowed, counted in units: 2 to 10 of a half for 1 to 5 by
    .5.

    Ratings hold such whole numbers, so that what must be exact is exact; `values` and `texts` are the scores
    as people gave them. Of the units only those that are `every` apart from the lowest are scores.
    """

    low: int = 1
    high: int = 5
    unit: Fraction = Fraction(1)
    every: int = 1

    @classmethod
    def of(cls, low: Number, high: Number, step: Number = 1) -> "Scale":
        """The scale with these ends; ValueError in words where there is none such."""
        ends, apart = (Fraction(low), Fraction(high)), Fraction(step)
        if not ends[0] < ends[1] or apart <= 0:
            raise ValueError("a scale goes from a lower to a higher score, in steps above 0")
        if (ends[1] - ends[0]) % apart:
            raise ValueError(f"steps of {step} do not lead from {low} to {high}")
        unit = gcd(ends[0], apart)
        size = (ends[1] - ends[0]) / unit + 1
        if size > MOST_SCORES or max(abs(end) for end in ends) > _FARTHEST * unit:
            raise ValueError(f"a scale has at most {MOST_SCORES:,} scores")
        return cls(int(ends[0] / unit), int(ends[1] / unit), unit, int(apart / unit))

    @property
    def size(self) -> int:
        """How many units there are; scores, where every unit is one."""
        return self.high - self.low + 1

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """All scores in units, from the lowest."""
        return np.arange(self.low, self.high + 1)

    @property
    def values(self) -> npt.NDArray[np.number]:
        """All scores as people give them, from the lowest; whole numbers where these are."""
        if self.unit == 1:
            return self.steps
        return np.array([float(step * self.unit) for step in self.steps.tolist()])

    @property
    def texts(self) -> list[str]:
        """All scores as they are written."""
        return [self.text(step) for step in range(self.low, self.high + 1)]

    @property
    def ends(self) -> tuple[float | int, float | int]:
        """The lowest and the highest score."""
        return plain(self.low * self.unit), plain(self.high * self.unit)

    @property
    def step(self) -> float | int:
        """How far neighbouring scores are apart."""
        return plain(self.every * self.unit)

    @property
    def said(self) -> str:
        """`from 1 to 5`, `from 1 to 5 in steps of 0.5`."""
        steps = "" if self.step == 1 else f" in steps of {self.step:g}"
        return f"from {self.text(self.low)} to {self.text(self.high)}{steps}"

    def text(self, step: int) -> str:
        """The score of so many units as it is written."""
        value = step * self.unit
        return str(value.numerator) if value.denominator == 1 else repr(float(value))

    def step_of(self, value: Fraction) -> int | None:
        """The score in units; None for a number that is no score of this scale."""
        steps = value / self.unit
        if steps.denominator != 1 or not self.low <= steps <= self.high:
            return None
        return int(steps) if not (int(steps) - self.low) % self.every else None


def plain(value: Fraction) -> float | int:
    """The number as JSON has it: whole where it is whole."""
    return int(value) if value.denominator == 1 else float(value)


def gcd(one: Fraction, other: Fraction) -> Fraction:
    """The largest number of which both are multiples."""
    both = one.denominator * other.denominator
    return Fraction(math.gcd(int(one * both), int(other * both)), both)


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
