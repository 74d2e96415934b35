"""The funnel of a project as it is drawn: a bar for each step, and the same as a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from crowd.desk.overview import NAMES, Count, Step

#: Heads of the table's columns, one for each of NAMES.
HEADS = ("Came through", "Waiting", "For a researcher", "Out", "Taken out")


@dataclass(frozen=True, slots=True)
class Bar:
    """A part of a step's bar: x and width of 100, which is as wide as the step that most entered."""

    name: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """A step with its bar; `cells` are its counts by NAMES, None where the step has no such part."""

    step: Step
    bars: tuple[Bar, ...]
    cells: tuple[Count | None, ...]

    @property
    def rest(self) -> list[Count]:
        """Those that did not come through, as far as there are any."""
        return [count for count in self.cells[1:] if count and count.count]


def drawn(steps: Sequence[Step]) -> list[FunnelRow]:
    """All steps on one scale."""
    widest = max((step.entered for step in steps), default=0)
    return [_draw(step, 100 / widest if widest else 0.0) for step in steps]


def _draw(step: Step, scale: float) -> FunnelRow:
    by_name = {count.name: count for count in step.counts}
    bars, x = [], 0.0
    for name in NAMES:
        if name in by_name and by_name[name].count:
            width = round(by_name[name].count * scale, 3)
            bars.append(Bar(name, round(x, 3), width))
            x += width
    return FunnelRow(step, tuple(bars), tuple(by_name.get(name) for name in NAMES))
