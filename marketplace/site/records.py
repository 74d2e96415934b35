"""One worker's records: assignment at work, queue, history, earnings, decisions, messages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import (
    CharField,
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    Max,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
)
from django.db.models.functions import Coalesce, TruncDate
from django.utils.translation import gettext, gettext_lazy, pgettext

from marketplace.models import Bonus, Holding, LedgerEntry, Letter, Message, Rating, Requester, Worker

# The assignment on the working page. No page is opened more often.

#: What the page shows; other fields are loaded when asked for.
FIELDS = (
    "requester_id",
    "visit",
    "unpaid",
    "assignment_id",
    "state",
    "accepted_at",
    "deadline",
    "worker__worker_id",
    "worker__accept_next",
    "worker__time_zone",
    "hit__hit_id",
    "hit__question",
    "hit__reward_cents",
    "hit__hit_type__type_id",
    "hit__hit_type__group_id",
    "hit__hit_type__title",
    "hit__hit_type__requester__name",
)


def find_holding(*, user_pk: int, hit_id: str, assignment_id: str) -> Holding | None:
    """The latest hold of this person on this assignment, with worker, HIT, HIT type and requester."""
    holdings = Holding.objects.select_related("worker", "hit__hit_type__requester").only(*FIELDS)
    mine = holdings.filter(assignment_id=assignment_id, hit__hit_id=hit_id, worker__user=user_pk)
    return mine.order_by("-pk").first()


# What a worker who thinks of leaving should know: what is still to come, and from whom.


@dataclass(slots=True)
class Due:
    """What one requester still has to decide or to pay out."""

    requester: Requester
    waiting: int = 0
    waiting_cents: int = 0
    decided_by: datetime | None = None
    unpaid_cents: int = 0


@dataclass(slots=True)
class OpenWork:
    """What is open between a worker and all requesters, those with something due by name."""

    in_hands: int
    dues: list[Due] = field(default_factory=list)

    @property
    def waiting(self) -> int:
        """Assignments that nobody has decided."""
        return sum(due.waiting for due in self.dues)

    @property
    def waiting_cents(self) -> int:
        """What they would earn."""
        return sum(due.waiting_cents for due in self.dues)

    @property
    def decided_by(self) -> datetime | None:
        """When the last of them is approved by itself."""
        return max((due.decided_by for due in self.dues if due.decided_by), default=None)

    @property
    def real(self) -> bool:
        """Real money is due, or may be."""
        return any(due.requester.real_money and (due.waiting_cents or due.unpaid_cents) for due in self.dues)

    @property
    def unpaid_cents(self) -> int:
        """Real money that is earned and that no finance office has paid out."""
        return sum(due.unpaid_cents for due in self.dues if due.requester.real_money)


def standing(worker: Worker) -> OpenWork:
    """What is open, in four queries."""
    waiting = (
        Holding.objects.filter(worker=worker, state=State.SUBMITTED)
        .order_by()
        .values("hit__requester")
        .annotate(
            count=Count("pk"),
            cents=Sum("hit__reward_cents", filter=Q(unpaid=False), default=0),
            last=Max("auto_approve_at"),
        )
    )
    unpaid = (
        LedgerEntry.objects.filter(worker=worker, credit=LedgerEntry.Account.WORKERS)
        .filter(Q(payable=None) | Q(payable__paid_at=None))
        .order_by()
        .values("requester")
        .annotate(cents=Sum("cents"))
    )
    waits = {row["hit__requester"]: row for row in waiting}
    owed = {row["requester"]: row["cents"] for row in unpaid}
    open_work = OpenWork(Holding.objects.filter(worker=worker, state=State.ACCEPTED).count())
    for requester in Requester.objects.filter(pk__in=waits.keys() | owed.keys()).order_by("name"):
        due = Due(requester, unpaid_cents=owed.get(requester.pk, 0))
        if row := waits.get(requester.pk):
            due.waiting, due.waiting_cents, due.decided_by = row["count"], row["cents"], row["last"]
        open_work.dues.append(due)
    return open_work


# What requesters said of a worker's work: decisions with words, and bonuses with their reasons.

State = Holding.State
#: Filters of the page, by their name in the URL, and the words for them.
FEEDBACK_KINDS = {
    "all": gettext_lazy("All"),
    "approved": gettext_lazy("Approvals"),
    "rejected": gettext_lazy("Rejections"),
    "bonus": gettext_lazy("Bonuses"),
}


@dataclass(frozen=True, slots=True)
class FeedbackItem:
    """One thing that a requester said; a bonus or a decision."""

    kind: str
    at: datetime
    comment: str
    holding: Holding
    cents: int


@dataclass(frozen=True, slots=True)
class Balance:
    """What became of the work with one requester, or with all of them."""

    name: str
    approved: int
    rejected: int
    waiting: int
    bonus_cents: int

    @property
    def total(self) -> int:
        """Submitted assignments."""
        return self.approved + self.rejected + self.waiting

    @property
    def rate(self) -> int | None:
        """Share of the decided work that was approved, in whole percent, rounded down."""
        decided = self.approved + self.rejected
        return self.approved * 100 // decided if decided else None

    @property
    def parts(self) -> list[tuple[str, str, int, float, float]]:
        """Parts of a bar of 1,000 units: class, words, count, where it begins, how long it is."""
        segments, x = [], 0.0
        parts = (
            ("approved", gettext("approved"), self.approved),
            ("pending", pgettext("of work", "waiting"), self.waiting),
            ("rejected", gettext("rejected"), self.rejected),
        )
        for name, words, count in parts:
            width = round(count * 1000 / self.total, 2) if self.total else 0.0
            segments.append((name, words, count, x, width))
            x += width
        return segments


def list_feedback(*, worker: Worker, kind: str) -> QuerySet[Any, Any]:
    """What was said, the latest first, as kind, moment and key; rows of one page are completed by
    `with_feedback`."""
    querysets: list[QuerySet[Any, Any]] = []
    decided = Holding.objects.filter(worker=worker).order_by()
    if kind in ("all", "approved"):
        approved = decided.filter(state=State.APPROVED).exclude(feedback="")
        querysets.append(_as("approved", approved, "approved_at"))
    if kind in ("all", "rejected"):
        querysets.append(_as("rejected", decided.filter(state=State.REJECTED), "rejected_at"))
    if kind in ("all", "bonus"):
        querysets.append(_as("bonus", Bonus.objects.filter(worker=worker).order_by(), "granted_at"))
    first, *rest = querysets
    rows = first.union(*rest, all=True) if rest else first
    return rows.order_by("-when", "kind", "-key")


def _as(kind: str, rows: QuerySet[Any], at: str) -> QuerySet[Any, Any]:
    named: QuerySet[Any, Any] = rows.annotate(kind=Value(kind, CharField()), when=F(at), key=F("pk"))
    return named.values_list("kind", "when", "key")


def with_feedback(rows: Iterable[tuple[str, datetime, int]]) -> list[FeedbackItem]:
    """The rows of a page with their words and HITs, in two queries."""
    rows = list(rows)
    loaded = Holding.objects.select_related("hit__hit_type__requester").defer("answer", "hit__question")
    holdings = loaded.in_bulk([key for kind, _, key in rows if kind != "bonus"])
    bonuses = (
        Bonus.objects.select_related("holding__hit__hit_type__requester")
        .defer("holding__answer", "holding__hit__question")
        .in_bulk([key for kind, _, key in rows if kind == "bonus"])
    )
    feedback_items = []
    for kind, when, key in rows:
        if kind == "bonus":
            bonus = bonuses[key]
            feedback_items.append(FeedbackItem(kind, when, bonus.reason, bonus.holding, bonus.cents))
        else:
            holding = holdings[key]
            feedback_items.append(FeedbackItem(kind, when, holding.feedback, holding, holding.pay_cents))
    return feedback_items


def balances(*, worker: Worker) -> tuple[Balance, list[Balance]]:
    """What became of all the worker's work, and of that for each requester, the most work first."""
    bonuses = dict(
        Bonus.objects.filter(worker=worker).order_by().values_list("requester_id").annotate(sum=Sum("cents"))
    )
    rows = (
        Holding.objects.filter(worker=worker, state__in=Holding.ANSWERED)
        .order_by()
        .values("hit__requester_id", "hit__requester__name")
        .annotate(
            approved=Count("pk", filter=Q(state=State.APPROVED)),
            rejected=Count("pk", filter=Q(state=State.REJECTED)),
            waiting=Count("pk", filter=Q(state=State.SUBMITTED)),
        )
    )
    by_requester = [
        Balance(
            name=row["hit__requester__name"],
            approved=row["approved"],
            rejected=row["rejected"],
            waiting=row["waiting"],
            bonus_cents=bonuses.get(row["hit__requester_id"], 0),
        )
        for row in rows
    ]
    by_requester.sort(key=lambda each: (-each.total, each.name))
    everything = Balance(
        name="",
        approved=sum(each.approved for each in by_requester),
        rejected=sum(each.rejected for each in by_requester),
        waiting=sum(each.waiting for each in by_requester),
        bonus_cents=sum(each.bonus_cents for each in by_requester),
    )
    return everything, by_requester


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
            pending_cents=Sum("hit__reward_cents", filter=Q(state=State.SUBMITTED, unpaid=False)),
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
