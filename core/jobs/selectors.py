"""Questions about jobs."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, F, Max, Q, QuerySet
from django.db.models.functions import Coalesce, Greatest, Now

from core.jobs.models import OPEN_STATES, Job, JobState, WorkerHeartbeat


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


@dataclass(frozen=True, slots=True)
class Silences:
    """Time since the last sign of life; None where there never was one.

    The timer shows its own through a worker, so a dead worker silences it too.
    """

    worker: timedelta | None
    timer: timedelta | None


def silences() -> Silences:
    """Time since any worker last gave a sign of life, and since the timer last reached one."""
    seen = Greatest("polled_at", "seen_at")
    newest = WorkerHeartbeat.objects.aggregate(
        timer=Max("seen_at"), worker=Max(Coalesce(seen, "seen_at")), now=Max(Now())
    )
    now = newest["now"]
    timer, worker = (
        None if newest[name] is None else max(now - newest[name], timedelta()) for name in ("timer", "worker")
    )
    return Silences(worker=worker, timer=timer)


def worker_silence() -> timedelta | None:
    """How long ago a worker last answered the reconcile tick; None if none ever did."""
    return silences().timer


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
