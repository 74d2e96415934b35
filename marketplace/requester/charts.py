"""Charts of the requester site: how long a worker's answers took, and what was spent per day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from statistics import median

from django.db.models import Q, Sum, TextField
from django.db.models.functions import Cast, Left

from marketplace.models import Holding, LedgerEntry, Requester
from marketplace.requester.work import seconds
from web.charts import HEIGHT, BarChart, stack_bars

# How long a worker's latest answers took, as bars; the table beside them says the same in figures.

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
    timed = [(row, took) for row in reversed(latest_first) if (took := seconds(row)) is not None]
    if len(timed) < 2:
        return None
    middle = median(took for _, took in timed)
    top = min(max(took for _, took in timed), max(1, middle * _CUT))
    scale = HEIGHT / max(1, top)
    return Pace(
        chart=stack_bars(
            ((row, {row.state: max(1 / scale, min(took, top))}) for row, took in timed),
            highest=max(1, top),
            fewest=_FEWEST,
        ),
        median_seconds=middle,
        middle_y=round(HEIGHT - middle * scale, 2),
        top_seconds=top,
    )


#: Characters of a date as ISO 8601 has it.
_DATE = 10


def day_of(field: str) -> Left:
    """The day (UTC) of a column of moments, as `2026-11-22`.

    Of the column's own text, which is in UTC on both databases: on SQLite Django's TruncDate calls Python for
    every row, some seconds for a hundred thousand answers.
    """
    return Left(Cast(field, TextField()), _DATE)


# What a requester spent per day, as bars; the table below the chart says the same in figures.

Account, Kind = LedgerEntry.Account, LedgerEntry.Kind
DAYS = 30


@dataclass(frozen=True, slots=True)
class Day:
    """Money that left the account on one day (UTC), in cents."""

    date: date
    rewards: int = 0
    bonuses: int = 0
    fees: int = 0

    @property
    def paid(self) -> int:
        """What workers got."""
        return self.rewards + self.bonuses

    @property
    def total(self) -> int:
        """What the account lost."""
        return self.paid + self.fees


def spending(requester: Requester, *, now: datetime, days: int = DAYS) -> list[Day]:
    """The last days, oldest first, in one query."""
    first = now.date() - timedelta(days=days - 1)
    rows = (
        LedgerEntry.objects.filter(
            requester=requester,
            credit__in=(Account.WORKERS, Account.FEES),
            at__gte=datetime.combine(first, time.min, tzinfo=UTC),
        )
        .order_by()
        .values(day=day_of("at"))
        .annotate(
            rewards=Sum("cents", filter=Q(kind=Kind.REWARD)),
            bonuses=Sum("cents", filter=Q(kind=Kind.BONUS)),
            fees=Sum("cents", filter=Q(credit=Account.FEES)),
        )
    )
    days_by_date = {
        day: Day(day, row["rewards"] or 0, row["bonuses"] or 0, row["fees"] or 0)
        for row in rows
        for day in [date.fromisoformat(row["day"])]
    }
    each = (first + timedelta(days=number) for number in range(days))
    return [days_by_date.get(day, Day(day)) for day in each]


def draw_spending(days: Sequence[Day]) -> BarChart[Day]:
    """What workers got is at the bottom, fees on top of it."""
    return stack_bars((day, {"earned": day.paid, "pending": day.fees}) for day in days)


def sum_spending(days: Sequence[Day]) -> Day:
    """The sum of the days, under the date of the first."""
    return Day(
        days[0].date,
        sum(day.rewards for day in days),
        sum(day.bonuses for day in days),
        sum(day.fees for day in days),
    )
