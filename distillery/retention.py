"""What goes when it is old: sessions that ended, sign-ins, jobs that are done, notices that are over."""

from datetime import timedelta

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Q
from django.utils import timezone

from jobs.models import OPEN_STATES, Job
from marketplace.audits import AUDIT
from marketplace.retention import delete_in_batches
from notices.models import Notice


def prune() -> int:
    """Delete what is no longer needed; how many rows.

    Sessions go when they end. The rest goes LOGS_KEPT_DAYS later; 0 keeps it for ever. A job whose effect may
    happen once only stays, for its row is what keeps it from happening again.
    """
    now = timezone.now()
    gone = delete_in_batches(Session.objects.filter(expire_date__lt=now))
    if not settings.LOGS_KEPT_DAYS:
        return gone
    old = now - timedelta(days=settings.LOGS_KEPT_DAYS)
    for model in (AccessAttempt, AccessFailureLog, AccessLog):
        gone += delete_in_batches(model.objects.filter(attempt_time__lt=old))
    closed = Job.objects.exclude(state__in=OPEN_STATES).filter(finished_at__lt=old)
    gone += delete_in_batches(closed.filter(Q(effect=None) | Q(kind=AUDIT)))
    return gone + delete_in_batches(Notice.objects.filter(over_at__lt=old))
