"""How long logs are kept: what is older goes every night, in short transactions."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Model, QuerySet

from marketplace import clock
from marketplace.models import CallLog, KeyAlert, RefusedCalls

_AT_ONCE = 5_000


def prune() -> int:
    """Delete calls, counts and seen alerts older than the retention. Activity is part of the audit log."""
    if not settings.LOGS_KEPT_DAYS:
        return 0
    now, kept = clock.now(), timedelta(days=settings.LOGS_KEPT_DAYS)
    gone = delete_in_batches(CallLog.objects.filter(at__lt=now - kept))
    gone += delete_in_batches(RefusedCalls.objects.filter(day__lt=(now - kept).date()))
    return gone + delete_in_batches(KeyAlert.objects.filter(seen_at__lt=now - kept))


def delete_in_batches(rows: QuerySet[Model]) -> int:
    """Delete rows by their keys, some thousands in each transaction; how many."""
    gone = 0
    while some := list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE]):
        rows.model._default_manager.filter(pk__in=some).delete()
        gone += len(some)
    return gone
