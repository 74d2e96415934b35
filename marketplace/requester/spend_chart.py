"""What a requester spent per day, as bars; the table below the chart says the same in figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Q, Sum

from marketplace.days import day_of
from marketplace.models import LedgerEntry, Requester
from web.charts.bars import BarChart, stack_bars

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
    known = {
        day: Day(day, row["rewards"] or 0, row["bonuses"] or 0, row["fees"] or 0)
        for row in rows
        for day in [date.fromisoformat(row["day"])]
    }
    each = (first + timedelta(days=number) for number in range(days))
    return [known.get(day, Day(day)) for day in each]


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
