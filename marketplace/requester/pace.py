"""How long a worker's latest answers took, as bars; the table beside them says the same in figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from marketplace.models import Holding
from marketplace.requester.selectors.work import seconds

HEIGHT = 120
_STEP, _BAR = 10, 8
#: So many bars have room; fewer stand at the left of it.
_FEWEST = 20
#: Bars are as high as so many times the median; what took longer is cut there.
_CUT = 3


@dataclass(frozen=True, slots=True)
class Bar:
    """One answer; `state` is its colour."""

    x: float
    y: float
    height: float
    state: str
    cut: bool


@dataclass(frozen=True, slots=True)
class Pace:
    """Bars from the oldest to the latest answer; `middle_y` is where their median lies."""

    bars: list[Bar]
    width: int
    height: int
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
    bars = []
    for number, (row, took) in enumerate(taken):
        height = max(1.0, round(min(took, top) * HEIGHT / max(1, top), 2))
        bars.append(
            Bar(
                x=number * _STEP + (_STEP - _BAR) / 2,
                y=round(HEIGHT - height, 2),
                height=height,
                state=row.state,
                cut=took > top,
            )
        )
    return Pace(
        bars=bars,
        width=max(len(bars), _FEWEST) * _STEP,
        height=HEIGHT,
        median_seconds=middle,
        middle_y=round(HEIGHT - middle * HEIGHT / max(1, top), 2),
        top_seconds=top,
    )
