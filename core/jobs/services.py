"""What can happen to a job. Every change is one conditional UPDATE whose row count decides.

A job is claimed under a lease: an owner id that no other attempt has, and a time. Whatever an attempt writes
is written under the condition that the lease is still its own, so a worker that was taken for dead can come
back late and change nothing. Times are the database's.
"""

import logging
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce, Now
from kombu.exceptions import ChannelError, OperationalError

from core.jobs.errors import LeaseLostError
from core.jobs.models import OPEN_STATES, Job, JobState, WorkerHeartbeat
from core.jobs.spans import current_request_id

logger = logging.getLogger(__name__)

RETRY_SECONDS, LONGEST_RETRY_SECONDS = 10, 3600
RESEND_SECONDS, LONGEST_RESEND_SECONDS = 30, 3600
BATCH = 500
#: Attempts at a job that runs longer than its kind may: the second time it is no passing trouble.
OVERLONG_ATTEMPTS = 2
NO_LEASE: dict[str, Any] = {"lease_owner": None, "lease_until": None}


def enqueue(*, kind: str, payload: dict[str, Any], effect: str | None = None) -> Job:
    """Queue a job with the transaction around this call; of jobs with the same `effect` there is only one."""
    values = {
        "kind": kind,
        "payload": payload,
        "announce_after": _in(RESEND_SECONDS),
        "request_id": current_request_id(),
    }
    if effect is None:
        job, is_new = Job.objects.create(**values), True
    else:
        job, is_new = Job.objects.get_or_create(effect=effect, defaults=values)
    if is_new:
        job.refresh_from_db()
        transaction.on_commit(lambda: announce(job_id=job.pk), robust=True)
    return job


def begin(*, kind: str, payload: dict[str, Any]) -> Job:
    """A job that this process does itself, at once and only once: claimed already, and no worker's ever.

    Whoever begins one keeps its lease alive (`JobContext.heartbeats`) and finishes or fails it.
    """
    job = Job.objects.create(
        kind=kind,
        payload=payload,
        request_id=current_request_id(),
        state=JobState.RUNNING,
        attempts=1,
        max_attempts=1,
        lease_owner=uuid4(),
        lease_until=_in(settings.JOBS_LEASE_SECONDS),
        heartbeat_at=Now(),
        reported_at=Now(),
        started_at=Now(),
    )
    job.refresh_from_db()
    return job


def announce(*, job_id: int) -> bool:
    """Send the message that the job is due. If the broker is down, reconcile sends it later."""
    try:
        current_app.send_task("jobs.run", args=[job_id])
    except (OperationalError, ChannelError, OSError):
        logger.warning("Job %s could not be announced; reconcile will try again.", job_id, exc_info=True)
        return False
    return True


def claim(*, job_id: int) -> Job | None:
    """Start an attempt at a queued job that is due, or None: somebody has it, or it is not to run now."""
    owner = uuid4()
    claimed = Job.objects.filter(pk=job_id, state=JobState.QUEUED, run_after__lte=Now()).update(
        state=JobState.RUNNING,
        attempts=F("attempts") + 1,
        lease_owner=owner,
        lease_until=_in(settings.JOBS_LEASE_SECONDS),
        heartbeat_at=Now(),
        reported_at=Now(),
        started_at=Coalesce(F("started_at"), Now()),
        error="",
    )
    return Job.objects.get(pk=job_id) if claimed else None


def heartbeat(*, job: Job) -> bool:
    """Extend the lease of this attempt; False if it is lost."""
    return bool(
        _leased_row(job).update(lease_until=_in(settings.JOBS_LEASE_SECONDS), heartbeat_at=Now()),
    )


def report_progress(*, job: Job, done: int, total: int, note: str) -> bool:
    """Store how far this attempt has come and extend its lease; False if that is lost."""
    return bool(
        _leased_row(job).update(
            progress_done=done,
            progress_total=total,
            progress_note=note[:200],
            lease_until=_in(settings.JOBS_LEASE_SECONDS),
            heartbeat_at=Now(),
            reported_at=Now(),
        )
    )


def finish(*, job: Job, effect: Callable[[], Any] | None = None, result: Any = None) -> Any:
    """Mark the job done and run its effect, both or neither; LeaseLostError if the lease is gone.

    The guard comes first: it locks the row, so no other attempt can start between it and the effect.
    """
    with transaction.atomic():
        if not _leased_row(job).update(state=JobState.DONE, finished_at=Now(), error="", **NO_LEASE):
            raise LeaseLostError(f"{job} belongs to another attempt; this one changed nothing.")
        if effect is not None:
            result = effect()
        if result is not None:
            Job.objects.filter(pk=job.pk).update(result=result)
    return result


def fail(*, job: Job, error: str, permanent: bool = False) -> bool:
    """Record a failed attempt: queued for later, or failed for good; False if the lease was lost."""
    if permanent or job.attempts >= job.max_attempts:
        changed = _leased_row(job).update(state=JobState.FAILED, finished_at=Now(), error=error, **NO_LEASE)
    else:
        wait = min(LONGEST_RETRY_SECONDS, RETRY_SECONDS * 4 ** (job.attempts - 1))
        changed = _leased_row(job).update(
            state=JobState.QUEUED, run_after=_in(wait), announce_after=_in(wait), error=error, **NO_LEASE
        )
    return bool(changed)


def end_overlong(*, job: Job, longest: timedelta) -> bool:
    """End an attempt that took longer than its kind may: once more where it hung, then failed for good."""
    error = (
        f"Stopped after {format_span(longest)}, the longest that a job of the kind {job.kind} may run. "
        "What it had not finished was not kept."
    )
    return fail(job=job, error=error, permanent=job.attempts >= OVERLONG_ATTEMPTS)


def format_span(span: timedelta) -> str:
    """A span of time in its largest unit of which it has two or more: "90 minutes", "6 hours"."""
    seconds = int(span.total_seconds())
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"


def release(*, job: Job) -> bool:
    """Give an unfinished job back because this worker stops; the attempt does not count."""
    released = _leased_row(job).update(
        state=JobState.QUEUED, attempts=F("attempts") - 1, announce_after=_in(RESEND_SECONDS), **NO_LEASE
    )
    if released:
        announce(job_id=job.pk)
    return bool(released)


def cancel(*, job_id: int) -> bool:
    """Close a job that is queued or running; a running attempt notices at its next word and has no effect."""
    return bool(
        Job.objects.filter(pk=job_id, state__in=OPEN_STATES).update(
            state=JobState.CANCELLED, finished_at=Now(), **NO_LEASE
        )
    )


def retry(*, job_id: int) -> bool:
    """Queue a failed or cancelled job again, with all its attempts; False if it is neither."""
    queued = Job.objects.filter(pk=job_id, state__in=[JobState.FAILED, JobState.CANCELLED]).update(
        state=JobState.QUEUED,
        attempts=0,
        announcements=0,
        run_after=Now(),
        announce_after=_in(RESEND_SECONDS),
        finished_at=None,
    )
    if queued:
        transaction.on_commit(lambda: announce(job_id=job_id), robust=True)
    return bool(queued)


@dataclass(frozen=True)
class ReconcileCounts:
    """What one reconcile tick found."""

    requeued: int
    failed: int
    announced: int


def reconcile() -> ReconcileCounts:
    """Put right what died: jobs of vanished workers, and queued jobs whose message got lost."""
    requeued, failed = _end_expired_leases()
    return ReconcileCounts(requeued=requeued, failed=failed, announced=_announce_waiting())


def worker_name() -> str:
    """What this worker process is called: its host and its number there."""
    return f"{socket.gethostname()}:{os.getpid()}"


def worker_seen(*, name: str) -> None:
    """Note that this worker process answers; forget the ones silent for a day."""
    WorkerHeartbeat.objects.update_or_create(name=name, defaults={"seen_at": Now()})
    WorkerHeartbeat.objects.filter(seen_at__lt=_in(-86400)).delete()


def worker_polled(*, name: str) -> None:
    """Note that this worker process runs, whether the timer does or not."""
    WorkerHeartbeat.objects.filter(name=name).update(polled_at=Now())


def _end_expired_leases() -> tuple[int, int]:
    requeued = failed = 0
    expired = Job.objects.filter(state=JobState.RUNNING, lease_until__lt=Now())
    for job in expired.order_by("lease_until")[:BATCH]:
        still = _leased_row(job).filter(lease_until__lt=Now())
        if job.attempts >= job.max_attempts:
            times = "once" if job.attempts == 1 else f"{job.attempts} times"
            failed += still.update(
                state=JobState.FAILED,
                finished_at=Now(),
                error=f"Given up: the worker that ran this job stopped answering, {times}.",
                **NO_LEASE,
            )
        else:
            requeued += still.update(
                state=JobState.QUEUED, run_after=Now(), announce_after=Now(), announcements=0, **NO_LEASE
            )
    return requeued, failed


def _announce_waiting() -> int:
    """Send messages for due jobs that nobody took, ever more rarely: the queue may just be long."""
    sent = 0
    waiting = Job.objects.filter(state=JobState.QUEUED, run_after__lte=Now(), announce_after__lte=Now())
    for pk, before in waiting.order_by("announce_after").values_list("pk", "announcements")[:BATCH]:
        mine = Job.objects.filter(pk=pk, state=JobState.QUEUED)
        wait = min(LONGEST_RESEND_SECONDS, RESEND_SECONDS * 2 ** min(before, 10))
        if not mine.filter(announcements=before).update(announcements=before + 1, announce_after=_in(wait)):
            continue
        if not announce(job_id=pk):
            mine.filter(announcements=before + 1).update(announcements=before, announce_after=Now())
            break
        sent += 1
    return sent


def _leased_row(job: Job) -> QuerySet[Job]:
    """The row, under the condition that the lease is the one `job` was claimed with."""
    return Job.objects.filter(pk=job.pk, state=JobState.RUNNING, lease_owner=job.lease_owner)


def _in(seconds: float) -> CombinedExpression:
    """The database's time, `seconds` from now."""
    return Now() + timedelta(seconds=seconds)
