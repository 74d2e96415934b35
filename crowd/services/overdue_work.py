"""Answers that the marketplace never listed, and work whose time is over."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from crowd.models import Assignment, Stage
from crowd.services import decisions, unproven
from crowd.services.decisions import recount_all
from crowd.services.stages import by_key

State = Assignment.State
#: An answer that the marketplace has not listed so long after the time allowed was never submitted there.
_UNLISTED_AFTER = timedelta(hours=1)


def give_up_the_unlisted(stage: Stage) -> int:
    """Quarantine answers that the marketplace never listed, and end work whose time is over."""
    now = timezone.now()
    allowed = timedelta(seconds=stage.work_seconds)
    forged = _quarantine_the_unlisted(
        Assignment.objects.filter(
            stage=stage,
            state=State.STORED,
            stored_at__lt=now - allowed - _UNLISTED_AFTER,
            hit__synced_at__gt=F("stored_at") + allowed + _UNLISTED_AFTER,
        )
    )
    overdue = Assignment.objects.filter(
        stage=stage, state=State.WORKING, arrived_at__lt=now - allowed - _UNLISTED_AFTER
    )
    for assignment in by_key(overdue):
        decisions.end_assignment(assignment)
    unproven.sweep(stage)
    return forged


@transaction.atomic
def _quarantine_the_unlisted(forged: QuerySet[Assignment]) -> int:
    rows = list(forged.select_for_update(of=("self",), no_key=True).select_related("worker"))
    recount_all(rows, "was never listed by the marketplace")
    return Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=State.QUARANTINED,
        held=True,
        note="Answered here, but the marketplace never listed it: a forged address or a lost submission.",
    )
