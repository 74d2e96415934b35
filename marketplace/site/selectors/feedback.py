"""What requesters said of a worker's work: decisions with words, and bonuses with their reasons."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import CharField, Count, F, Q, QuerySet, Sum, Value

from marketplace.models import Bonus, Holding, Worker

State = Holding.State
#: Filters of the page, by their name in the URL, and the words for them.
KINDS = {"all": "All", "approved": "Approvals", "rejected": "Rejections", "bonus": "Bonuses"}


@dataclass(frozen=True, slots=True)
class FeedbackItem:
    """One thing that a requester said; a bonus or a decision."""

    kind: str
    at: datetime
    words: str
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
        found, x = [], 0.0
        parts = (("approved", self.approved), ("pending", self.waiting), ("rejected", self.rejected))
        for name, count in parts:
            width = round(count * 1000 / self.total, 2) if self.total else 0.0
            found.append((name, "waiting" if name == "pending" else name, count, x, width))
            x += width
        return found


def list_feedback(*, worker: Worker, kind: str) -> QuerySet[Any, Any]:
    """What was said, the latest first, as kind, moment and key; rows of one page are completed by `told`."""
    found: list[QuerySet[Any, Any]] = []
    decided = Holding.objects.filter(worker=worker).order_by()
    if kind in ("all", "approved"):
        approved = decided.filter(state=State.APPROVED).exclude(feedback="")
        found.append(_as("approved", approved, "approved_at"))
    if kind in ("all", "rejected"):
        found.append(_as("rejected", decided.filter(state=State.REJECTED), "rejected_at"))
    if kind in ("all", "bonus"):
        found.append(_as("bonus", Bonus.objects.filter(worker=worker).order_by(), "granted_at"))
    first, *rest = found
    rows = first.union(*rest, all=True) if rest else first
    return rows.order_by("-when", "kind", "-key")


def _as(kind: str, rows: QuerySet[Any], at: str) -> QuerySet[Any, Any]:
    named: QuerySet[Any, Any] = rows.annotate(kind=Value(kind, CharField()), when=F(at), key=F("pk"))
    return named.values_list("kind", "when", "key")


def told(rows: Iterable[tuple[str, datetime, int]]) -> list[FeedbackItem]:
    """The rows of a page with their words and HITs, in two queries."""
    rows = list(rows)
    loaded = Holding.objects.select_related("hit__hit_type__requester").defer("answer", "hit__question")
    holdings = loaded.in_bulk([key for kind, _, key in rows if kind != "bonus"])
    bonuses = (
        Bonus.objects.select_related("holding__hit__hit_type__requester")
        .defer("holding__answer", "holding__hit__question")
        .in_bulk([key for kind, _, key in rows if kind == "bonus"])
    )
    found = []
    for kind, when, key in rows:
        if kind == "bonus":
            bonus = bonuses[key]
            found.append(FeedbackItem(kind, when, bonus.reason, bonus.holding, bonus.cents))
        else:
            holding = holdings[key]
            found.append(FeedbackItem(kind, when, holding.feedback, holding, holding.hit.reward_cents))
    return found


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
    found = [
        Balance(
            name=row["hit__requester__name"],
            approved=row["approved"],
            rejected=row["rejected"],
            waiting=row["waiting"],
            bonus_cents=bonuses.get(row["hit__requester_id"], 0),
        )
        for row in rows
    ]
    found.sort(key=lambda each: (-each.total, each.name))
    everything = Balance(
        name="",
        approved=sum(each.approved for each in found),
        rejected=sum(each.rejected for each in found),
        waiting=sum(each.waiting for each in found),
        bonus_cents=sum(each.bonus_cents for each in found),
    )
    return everything, found
