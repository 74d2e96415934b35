"""Qualifications of a requester: the types, who holds them, and who asks for them."""

from typing import Any

from django.db.models import Count, QuerySet

from marketplace.models import QualificationGrant, QualificationRequest, QualificationType, Requester
from web.tables import Choices, Column, Grid, Words

State = QualificationRequest.State
GRID = Grid(
    "qualifications",
    columns=(
        Column("id", "Id", lambda row: row.qualification_type_id, on_page=False),
        Column("name", "Qualification", lambda row: row.name, by="name"),
        Column("status", "Status", lambda row: row.status, by="status"),
        Column("holders", "Holders", lambda row: row.holders, number=True),
        Column("waiting", "Requests to decide", lambda row: row.waiting, number=True),
        Column("made", "Made", lambda row: row.created_at, by="created_at", down=True),
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
        Column("worker", "Worker", lambda row: row.worker.worker_id, by="worker__worker_id"),
        Column("simulated", "Simulated", lambda row: row.worker.simulated, on_page=False),
        Column("value", "Value", lambda row: row.value, by="value", down=True, number=True),
        Column("status", "Status", lambda row: row.status),
        Column("granted", "Since", lambda row: row.granted_at, by="granted_at", down=True),
        Column("reason", "Reason", lambda row: row.reason, on_page=False),
    ),
    filters=(
        Choices(
            "status", "Whom to show", {"Granted": "Holders", "Revoked": "Taken back", "all": "All"}, tabs=True
        ),
        Words("q", "Worker id"),
    ),
    order="granted",
)
REQUESTS = Grid(
    "qualification-requests",
    columns=(
        Column("request", "Request", lambda row: row.request_id, on_page=False),
        Column("worker", "Worker", lambda row: row.worker.worker_id, by="worker__worker_id"),
        Column("qualification", "Qualification", lambda row: row.qualification_type.name),
        Column("state", "State", lambda row: row.state),
        Column("score", "Score", lambda row: row.score, by="score", down=True, number=True, gaps=True),
        Column("asked", "Asked", lambda row: row.submitted_at, by="submitted_at", gaps=True),
        Column("decided", "Decided", lambda row: row.decided_at, on_page=False),
        Column("reason", "Reason", lambda row: row.reason, on_page=False),
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


def types(requester: Requester, *, status: str, words: str) -> QuerySet[QualificationType]:
    """The rows of the table, without their tests."""
    rows = QualificationType.objects.filter(requester=requester, deleted_at=None)
    if status != "all":
        rows = rows.filter(status=status)
    if words:
        rows = rows.filter(name__icontains=words) | rows.filter(description__icontains=words)
    return rows.defer("test", "answer_key")


def count(rows: list[QualificationType]) -> list[QualificationType]:
    """Give each type of a page its holders and the requests to decide, in two statements."""
    grants = QualificationGrant.objects.filter(
        qualification_type__in=rows, status=QualificationGrant.Status.GRANTED
    )
    asked = QualificationRequest.objects.filter(qualification_type__in=rows, state=State.PENDING)
    holding, waiting = _by_type(grants), _by_type(asked)
    for row in rows:
        row.holders, row.waiting = holding.get(row.pk, 0), waiting.get(row.pk, 0)  # type: ignore[attr-defined]
    return rows


def _by_type(rows: QuerySet[Any]) -> dict[int, int]:
    counted = rows.order_by().values("qualification_type").annotate(number=Count("pk"))
    return dict(counted.values_list("qualification_type", "number"))


def holders(kind: QualificationType, *, status: str, words: str) -> QuerySet[QualificationGrant]:
    """Who holds or held the qualification."""
    rows = QualificationGrant.objects.filter(qualification_type=kind)
    if status != "all":
        rows = rows.filter(status=status)
    if words:
        rows = rows.filter(worker__worker_id__icontains=words)
    return rows.select_related("worker")


def requests(requester: Requester, *, state: str, kind: str, words: str) -> QuerySet[QualificationRequest]:
    """Requests that workers made: what is begun and not handed in is nobody's business yet."""
    states = (State.PENDING, State.GRANTED, State.REJECTED) if state == "all" else (state,)
    rows = QualificationRequest.objects.filter(
        qualification_type__requester=requester, qualification_type__deleted_at=None, state__in=states
    )
    if kind:
        rows = rows.filter(qualification_type__qualification_type_id=kind)
    if words:
        rows = rows.filter(worker__worker_id__icontains=words)
    return rows.select_related("worker", "qualification_type").defer(
        "test", "answer_key", "answer", "qualification_type__test", "qualification_type__answer_key"
    )


def waiting_count(requester: Requester) -> int:
    """Requests that wait for a decision."""
    return requests(requester, state=State.PENDING, kind="", words="").count()
