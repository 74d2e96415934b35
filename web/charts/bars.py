"""Bars that a page draws without a library; the table beside them says the same in figures."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

HEIGHT, STEP, WIDTH = 120, 10, 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar; `name` is its colour, a class of the style sheets."""

    name: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar(Generic[T]):
    """The bar of a `subject`, such as an hour or a day: parts from the ground up, empty ones left out."""

    subject: T
    x: int
    parts: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True)
class BarChart(Generic[T]):
    """Bars in a box of `width` by `height` units; one of `highest` is as high as the box."""

    bars: list[Bar[T]]
    width: int
    highest: float
    height: int = HEIGHT

    @property
    def scale(self) -> float:
        """Units for 1."""
        return HEIGHT / self.highest if self.highest else 0


def stack_bars(
    rows: Iterable[tuple[T, dict[str, float]]], *, highest: float | None = None, fewest: int = 0
) -> BarChart[T]:
    """A bar for each subject with its parts by name, from the ground up.

    Without `highest` the highest bar fills the box. The box has place for `fewest` bars at least.
    """
    subjects = list(rows)
    if highest is None:
        highest = max((sum(parts.values()) for _, parts in subjects), default=0)
    chart: BarChart[T] = BarChart([], max(len(subjects), fewest) * STEP, highest)
    for number, (subject, parts) in enumerate(subjects):
        chart.bars.append(Bar(subject, number * STEP + (STEP - WIDTH) // 2, _stack(parts, chart.scale)))
    return chart


def _stack(parts: dict[str, float], scale: float) -> tuple[BarPart, ...]:
    found, ground = [], float(HEIGHT)
    for name, value in parts.items():
        height = round(value * scale, 2)
        ground = round(ground - height, 2)
        if height:
            found.append(BarPart(name, ground, height))
    return tuple(found)
