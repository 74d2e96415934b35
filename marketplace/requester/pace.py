"""How long a worker's latest answers took, as bars; the table beside them says the same in figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from marketplace.models import Holding
from marketplace.requester.selectors.work import seconds
from web.charts.bars import HEIGHT, BarChart, stack_bars

#: So many bars have room; fewer stand at the left of it.
_FEWEST = 20
#: Bars are as high as so many times the median; what took longer is cut there.
_CUT = 3


@dataclass(frozen=True, slots=True)
class Pace:
    """Bars from the oldest to the latest answer; `middle_y` is where their median lies."""

    chart: BarChart[Holding]
    median_seconds: float
    middle_y: float
    top_seconds: float


def pace(latest_first: Sequence[Holding]) -> Pace | None:
    """Bars of these answers on one scale; None where there are too few to see anything."""
    taken = [(row, took) for row in reversed(latest_first) if (took := seconds(row)) is not None]
    if len(taken) < 2:
        return None
    middle = median(took for _, took in taken)
    top = min(max(took for _, took in taken), max(1, middle * _CUT))
    scale = HEIGHT / max(1, top)
    return Pace(
        chart=stack_bars(
            ((row, {row.state: max(1 / scale, min(took, top))}) for row, took in taken),
            highest=max(1, top),
            fewest=_FEWEST,
        ),
        median_seconds=middle,
        middle_y=round(HEIGHT - middle * scale, 2),
        top_seconds=top,
    )
