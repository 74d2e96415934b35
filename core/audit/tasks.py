"""The audit log's timer: sealing every minute; verifying and pruning every night."""

import logging
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from core.accounts import security
from core.audit import chain
from core.jobs.handlers import JobContext, handler
from core.jobs.models import Job, JobState
from core.jobs.services import enqueue

logger = logging.getLogger(__name__)
VERIFY = "audit.verify"


@shared_task(name="audit.seal")
def seal_task() -> None:
    """Every minute: seal what was written."""
    chain.seal_all()


@shared_task(name="audit.nightly")
def nightly() -> None:
    """Once a day: verify all chains; delete what is older than the operator wants."""
    day = f"{timezone.now():%Y-%m-%d}"
    enqueue(kind=VERIFY, payload={"day": day}, effect=f"audit-verify:{day}")


@handler(VERIFY, longest=timedelta(hours=6))
def verify_chains(context: JobContext) -> None:
    """Keep what was found as the job's result; the heads go into the security log, out of the database."""
    if settings.AUDIT_KEPT_DAYS:
        before = timezone.now() - timedelta(days=settings.AUDIT_KEPT_DAYS)
        chain.prune(before, why=f"AUDIT_KEPT_DAYS is {settings.AUDIT_KEPT_DAYS}")
    chain.seal_all(everything=True)
    faults: list[str] = []
    for report in chain.verify_all():
        name = f"{report.kind} {report.owner_id}"
        context.progress(len(faults), 0, f"Verifying {name}")
        faults += [f"{name}: {fault}" for fault in report.faults]
        security.log("audit.head", log=name, length=report.length, head=report.head)
    if faults:
        logger.critical("The audit log has %s faults: %s", len(faults), " ".join(faults[:10]))
    context.commit(lambda: {"faults": faults[:200]})


def last_faults() -> tuple[str, tuple[str, ...]] | None:
    """The day of the last look and what it found; None before the first one."""
    job = Job.objects.filter(kind=VERIFY, state=JobState.DONE).order_by("-finished_at", "-pk").first()
    if job is None:
        return None
    return job.payload["day"], tuple(job.result["faults"] if job.result else ())
