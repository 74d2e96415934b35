"""Workers of a requester: how much each did, how it was judged, and how fast it came."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from marketplace.models import Block, Bonus, Holding, QualificationGrant, Requester, Worker
from marketplace.requester.lookup import visible_work
from web.tables import Choices, Column, Grid, Words

State = Holding.State
#: Of a worker's time per answer so many of the latest ones tell.
LATEST = 100


def _rate(row: Worker) -> int | None:
    decided = row.approved + row.rejected  # type: ignore[attr-defined]
    return round(100 * row.approved / decided) if decided else None  # type: ignore[attr-defined]


_COUNTS = (
    Column("answered", "Answered", lambda row: row.answered, by="answered", down=True, number=True),
    Column("waiting", "To review", lambda row: row.waiting, by="waiting", down=True, number=True),
    Column("approved", "Approved", lambda row: row.approved, by="approved", down=True, number=True),
    Column("rejected", "Rejected", lambda row: row.rejected, by="rejected", down=True, number=True),
)
GRID = Grid(
    "workers",
    columns=(
        Column("worker", "Worker", lambda row: row.worker_id, by="worker_id"),
        Column("simulated", "Simulated", lambda row: row.simulated, on_page=False),
        *_COUNTS,
        Column("rate", "Approval rate", lambda row: row.rate, number=True),
        Column("seconds", "Median time", lambda row: row.median_seconds, number=True),
        Column("blocked", "Blocked", lambda row: row.blocked, on_page=False),
        Column("last", "Last answer", lambda row: row.last, by="last", down=True, gaps=True),
    ),
    filters=(
        Choices(
            "state",
            "Which workers to show",
            {"all": "All", "waiting": "With work to review", "blocked": "Blocked"},
            tabs=True,
        ),
        Words("q", "Worker id"),
    ),
    order="last",
)
WAITING = Grid(
    "review-by-worker",
    columns=(
        Column("worker", "Worker", lambda row: row.worker_id, by="worker_id"),
        Column("waiting", "To review", lambda row: row.answered, by="answered", down=True, number=True),
        Column("seconds", "Median time", lambda row: row.median_seconds, number=True),
        Column("due", "Next is approved by itself", lambda row: row.due, by="due"),
    ),
    filters=(Words("q", "Worker id"),),
    order="due",
)


def _mine(requester: Requester, now: datetime) -> Q:
    """Condition of workers' answers that this requester has got."""
    seen = Q(holdings__visible_at=None) | Q(holdings__visible_at__lte=now)
    return seen & Q(holdings__requester=requester, holdings__state__in=Holding.ANSWERED)


def _counted(rows: QuerySet[Worker], of: Q = Q()) -> QuerySet[Worker]:  # noqa: B008 - never changed
    def number(state: Holding.State) -> Count:
        return Count("holdings", filter=of & Q(holdings__state=state))

    return rows.annotate(
        answered=Count("holdings", filter=of or None),
        waiting=number(State.SUBMITTED),
        approved=number(State.APPROVED),
        rejected=number(State.REJECTED),
        last=Max("holdings__submitted_at", filter=of or None),
    )


def workers(requester: Requester, *, state: str, words: str, now: datetime) -> QuerySet[Worker]:
    """The rows of the table: who answered something, or who is blocked."""
    mine = _mine(requester, now)
    if state == "blocked":
        blocked = Block.objects.filter(requester=requester).values("worker")
        rows = _counted(Worker.objects.filter(pk__in=blocked), mine)
    else:
        rows = _counted(Worker.objects.filter(mine))
        if state == "waiting":
            rows = rows.filter(pk__in=waiting(requester, words="", now=now).values("pk"))
    return rows.filter(worker_id__icontains=words) if words else rows


def waiting(requester: Requester, *, words: str, now: datetime) -> QuerySet[Worker]:
    """Workers with work to review: how much (as `answered`), and when the next is approved by itself."""
    rows = Worker.objects.filter(_mine(requester, now) & Q(holdings__state=State.SUBMITTED))
    if words:
        rows = rows.filter(worker_id__icontains=words)
    return rows.annotate(answered=Count("holdings"), due=Min("holdings__auto_approve_at"))


def say_how_fast(requester: Requester, rows: list[Worker], now: datetime) -> list[Worker]:
    """Give each worker of a page the median time of their latest answers, and whether they are blocked."""
    place = Window(RowNumber(), partition_by="worker", order_by="-submitted_at")
    latest = visible_work(requester, now).filter(worker__in=rows).annotate(rank=place)
    taken: Iterable[tuple[Any, ...]] = (
        latest.filter(rank__lte=LATEST).order_by().values_list("worker", "accepted_at", "submitted_at")
    )
    times: dict[int, list[float]] = defaultdict(list)
    for pk, begin, end in taken:
        times[pk].append((end - begin).total_seconds())
    blocked = set(
        Block.objects.filter(requester=requester, worker__in=rows).values_list("worker_id", flat=True)
    )
    for row in rows:
        row.median_seconds = round(median(times[row.pk])) if times[row.pk] else None  # type: ignore[attr-defined]
        row.blocked = row.pk in blocked  # type: ignore[attr-defined]
        row.rate = _rate(row) if hasattr(row, "approved") else None  # type: ignore[attr-defined]
    return rows


@dataclass(frozen=True, slots=True)
class Record:
    """What a worker did for one requester."""

    answered: int
    waiting: int
    approved: int
    rejected: int
    first: datetime | None
    last: datetime | None
    bonus_cents: int
    median_seconds: float | None

    @property
    def rate(self) -> int | None:
        """Share of the decided work that was approved, in percent."""
        decided = self.approved + self.rejected
        return round(100 * self.approved / decided) if decided else None


def record(requester: Requester, worker: Worker, now: datetime) -> Record:
    """The worker's record, and how long their latest answers took."""
    mine = visible_work(requester, now).filter(worker=worker)
    found = mine.aggregate(
        answered=Count("pk"),
        waiting=Count("pk", filter=Q(state=State.SUBMITTED)),
        approved=Count("pk", filter=Q(state=State.APPROVED)),
        rejected=Count("pk", filter=Q(state=State.REJECTED)),
        first=Min("submitted_at"),
        last=Max("submitted_at"),
    )
    paid = Bonus.objects.filter(requester=requester, worker=worker).aggregate(sum=Sum("cents"))["sum"]
    latest = mine.order_by("-submitted_at").values_list("accepted_at", "submitted_at")
    taken: Iterable[tuple[Any, ...]] = latest[:LATEST]
    times = [(end - begin).total_seconds() for begin, end in taken]
    return Record(**found, bonus_cents=paid or 0, median_seconds=median(times) if times else None)


def latest_work(requester: Requester, worker: Worker, now: datetime, *, rows: int) -> list[Holding]:
    """The worker's latest answers, the newest first."""
    found = visible_work(requester, now).filter(worker=worker).select_related("worker", "hit__hit_type")
    return list(found.defer("answer", "hit__question").order_by("-submitted_at", "-pk")[:rows])


def grants(requester: Requester, worker: Worker) -> QuerySet[QualificationGrant]:
    """Qualifications of this requester that the worker holds or held."""
    return (
        QualificationGrant.objects.filter(
            worker=worker, qualification_type__requester=requester, qualification_type__deleted_at=None
        )
        .select_related("qualification_type")
        .order_by("qualification_type__name")
    )
