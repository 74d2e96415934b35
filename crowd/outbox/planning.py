"""Planning an operation: one row, its reservation, once per purpose."""

import uuid
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from crowd import budget
from crowd.budget import Cost, MovementPurpose
from crowd.models import Assignment, Endpoint, Hit, MarketOperation, Stage

Kind = MarketOperation.Kind
NOTHING = Cost(0)


@transaction.atomic
def plan(
    *,
    kind: MarketOperation.Kind,
    endpoint: Endpoint,
    target: str,
    purpose: str,
    payload: dict[str, Any],
    stage: Stage | None = None,
    hit: Hit | None = None,
    assignment: Assignment | None = None,
    cost: Cost = NOTHING,
    not_before: datetime | None = None,
    pk: uuid.UUID | None = None,
) -> MarketOperation:
    """Plan an operation and reserve what it costs; the same kind, target and purpose are planned once.

    `pk` is for what must keep its token even if this row is lost. Raises BudgetError where the money is not
    there; then nothing is planned.
    """
    now = timezone.now()
    operation, created = MarketOperation.objects.get_or_create(
        kind=kind,
        target=target,
        purpose=purpose,
        defaults={
            "id": pk or uuid.uuid4(),
            "endpoint": endpoint,
            "endpoint_url": endpoint.url,
            "stage": stage,
            "hit": hit,
            "assignment": assignment,
            "payload": payload,
            "amount_cents": cost.cents,
            "fee_cents": cost.fee_cents,
            "planned_at": now,
            "not_before": not_before or now,
        },
    )
    if created and cost.total:
        assert stage is not None
        budget.reserve(
            stage,
            cost,
            MovementPurpose(kind, operation=operation, hit=hit, assignment=assignment),
            at=now,
        )
    return operation
