"""Bars of submissions per hour, drawn on the server; the table beside them says the same in figures."""

from dataclasses import dataclass
from datetime import datetime, timedelta

HEIGHT = 120
STEP = 10
BAR = 8
_HOUR = timedelta(hours=1)
_MOST = 73


@dataclass(frozen=True, slots=True)
class Bar:
    """One hour."""

    hour: datetime
    count: int
    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars in a box of `width` by `height` units, the highest as high as the box."""

    bars: list[Bar]
    width: int
    height: int
    highest: int

    @property
    def busy(self) -> list[Bar]:
        """Hours in which something came in, the latest first."""
        return [bar for bar in reversed(self.bars) if bar.count]


def hourly(per_hour: list[tuple[datetime, int]], now: datetime) -> Chart:
    """A bar for each hour from the first one with submissions until now; twelve at least."""
    counts = dict(per_hour)
    last = now.replace(minute=0, second=0, microsecond=0)
    first = min(min(counts, default=last), last - 11 * _HOUR)
    hours = [first + number * _HOUR for number in range(min(_MOST, int((last - first) / _HOUR) + 1))]
    highest = max(counts.values(), default=0)
    scale = HEIGHT / highest if highest else 0
    bars = []
    for number, hour in enumerate(hours):
        height = round(counts.get(hour, 0) * scale, 2)
        bars.append(Bar(hour, counts.get(hour, 0), number * STEP + 1, round(HEIGHT - height, 2), height))
    return Chart(bars, len(hours) * STEP, HEIGHT, highest)
