"""HITs of a requester: the table, one of them, and who took its places."""

from datetime import datetime

from django.db.models import Q, QuerySet

from marketplace.models import HIT, Bonus, Holding, Requester
from marketplace.selectors import assignable, reviewable
from web.tables import Choices, Column, Grid, Words

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


GRID = Grid(
    "hits",
    columns=(
        Column("id", "HIT", lambda row: row.hit_id),
        Column("title", "Title", lambda row: row.hit_type.title, on_page=False),
        Column("type", "HIT type", lambda row: row.hit_type.type_id, on_page=False),
        Column("status", "State", _status),
        Column("waiting", "To review", lambda row: row.submitted, by="submitted", down=True, number=True),
        Column("approved", "Approved", lambda row: row.approved, by="approved", down=True, number=True),
        Column("rejected", "Rejected", lambda row: row.rejected, by="rejected", down=True, number=True),
        Column("working", "At work", lambda row: row.pending, by="pending", down=True, number=True),
        Column("open", "Open", lambda row: row.open_places, by="open_places", down=True, number=True),
        Column("places", "Places", lambda row: row.max_assignments, on_page=False),
        Column("annotation", "Annotation", lambda row: row.annotation, on_page=False),
        Column("made", "Made", lambda row: row.created_at, by="created_at", down=True, then=("-pk",)),
        Column("expires", "Expires", lambda row: row.expires_at, by="expires_at"),
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
    requester: Requester, *, state: str, hit_type: str, batch: str, words: str, now: datetime
) -> QuerySet[HIT]:
    """The rows of the table, without their questions."""
    rows = HIT.objects.filter(in_state(state, now), requester=requester)
    if hit_type:
        rows = rows.filter(hit_type__type_id=hit_type)
    if batch.isascii() and batch.isdigit() and len(batch) < 10:
        rows = rows.filter(batch__number=int(batch))
    if words:
        rows = rows.filter(
            Q(hit_id=words) | Q(annotation__icontains=words) | Q(hit_type__title__icontains=words)
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
