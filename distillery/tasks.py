"""Periodic work of the installation itself."""

from datetime import timedelta

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from celery import shared_task
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from core.accounts.devices import forget_ended
from core.accounts.models import SignedKey
from core.api import idempotency
from core.api.models import ApiToken
from core.jobs.models import OPEN_STATES, Job
from core.notices.models import Notice
from core.webhooks.tasks import prune as prune_webhooks
from distillery.deadmanswitch import ping
from judgments.models import AgreementReport, FilterRun
from marketplace.ledger import AUDIT
from marketplace.retention import delete_in_batches

# What is deleted when it is old: ended sessions and keys, sign-ins, done jobs, notices, replaced reports.


def prune() -> int:
    """Delete what is no longer needed; how many rows.

    Sessions go when they end, replies of the API after seven days. The rest goes LOGS_KEPT_DAYS later; 0
    keeps it for ever. A job whose effect may happen once only stays, for its row is what keeps it from
    happening again.
    """
    now = timezone.now()
    gone = delete_in_batches(Session.objects.filter(expire_date__lt=now))
    gone += delete_in_batches(idempotency.over()) + prune_webhooks()
    gone += delete_in_batches(forget_ended())
    if not settings.LOGS_KEPT_DAYS:
        return gone
    old = now - timedelta(days=settings.LOGS_KEPT_DAYS)
    for model in (AccessAttempt, AccessFailureLog, AccessLog):
        gone += delete_in_batches(model.objects.filter(attempt_time__lt=old))
    closed = Job.objects.exclude(state__in=OPEN_STATES).filter(finished_at__lt=old)
    gone += delete_in_batches(closed.filter(Q(effect=None) | Q(kind=AUDIT)))
    gone += delete_in_batches(SignedKey.objects.filter(expires_at__lt=old))
    gone += delete_in_batches(ApiToken.objects.filter(Q(expires_at__lt=old) | Q(revoked_at__lt=old)))
    gone += delete_in_batches(_old_reports().filter(created_at__lt=old))
    return gone + delete_in_batches(Notice.objects.filter(over_at__lt=old))


def _old_reports() -> QuerySet[AgreementReport]:
    """Reports on agreement that later ones replaced, except those of filters in force.

    They can be computed again from the judgments, which stay. A report on a million judgments takes 40 MB.
    """
    newest = AgreementReport.objects.filter(stage=OuterRef("stage")).order_by("-created_at", "-pk")
    return AgreementReport.objects.exclude(pk=Subquery(newest.values("pk")[:1])).exclude(
        pk__in=AgreementReport.objects.filter(run__in=FilterRun.objects.in_force())
    )


@shared_task(name="distillery.prune")
def prune_old_rows() -> None:
    """Every hour: what is old goes, in short transactions."""
    prune()


@shared_task(name="distillery.ping")
def ping_elsewhere() -> None:
    """Every minute: call PING_URL, which shows that timer, broker, worker and database work."""
    ping()
