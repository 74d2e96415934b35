"""Scales of ratings, exact: scores are counted in whole units. Nothing here takes long to import."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Number = int | float | str | Fraction
#: Units are kept as numbers of 16 bits.
_FARTHEST = 30_000
#: Scores of one scale: 0 to 100 in tenths, and no table over scores gets large.
MOST_SCORES = 1001


@dataclass(frozen=True, slots=True)
class Scale:
    """Scores from `low` to `high`, both of them allowed, counted in units: 1 to 5 by .5 is 2 to 10 halves.

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
            finest = (ends[1] - ends[0]) / (MOST_SCORES - 1)
            raise ValueError(
                f"a scale has at most {MOST_SCORES:,} scores. From {float(ends[0]):g} to {float(ends[1]):g} "
                f"take steps of {float(finest):g} or more"
            )
        return cls(int(ends[0] / unit), int(ends[1] / unit), unit, int(apart / unit))

    @property
    def size(self) -> int:
        """How many units there are; scores, where every unit is one."""
        return self.high - self.low + 1

    @property
    def scores(self) -> range:
        """All scores in units, from the lowest: of the units only those that may be given."""
        return range(self.low, self.high + 1, self.every)

    @property
    def steps(self) -> "npt.NDArray[np.int64]":
        """All units, from the lowest."""
        import numpy as np  # not on the way to a first page

        return np.arange(self.low, self.high + 1)

    @property
    def values(self) -> "npt.NDArray[np.number]":
        """All scores as people give them, from the lowest; whole numbers where these are."""
        if self.unit == 1:
            return self.steps
        import numpy as np

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
    def description(self) -> str:
        """`from 1 to 5`, `from 1 to 5 in steps of 0.5`."""
        steps = "" if self.step == 1 else f" in steps of {self.step:g}"
        return f"from {self.text(self.low)} to {self.text(self.high)}{steps}"

    def text(self, step: int) -> str:
        """The score of so many units as it is written."""
        value = step * self.unit
        return str(value.numerator) if value.denominator == 1 else repr(float(value))

    def number(self, step: int) -> float | int:
        """The score of so many units as a number, whole where it is whole."""
        return plain(step * self.unit)

    def nearest(self, value: float) -> int:
        """The score in units that is nearest to a number; beyond the ends the end."""
        steps = round((value / float(self.unit) - self.low) / self.every)
        return self.scores[min(max(steps, 0), len(self.scores) - 1)]

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
