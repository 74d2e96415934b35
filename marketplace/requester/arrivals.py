"""What came in for a requester per day, as bars; the list below the chart says the same in figures."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Count

from marketplace.models import Holding, Requester
from marketplace.requester.charts import day_of
from marketplace.requester.lookup import visible_work

DAYS = 14
HEIGHT, STEP, BAR = 120, 10, 8
#: From the ground upwards.
_ORDER = (Holding.State.APPROVED, Holding.State.SUBMITTED, Holding.State.REJECTED)


@dataclass(frozen=True, slots=True)
class Piece:
    """Answers of one day in one state, drawn."""

    state: str
    y: float
    height: float


@dataclass(slots=True)
class Day:
    """Answers that were submitted on one day (UTC), by their state now."""

    date: date
    counts: dict[str, int] = field(default_factory=dict)
    x: float = 0
    pieces: list[Piece] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Chart:
    """Days on one scale; the highest is as high as the box."""

    days: list[Day]
    width: int
    height: int
    highest: int
    total: int


def per_day(requester: Requester, *, now: datetime, days: int = DAYS) -> list[Day]:
    """The last days, oldest first, in one query."""
    first = now.date() - timedelta(days=days - 1)
    rows = (
        visible_work(requester, now)
        .filter(submitted_at__gte=datetime.combine(first, time.min, tzinfo=UTC))
        .order_by()
        .values("state", day=day_of("submitted_at"))
        .annotate(number=Count("pk"))
    )
    counts: dict[date, dict[str, int]] = defaultdict(dict)
    for row in rows:
        counts[date.fromisoformat(row["day"])][row["state"]] = row["number"]
    each = (first + timedelta(days=number) for number in range(days))
    return [Day(day, counts.get(day, {})) for day in each]


def chart(days: Sequence[Day]) -> Chart | None:
    """Bars; None where nothing came in."""
    highest = max((day.total for day in days), default=0)
    if not highest:
        return None
    for number, day in enumerate(days):
        day.x = number * STEP + (STEP - BAR) / 2
        top = float(HEIGHT)
        for state in _ORDER:
            if count := day.counts.get(state, 0):
                height = count * HEIGHT / highest
                top -= height
                day.pieces.append(Piece(state, round(top, 2), round(height, 2)))
    return Chart(list(days), len(days) * STEP, HEIGHT, highest, sum(day.total for day in days))
