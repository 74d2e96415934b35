"""Workers, HITs and qualifications of a requester: the tables of its pages, and what they say of one row."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from marketplace.lifecycle.selectors import assignable, reviewable
from marketplace.models import (
    HIT,
    Block,
    Bonus,
    Holding,
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.requester.lookup import visible_work
from web import cells
from web.cells import Cell, chip, counts, isolated, link, more, several, states
from web.tables import Choices, Column, Grid, Words, count_column

# Workers: how much each did, how it was judged, and how fast it came.

State = Holding.State
#: Of a worker's time per answer so many of the latest ones tell.
LATEST = 100


def _rate(row: Worker) -> int | None:
    decided = row.approved + row.rejected  # type: ignore[attr-defined]
    return round(100 * row.approved / decided) if decided else None  # type: ignore[attr-defined]


def draw_worker(cell: Cell) -> object:
    """A worker's id, which leads to what they did, with what there is to know of them."""
    return _draw_id(cell, "requester:worker")


def _draw_to_review(cell: Cell) -> object:
    return _draw_id(cell, "requester:review_worker")


def _draw_id(cell: Cell, name: str) -> object:
    worker = getattr(cell.row, "worker", cell.row)
    return several(
        link(worker.worker_id, cell.address(name, worker.worker_id), mono=True),
        worker.simulated and chip("simulated"),
        getattr(worker, "blocked", False) and chip("blocked", "bad"),
    )


_COUNTS = (
    count_column("answered", "Answered"),
    count_column("waiting", "To review", cell=counts("requester:review_worker", "worker_id")),
    count_column("approved", "Approved"),
    count_column("rejected", "Rejected"),
)
WORKERS = Grid(
    "workers",
    columns=(
        Column("worker", "Worker", "worker_id", by="worker_id", cell=draw_worker),
        Column("simulated", "Simulated", on_page=False),
        *_COUNTS,
        Column("rate", "Approval rate", number=True, cell=cells.percent),
        Column("seconds", "Median time", "median_seconds", number=True, cell=cells.span),
        Column("blocked", "Blocked", on_page=False),
        Column("last", "Last answer", by="last", down=True, gaps=True),
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
        Column("worker", "Worker", "worker_id", by="worker_id", cell=_draw_to_review),
        Column("waiting", "To review", "answered", by="answered", down=True, number=True),
        Column("seconds", "Median time", "median_seconds", number=True, cell=cells.span),
        Column("due", "Next is approved automatically", by="due", cell=cells.ahead),
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


def workers(requester: Requester, *, state: str, query: str, now: datetime) -> QuerySet[Worker]:
    """The rows of the table: who answered something, or who is blocked."""
    mine = _mine(requester, now)
    if state == "blocked":
        blocked = Block.objects.filter(requester=requester).values("worker")
        rows = _counted(Worker.objects.filter(pk__in=blocked), mine)
    else:
        rows = _counted(Worker.objects.filter(mine))
        if state == "waiting":
            rows = rows.filter(pk__in=waiting(requester, query="", now=now).values("pk"))
    return rows.filter(worker_id__icontains=query) if query else rows


def waiting(requester: Requester, *, query: str, now: datetime) -> QuerySet[Worker]:
    """Workers with work to review: how much (as `answered`), and when the next is approved automatically."""
    rows = Worker.objects.filter(_mine(requester, now) & Q(holdings__state=State.SUBMITTED))
    if query:
        rows = rows.filter(worker_id__icontains=query)
    return rows.annotate(answered=Count("holdings"), due=Min("holdings__auto_approve_at"))


def say_how_fast(requester: Requester, rows: list[Worker], now: datetime) -> list[Worker]:
    """Give each worker of a page the median time of their latest answers, and whether they are blocked."""
    place = Window(RowNumber(), partition_by="worker", order_by="-submitted_at")
    latest = visible_work(requester, now).filter(worker__in=rows).annotate(rank=place)
    spans: Iterable[tuple[Any, ...]] = (
        latest.filter(rank__lte=LATEST).order_by().values_list("worker", "accepted_at", "submitted_at")
    )
    times: dict[int, list[float]] = defaultdict(list)
    for pk, begin, end in spans:
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
    counts = mine.aggregate(
        answered=Count("pk"),
        waiting=Count("pk", filter=Q(state=State.SUBMITTED)),
        approved=Count("pk", filter=Q(state=State.APPROVED)),
        rejected=Count("pk", filter=Q(state=State.REJECTED)),
        first=Min("submitted_at"),
        last=Max("submitted_at"),
    )
    paid = Bonus.objects.filter(requester=requester, worker=worker).aggregate(sum=Sum("cents"))["sum"]
    latest = mine.order_by("-submitted_at").values_list("accepted_at", "submitted_at")
    spans: Iterable[tuple[Any, ...]] = latest[:LATEST]
    times = [(end - begin).total_seconds() for begin, end in spans]
    return Record(**counts, bonus_cents=paid or 0, median_seconds=median(times) if times else None)


def latest_work(requester: Requester, worker: Worker, now: datetime, *, rows: int) -> list[Holding]:
    """The worker's latest answers, the newest first."""
    holdings = visible_work(requester, now).filter(worker=worker).select_related("worker", "hit__hit_type")
    return list(holdings.defer("answer", "hit__question").order_by("-submitted_at", "-pk")[:rows])


def grants(requester: Requester, worker: Worker) -> QuerySet[QualificationGrant]:
    """Qualifications of this requester that the worker holds or held."""
    return (
        QualificationGrant.objects.filter(
            worker=worker, qualification_type__requester=requester, qualification_type__deleted_at=None
        )
        .select_related("qualification_type")
        .order_by("qualification_type__name")
    )


# HITs: the table, one of them, and who took its places.

#: Possibilities of the filter by state; the protocol's own words where it has one.
STATES = {
    "all": "All",
    "assignable": "Assignable",
    "unassignable": "Unassignable",
    "waiting": "To review",
    "reviewable": "Reviewable",
    "reviewing": "Reviewing",
    "disposed": "Deleted",
}


def _status(row: HIT) -> str:
    return str(getattr(row, "status", ""))


_OF_HIT = {
    "Assignable": ("Assignable", "good"),
    "Unassignable": ("Unassignable", "wait"),
    "Reviewing": ("Reviewing", "wait"),
    "Reviewable": ("Reviewable", ""),
    "Disposed": ("Deleted", ""),
}
_REVIEW_HIT = counts("requester:review_hit", "hit_id")


def draw_hit(cell: Cell) -> object:
    """A HIT's title, which leads to it, and its id."""
    return describe_hit(cell, "requester:hit")


def describe_hit(cell: Cell, name: str) -> object:
    """A HIT as a link to the page of this name, with its id, its batch and what its maker noted."""
    hit = cell.row
    details = (
        isolated(hit.hit_id, mono=True),
        hit.batch and f"batch {hit.batch.number}",
        hit.annotation and isolated(hit.annotation, most=40),
    )
    title = link(hit.hit_type.title, cell.address(name, hit.hit_id), most=60)
    return several(title, more(several(*details, between=" · ")))


HITS = Grid(
    "hits",
    columns=(
        Column("id", "HIT", "hit_id", cell=draw_hit),
        Column("title", "Title", "hit_type.title", on_page=False),
        Column("type", "HIT type", "hit_type.type_id", on_page=False),
        Column("status", "State", _status, cell=states(_OF_HIT)),
        Column("waiting", "To review", "submitted", by="submitted", down=True, number=True, cell=_REVIEW_HIT),
        count_column("approved", "Approved"),
        count_column("rejected", "Rejected"),
        Column("working", "At work", "pending", by="pending", down=True, number=True),
        Column("open", "Open", "open_places", by="open_places", down=True, number=True),
        Column("places", "Places", "max_assignments", on_page=False),
        Column("annotation", "Annotation", on_page=False),
        Column("made", "Made", "created_at", by="created_at", down=True, then=("-pk",)),
        Column("expires", "Expires", "expires_at", by="expires_at", cell=cells.ahead),
    ),
    filters=(
        Choices("state", "Which HITs to show", STATES, tabs=True),
        Words("type", "HIT type", hidden=True),
        Words("batch", "Batch", hidden=True),
        Words("q", "HIT id, annotation, or words of the title"),
    ),
    order="made",
)


def in_state(state: str, now: datetime) -> Q:
    """Condition of HITs in one of `STATES`."""
    if state == "assignable":
        return assignable(now)
    if state == "unassignable":
        return Q(disposed_at=None, pending__gt=0) & (Q(expires_at__lte=now) | Q(open_places=0))
    if state in ("reviewable", "reviewing"):
        return reviewable(now) & Q(reviewing=state == "reviewing")
    if state == "waiting":
        return Q(submitted__gt=0)
    return Q(disposed_at__isnull=state != "disposed")


def hits(
    requester: Requester, *, state: str, hit_type: str, batch: str, query: str, now: datetime
) -> QuerySet[HIT]:
    """The rows of the table, without their questions."""
    rows = HIT.objects.filter(in_state(state, now), requester=requester)
    if hit_type:
        rows = rows.filter(hit_type__type_id=hit_type)
    if batch.isascii() and batch.isdigit() and len(batch) < 10:
        rows = rows.filter(batch__number=int(batch))
    if query:
        rows = rows.filter(
            Q(hit_id=query) | Q(annotation__icontains=query) | Q(hit_type__title__icontains=query)
        )
    return rows.select_related("hit_type", "batch").defer(
        "question", "assignment_review_policy", "hit_review_policy"
    )


def people(hit: HIT, now: datetime) -> QuerySet[Holding]:
    """Everybody who took a place of the HIT, as far as a requester may see, the latest first."""
    answered = Q(state__in=Holding.ANSWERED) & (Q(visible_at=None) | Q(visible_at__lte=now))
    return (
        Holding.objects.filter(answered, hit=hit)
        .select_related("worker")
        .defer("answer")
        .order_by("-submitted_at", "-pk")
    )


def bonuses(hit: HIT) -> QuerySet[Bonus]:
    """Bonuses paid for work on the HIT, the latest first."""
    return Bonus.objects.filter(hit=hit).select_related("worker").order_by("-granted_at", "-pk")


# Qualifications: the types, who holds them, and who asks for them.

RequestState = QualificationRequest.State
_REQUESTS_OF = counts("requester:qualification_requests", "qualification_type_id", query="?type={}")


def _draw_type(cell: Cell) -> object:
    name = cell.row.qualification_type_id
    return several(link(cell.value, cell.address("requester:qualification", name)), more(name, mono=True))


def _draw_status(cell: Cell) -> object:
    return chip(cell.row.wire_status, "good" if cell.value == "Active" else "")


TYPES = Grid(
    "qualifications",
    columns=(
        Column("id", "Id", "qualification_type_id", on_page=False),
        Column("name", "Qualification", by="name", cell=_draw_type),
        Column("status", "Status", by="status", cell=_draw_status),
        Column("holders", "Holders", number=True),
        Column("waiting", "Requests to decide", number=True, cell=_REQUESTS_OF),
        Column("made", "Made", "created_at", by="created_at", down=True),
    ),
    filters=(
        Choices("status", "Status", {"all": "All", "Active": "Active", "Inactive": "Inactive"}, tabs=True),
        Words("q", "Words of the name or description"),
    ),
    order="made",
)
HOLDERS = Grid(
    "holders",
    columns=(
        Column("worker", "Worker", "worker.worker_id", by="worker__worker_id", cell=draw_worker),
        Column("simulated", "Simulated", "worker.simulated", on_page=False),
        Column("value", "Value", by="value", down=True, number=True, cell=cells.as_it_is),
        Column("status", "Status", cell=states({"Granted": "good", "Revoked": ("Taken back", "")})),
        Column("granted", "Since", "granted_at", by="granted_at", down=True),
        Column("reason", "Reason", on_page=False),
    ),
    filters=(
        Choices(
            "status", "Whom to show", {"Granted": "Holders", "Revoked": "Taken back", "all": "All"}, tabs=True
        ),
        Words("q", "Worker id"),
    ),
    order="granted",
)
#: What a state of a request is called, and its level.
OF_REQUEST = {
    "pending": ("To decide", "wait"),
    "granted": ("Granted", "good"),
    "rejected": ("Rejected", "bad"),
}


def _draw_request(cell: Cell) -> object:
    address = cell.address("requester:qualification_request", cell.row.request_id)
    return several(link(cell.value, address, mono=True), cell.row.worker.simulated and chip("simulated"))


REQUESTS = Grid(
    "qualification-requests",
    columns=(
        Column("request", "Request", "request_id", on_page=False),
        Column("worker", "Worker", "worker.worker_id", by="worker__worker_id", cell=_draw_request),
        Column("qualification", "Qualification", "qualification_type.name"),
        Column("state", "State", cell=states(OF_REQUEST)),
        Column("score", "Score", by="score", down=True, number=True, gaps=True),
        Column("asked", "Asked", "submitted_at", by="submitted_at", gaps=True),
        Column("decided", "Decided", "decided_at", on_page=False),
        Column("reason", "Reason", on_page=False),
    ),
    filters=(
        Choices(
            "state",
            "Which requests to show",
            {"pending": "To decide", "all": "All", "granted": "Granted", "rejected": "Rejected"},
            tabs=True,
        ),
        Words("type", "Qualification", hidden=True),
        Words("q", "Worker id"),
    ),
    order="asked",
)


def types(requester: Requester, *, status: str, query: str) -> QuerySet[QualificationType]:
    """The rows of the table, without their tests."""
    rows = QualificationType.objects.filter(requester=requester, deleted_at=None)
    if status != "all":
        rows = rows.filter(status=status)
    if query:
        rows = rows.filter(name__icontains=query) | rows.filter(description__icontains=query)
    return rows.defer("test", "answer_key")


def count_holders(rows: list[QualificationType]) -> list[QualificationType]:
    """Give each type of a page its holders and the requests to decide, in two statements."""
    grants = QualificationGrant.objects.filter(
        qualification_type__in=rows, status=QualificationGrant.Status.GRANTED
    )
    pending = QualificationRequest.objects.filter(qualification_type__in=rows, state=RequestState.PENDING)
    holding, waiting = _by_type(grants), _by_type(pending)
    for row in rows:
        row.holders, row.waiting = holding.get(row.pk, 0), waiting.get(row.pk, 0)  # type: ignore[attr-defined]
    return rows


def _by_type(rows: QuerySet[Any]) -> dict[int, int]:
    counted = rows.order_by().values("qualification_type").annotate(number=Count("pk"))
    return dict(counted.values_list("qualification_type", "number"))


def holders(kind: QualificationType, *, status: str, query: str) -> QuerySet[QualificationGrant]:
    """Who holds or held the qualification."""
    rows = QualificationGrant.objects.filter(qualification_type=kind)
    if status != "all":
        rows = rows.filter(status=status)
    if query:
        rows = rows.filter(worker__worker_id__icontains=query)
    return rows.select_related("worker")


def requests(requester: Requester, *, state: str, kind: str, query: str) -> QuerySet[QualificationRequest]:
    """Requests that workers made: what is begun and not handed in is nobody's business yet."""
    states = (
        (RequestState.PENDING, RequestState.GRANTED, RequestState.REJECTED) if state == "all" else (state,)
    )
    rows = QualificationRequest.objects.filter(
        qualification_type__requester=requester, qualification_type__deleted_at=None, state__in=states
    )
    if kind:
        rows = rows.filter(qualification_type__qualification_type_id=kind)
    if query:
        rows = rows.filter(worker__worker_id__icontains=query)
    return rows.select_related("worker", "qualification_type").defer(
        "test", "answer_key", "answer", "qualification_type__test", "qualification_type__answer_key"
    )


def count_waiting_requests(requester: Requester) -> int:
    """Requests that wait for a decision."""
    return requests(requester, state=RequestState.PENDING, kind="", query="").count()
