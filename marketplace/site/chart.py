"""A bar chart of days, drawn on the server; the table beside it says the same in figures."""

from dataclasses import dataclass

from marketplace.site.selectors.records import Day

HEIGHT = 120
STEP = 10
BAR = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """One day: what was earned stands on the ground, what is pending on top of it."""

    day: Day
    x: float
    earned_y: float
    earned_height: float
    pending_y: float
    pending_height: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars in a box of `width` by `height` units; the highest is as high as the box."""

    bars: list[Bar]
    width: int
    height: int
    highest_cents: int


def bar_chart(days: list[Day]) -> Chart:
    """Bars of all days on one scale."""
    highest = max((day.total_cents for day in days), default=0)
    scale = HEIGHT / highest if highest else 0
    bars = []
    for number, day in enumerate(days):
        earned = round(day.earned_cents * scale, 2)
        pending = round(day.pending_cents * scale, 2)
        bars.append(
            Bar(
                day=day,
                x=number * STEP + (STEP - BAR) / 2,
                earned_y=round(HEIGHT - earned, 2),
                earned_height=earned,
                pending_y=round(HEIGHT - earned - pending, 2),
                pending_height=pending,
            )
        )
    return Chart(bars=bars, width=len(days) * STEP, height=HEIGHT, highest_cents=highest)
