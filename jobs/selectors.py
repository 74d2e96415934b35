"""Questions about jobs."""

from datetime import timedelta

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Now

from jobs.models import OPEN_STATES, Job, JobState, WorkerHeartbeat


def jobs_listed(*, state: str | None = None) -> QuerySet[Job]:
    """Jobs, newest first; of one state if given."""
    jobs = Job.objects.order_by("-pk")
    return jobs if state is None else jobs.filter(state=state)


def jobs_counted() -> dict[str, int]:
    """How many jobs there are in each state."""
    counted = dict(Job.objects.order_by().values_list("state").annotate(Count("pk")))
    return {state: counted.get(state, 0) for state in JobState.values}


def is_alive(*, job_id: int) -> bool:
    """Whether somebody does this job or will: it is not over, nor is the lease of its last attempt."""
    last = Q(state=JobState.RUNNING, attempts__gte=F("max_attempts"), lease_until__lt=Now())
    return Job.objects.filter(pk=job_id, state__in=OPEN_STATES).exclude(last).exists()


def worker_silence() -> timedelta | None:
    """How long ago a worker last answered the reconcile tick; None if none ever did."""
    beats = WorkerHeartbeat.objects.annotate(now=Now()).order_by("-seen_at")
    newest = beats.values_list("seen_at", "now").first()
    return None if newest is None else max(newest[1] - newest[0], timedelta())


def due_jobs(*, most: int) -> list[int]:
    """Keys of queued jobs that are due, those that wait longest first."""
    due = Job.objects.filter(state=JobState.QUEUED, run_after__lte=Now())
    return list(due.order_by("run_after", "pk").values_list("pk", flat=True)[:most])


def silent_jobs(*, since: timedelta) -> QuerySet[Job]:
    """Running jobs whose handler has reported nothing for so long; `now` is the database's time."""
    return (
        Job.objects.annotate(now=Now())
        .filter(state=JobState.RUNNING, reported_at__lt=Now() - since)
        .order_by("reported_at")
    )
