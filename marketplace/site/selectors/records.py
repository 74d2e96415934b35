"""One worker's records: queue, history, earnings, messages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import (
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Sum,
)
from django.db.models.functions import Coalesce, TruncDate

from marketplace.models import Bonus, Holding, LedgerEntry, Letter, Message, Rating, Worker

State = Holding.State
Kind = LedgerEntry.Kind
Period = tuple[datetime, datetime]
#: Filters of the history, by their name in the URL.
FILTERS = {
    "all": (State.SUBMITTED, State.APPROVED, State.REJECTED, State.RETURNED, State.ABANDONED),
    "pending": (State.SUBMITTED,),
    "approved": (State.APPROVED,),
    "rejected": (State.REJECTED,),
    "unfinished": (State.RETURNED, State.ABANDONED),
}
PERIODS = (7, 30, 90)


@dataclass(slots=True)
class Day:
    """What came of the HITs that a worker submitted on one day (UTC)."""

    date: date
    hits: int = 0
    rejected: int = 0
    paid_cents: int = 0
    bonus_cents: int = 0
    pending_cents: int = 0
    seconds: int = 0

    @property
    def earned_cents(self) -> int:
        """Approved rewards and bonuses."""
        return self.paid_cents + self.bonus_cents

    @property
    def total_cents(self) -> int:
        """Earned, and what is still to be decided."""
        return self.earned_cents + self.pending_cents

    @property
    def hourly_cents(self) -> int | None:
        """Total per hour of work, from accepting to submitting."""
        return round(self.total_cents * 3600 / self.seconds) if self.seconds else None


@dataclass(frozen=True, slots=True)
class Earnings:
    """The days of a period, oldest first, and their sum."""

    days: list[Day]
    total: Day
    ever_cents: int


def queue(*, worker: Worker, now: datetime) -> QuerySet[Holding]:
    """HITs in the worker's hands, the most urgent first."""
    return (
        Holding.objects.filter(worker=worker, state=State.ACCEPTED, deadline__gt=now)
        .select_related("hit__hit_type__requester")
        .defer("answer", "hit__question")
        .order_by("deadline", "pk")
    )


def history(*, worker: Worker, states: tuple[str, ...]) -> QuerySet[Holding]:
    """Finished assignments, the latest first, each with the sum of its bonuses and the group's stars."""
    bonuses = Bonus.objects.filter(holding=OuterRef("pk")).order_by().values("holding")
    mine = Rating.objects.filter(worker=worker, hit_type=OuterRef("hit__hit_type"))
    return (
        Holding.objects.filter(worker=worker, state__in=states)
        .select_related("hit__hit_type__requester")
        .defer("answer", "hit__question")
        .annotate(
            bonus_cents=Coalesce(Subquery(bonuses.annotate(sum=Sum("cents")).values("sum")), 0),
            stars=Subquery(mine.values("stars")),
        )
        .order_by("-accepted_at", "-pk")
    )


def earnings(*, worker: Worker, days: int, now: datetime) -> Earnings:
    """The last `days` days: work by the day it was submitted, and the money that came of it."""
    dates = [now.date() - timedelta(days=back) for back in reversed(range(days))]
    table = {each: Day(each) for each in dates}
    during = (datetime.combine(dates[0], time.min, tzinfo=UTC), now)
    for row in _work_by_day(worker, during):
        day = table[row["day"]]
        day.hits, day.rejected = row["hits"], row["rejected"]
        day.pending_cents = row["pending_cents"] or 0
        day.seconds = round(row["worked"].total_seconds())
    for row in _money_by_day(worker, during):
        day = table[row["day"]]
        day.paid_cents, day.bonus_cents = row["paid_cents"] or 0, row["bonus_cents"] or 0
    ever = LedgerEntry.objects.filter(worker=worker, credit=LedgerEntry.Account.WORKERS)
    return Earnings(
        days=list(table.values()),
        total=_sum(list(table.values())),
        ever_cents=ever.aggregate(sum=Sum("cents"))["sum"] or 0,
    )


def inbox(*, worker: Worker) -> QuerySet[Message]:
    """The worker's messages, the newest first."""
    return Message.objects.filter(worker=worker).select_related("requester").order_by("-sent_at", "-pk")


def letters(*, worker: Worker) -> QuerySet[Letter]:
    """What the worker wrote to requesters, the latest first, with the answers."""
    return (
        Letter.objects.filter(worker=worker)
        .select_related("requester", "hit_type")
        .prefetch_related(Prefetch("answers", Message.objects.order_by("sent_at", "pk")))
        .order_by("-sent_at", "-pk")
    )


def _work_by_day(worker: Worker, during: Period) -> Iterable[Mapping[str, Any]]:
    worked = ExpressionWrapper(F("submitted_at") - F("accepted_at"), output_field=DurationField())
    return (
        Holding.objects.filter(worker=worker, state__in=Holding.ANSWERED, submitted_at__range=during)
        .order_by()
        .values(day=TruncDate("submitted_at"))
        .annotate(
            hits=Count("pk"),
            rejected=Count("pk", filter=Q(state=State.REJECTED)),
            pending_cents=Sum("hit__reward_cents", filter=Q(state=State.SUBMITTED)),
            worked=Sum(worked),
        )
    )


def _money_by_day(worker: Worker, during: Period) -> Iterable[Mapping[str, Any]]:
    return (
        LedgerEntry.objects.filter(
            worker=worker, credit=LedgerEntry.Account.WORKERS, holding__submitted_at__range=during
        )
        .order_by()
        .values(day=TruncDate("holding__submitted_at"))
        .annotate(
            paid_cents=Sum("cents", filter=Q(kind=Kind.REWARD)),
            bonus_cents=Sum("cents", filter=Q(kind=Kind.BONUS)),
        )
    )


def _sum(days: list[Day]) -> Day:
    total = Day(days[0].date)
    for day in days:
        for name in ("hits", "rejected", "paid_cents", "bonus_cents", "pending_cents", "seconds"):
            setattr(total, name, getattr(total, name) + getattr(day, name))
    return total
