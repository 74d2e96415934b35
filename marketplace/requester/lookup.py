"""From what an address of the requester site names to a row: rows of another requester do not exist."""

from datetime import datetime

from django.db.models import Q, QuerySet
from django.http import Http404

from marketplace.models import (
    HIT,
    Block,
    Holding,
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)


def own_hit(requester: Requester, hit_id: str) -> HIT:
    """A HIT of this requester, with its type and batch."""
    hit = HIT.objects.select_related("hit_type", "batch").filter(requester=requester, hit_id=hit_id).first()
    if hit is None:
        raise Http404("There is no such HIT.")
    hit.requester = hit.hit_type.requester = requester
    return hit


def visible_work(requester: Requester, now: datetime) -> QuerySet[Holding]:
    """Answers that this requester has got, in whatever state they are."""
    return Holding.objects.filter(
        Q(visible_at=None) | Q(visible_at__lte=now),
        requester=requester,
        state__in=Holding.ANSWERED,
    )


def own_work(requester: Requester, pk: int, now: datetime) -> Holding:
    """An answer that this requester has got, with worker, HIT and HIT type."""
    holding = (
        visible_work(requester, now)
        .select_related("worker", "hit__hit_type", "hit__batch")
        .defer("hit__question")
        .filter(pk=min(pk, 2**63 - 1))
        .first()
    )
    if holding is None:
        raise Http404("There is no such work.")
    return holding


def own_worker(requester: Requester, worker_id: str, now: datetime) -> Worker:
    """Somebody whom this requester knows: by work, a qualification or the wish for one, or a block.

    Other workers do not exist for it, so that nobody can find out here who works for others.
    """
    worker = Worker.objects.filter(worker_id=worker_id).first()
    if worker is None or not any(
        rows.exists()
        for rows in (
            visible_work(requester, now).filter(worker=worker),
            QualificationGrant.objects.filter(worker=worker, qualification_type__requester=requester),
            Block.objects.filter(worker=worker, requester=requester),
            QualificationRequest.objects.filter(worker=worker, qualification_type__requester=requester),
        )
    ):
        raise Http404("There is no such worker.")
    return worker


def own_qualification(requester: Requester, qualification_type_id: str) -> QualificationType:
    """A qualification type of this requester that is not deleted."""
    kind = QualificationType.objects.filter(
        requester=requester, qualification_type_id=qualification_type_id, deleted_at=None
    ).first()
    if kind is None:
        raise Http404("There is no such qualification.")
    kind.requester = requester
    return kind


def own_request(requester: Requester, request_id: str) -> QualificationRequest:
    """A worker's request of a qualification of this requester, once it is handed in."""
    row = (
        QualificationRequest.objects.select_related("worker", "qualification_type")
        .filter(
            qualification_type__requester=requester,
            request_id=request_id,
            submitted_at__isnull=False,
        )
        .first()
    )
    if row is None:
        raise Http404("There is no such request.")
    row.qualification_type.requester = requester
    return row
