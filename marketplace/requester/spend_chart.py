"""What a requester spent per day, as bars; the table below the chart says the same in figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Q, Sum

from marketplace.days import day_of
from marketplace.models import LedgerEntry, Requester

Account, Kind = LedgerEntry.Account, LedgerEntry.Kind
DAYS = 30
HEIGHT, STEP, BAR = 120, 10, 8


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


@dataclass(frozen=True, slots=True)
class Bar:
    """One day: what workers got stands on the ground, fees on top of it."""

    day: Day
    x: float
    paid_y: float
    paid_height: float
    fees_y: float
    fees_height: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars of all days on one scale; the highest is as high as the box."""

    bars: list[Bar]
    width: int
    height: int
    highest: int
    total: Day


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
    known = {
        day: Day(day, row["rewards"] or 0, row["bonuses"] or 0, row["fees"] or 0)
        for row in rows
        for day in [date.fromisoformat(row["day"])]
    }
    each = (first + timedelta(days=number) for number in range(days))
    return [known.get(day, Day(day)) for day in each]


def chart(days: Sequence[Day]) -> Chart:
    """Bars, and the sum of the days."""
    highest = max((day.total for day in days), default=0)
    scale = HEIGHT / highest if highest else 0
    bars = []
    for number, day in enumerate(days):
        paid, fees = round(day.paid * scale, 2), round(day.fees * scale, 2)
        bars.append(
            Bar(
                day=day,
                x=number * STEP + (STEP - BAR) / 2,
                paid_y=round(HEIGHT - paid, 2),
                paid_height=paid,
                fees_y=round(HEIGHT - paid - fees, 2),
                fees_height=fees,
            )
        )
    total = Day(
        days[0].date,
        sum(day.rewards for day in days),
        sum(day.bonuses for day in days),
        sum(day.fees for day in days),
    )
    return Chart(bars, len(days) * STEP, HEIGHT, highest, total)
