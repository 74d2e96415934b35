"""What a worker who thinks of leaving should know: what is still to come, and from whom."""

from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, Max, Q, Sum

from marketplace.models import Holding, LedgerEntry, Requester, Worker

State = Holding.State


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
        .annotate(count=Count("pk"), cents=Sum("hit__reward_cents"), last=Max("auto_approve_at"))
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
    found = OpenWork(Holding.objects.filter(worker=worker, state=State.ACCEPTED).count())
    for requester in Requester.objects.filter(pk__in=waits.keys() | owed.keys()).order_by("name"):
        due = Due(requester, unpaid_cents=owed.get(requester.pk, 0))
        if row := waits.get(requester.pk):
            due.waiting, due.waiting_cents, due.decided_by = row["count"], row["cents"], row["last"]
        found.dues.append(due)
    return found
