"""Submissions per hour, as bars."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from web.charts.bars import BarChart, stack_bars

_HOUR = timedelta(hours=1)
_FEWEST, _MOST = 12, 73


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour, and what came in."""

    at: datetime
    count: int


def count_hours(per_hour: list[tuple[datetime, int]], now: datetime) -> list[Hour]:
    """Each hour from the first one with submissions until now; twelve at least."""
    counts = dict(per_hour)
    last = now.replace(minute=0, second=0, microsecond=0)
    first = min(min(counts, default=last), last - (_FEWEST - 1) * _HOUR)
    hours = [first + number * _HOUR for number in range(min(_MOST, int((last - first) / _HOUR) + 1))]
    return [Hour(at, counts.get(at, 0)) for at in hours]


def draw_hours(hours: list[Hour]) -> BarChart[Hour]:
    """A bar for each hour."""
    return stack_bars((hour, {"earned": hour.count}) for hour in hours)
