"""What pages show of batches."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Q, QuerySet, Sum

from marketplace.lifecycle.selectors import assignable
from marketplace.models import HIT, Batch, BatchTask, Holding, Requester, Template


@dataclass(frozen=True, slots=True)
class Part:
    """Assignments in one state, and their piece of the bar, whose length is 1,000."""

    key: str
    label: str
    count: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Tally:
    """How far the HITs of a batch are, in assignments; `ended` are places that expired without a worker."""

    total: int = 0
    open: int = 0
    pending: int = 0
    submitted: int = 0
    approved: int = 0
    rejected: int = 0
    ended: int = 0
    on_offer: int = 0

    @property
    def answered(self) -> int:
        """Assignments with an answer."""
        return self.submitted + self.approved + self.rejected

    @property
    def parts(self) -> list[Part]:
        """Every assignment once."""
        counts = (
            ("approved", "approved", self.approved),
            ("submitted", "to review", self.submitted),
            ("pending", "in progress", self.pending),
            ("rejected", "rejected", self.rejected),
            ("open", "open", self.open),
            ("ended", "not taken", self.ended),
        )
        parts, x = [], 0.0
        for key, label, count in counts:
            width = 1000 * count / self.total if self.total else 0.0
            parts.append(Part(key, label, count, round(x, 1), round(width, 1)))
            x += width
        return parts


def waiting_cents(batch: Batch) -> int:
    """What workers would get if everything that waits were approved, fees aside."""
    rows = HIT.objects.filter(batch=batch, submitted__gt=0)
    cents = int(rows.aggregate(sum=Sum(F("submitted") * F("reward_cents")))["sum"] or 0)
    unpaid = Holding.objects.filter(hit__in=rows, state=Holding.State.SUBMITTED, unpaid=True)
    return cents - int(unpaid.aggregate(sum=Sum("hit__reward_cents"))["sum"] or 0)


def batches(requester: Requester) -> QuerySet[Batch]:
    """Batches of a requester whose file is read, without what only their own pages need."""
    return requester.batches.filter(task_count__gt=0).defer("html", "columns", "hosts", "hosts_of_cells")


def tallies(batches: Iterable[Batch], now: datetime) -> dict[int, Tally]:
    """Tallies of these batches by primary key, in one query."""
    pks = [batch.pk for batch in batches]
    rows = (
        HIT.objects.filter(batch__in=pks)
        .order_by()
        .values("batch")
        .annotate(
            total=Sum("max_assignments"),
            all_open=Sum("open_places", filter=assignable(now), default=0),
            without_anyone=Sum("open_places"),
            all_pending=Sum("pending"),
            all_submitted=Sum("submitted"),
            all_approved=Sum("approved"),
            all_rejected=Sum("rejected"),
            on_offer=Count("pk", filter=assignable(now)),
        )
    )
    counts = {
        row["batch"]: Tally(
            total=row["total"],
            open=row["all_open"],
            ended=row["without_anyone"] - row["all_open"],
            pending=row["all_pending"],
            submitted=row["all_submitted"],
            approved=row["all_approved"],
            rejected=row["all_rejected"],
            on_offer=row["on_offer"],
        )
        for row in rows
    }
    return {pk: counts.get(pk, Tally()) for pk in pks}


#: Which tasks a table shows.
TASK_STATES = {
    "all": "All",
    "open": "On offer",
    "review": "To review",
    "complete": "Complete",
    "unpublished": "Not published",
}


def tasks(batch: Batch, state: str, now: datetime) -> QuerySet[BatchTask]:
    """Tasks of a batch with their HITs."""
    rows = batch.tasks.select_related("hit").defer("hit__question")
    on_hit = {"open": assignable(now), "review": Q(submitted__gt=0), "complete": _complete()}
    if state == "unpublished":
        return rows.filter(hit=None)
    if state in on_hit:
        return rows.filter(hit__in=HIT.objects.filter(on_hit[state], batch=batch))
    return rows


def _complete() -> Q:
    return Q(open_places=0, pending=0, submitted=0)


def templates(requester: Requester) -> QuerySet[Template]:
    """Templates of a requester."""
    return requester.templates.defer("html")
