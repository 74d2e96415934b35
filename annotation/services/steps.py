"""A query's way: from one status to the next, once, with a row that says why."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import Query, QueryStep
from crowd.models import Stage


@transaction.atomic
def move(
    *,
    query: Query,
    to: Query.Status,
    reason: str,
    stage: Stage | None = None,
    actor: Any = None,
    details: dict[str, Any] | None = None,
    by_hand: bool | None = None,
) -> bool:
    """Move a query on from the status that `query` was read with.

    False, and nothing changes, when somebody else has moved it in the meantime. `actor` None: a rule did it.
    `by_hand` says whether votes move it from now on; None leaves that as it is.
    """
    reason = reason[:300]
    marks = {} if by_hand is None else {"by_hand": by_hand}
    moved = Query.objects.filter(pk=query.pk, status=query.status).update(
        status=to, status_reason=reason, **marks
    )
    if not moved:
        return False
    QueryStep.objects.create(
        query=query,
        at=timezone.now(),
        stage=stage,
        actor=actor,
        before=query.status,
        after=to,
        reason=reason,
        details=details or {},
    )
    query.status, query.status_reason = to, reason
    return True
