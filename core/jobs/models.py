"""The rows that are the jobs. A message on the broker is only a hint that one of them is due."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now


class JobState(models.TextChoices):
    """Where a job is in its life."""

    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


OPEN_STATES = [JobState.QUEUED, JobState.RUNNING]


class Job(models.Model):
    """One piece of background work, done exactly once however often its worker dies.

    All times are the database's own, so that hosts whose clocks disagree still agree about a lease.
    """

    kind = models.CharField(max_length=100)
    effect = models.CharField(
        max_length=200, null=True, blank=True, unique=True, help_text="What the job brings about, once."
    )
    payload = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED)
    attempts = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=5)
    run_after = models.DateTimeField(db_default=Now(), help_text="Not to be started before.")

    request_id = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="Of the page or call that queued it."
    )
    announcements = models.PositiveIntegerField(default=0, help_text="Messages sent again by reconcile.")
    announce_after = models.DateTimeField(db_default=Now(), help_text="Still queued then: send a message.")

    lease_owner = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    reported_at = models.DateTimeField(
        null=True, blank=True, help_text="When the handler last began or reported progress."
    )

    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    progress_note = models.CharField(max_length=200, blank=True)
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)

    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True, help_text="Start of the first attempt.")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="jobs_state_known", condition=Q(state__in=JobState.values)),
            models.CheckConstraint(
                name="jobs_lease_while_running",
                condition=Q(state=JobState.RUNNING, lease_owner__isnull=False, lease_until__isnull=False)
                | (~Q(state=JobState.RUNNING) & Q(lease_owner__isnull=True, lease_until__isnull=True)),
            ),
            models.CheckConstraint(
                name="jobs_finished_when_closed",
                condition=Q(state__in=OPEN_STATES, finished_at__isnull=True)
                | (~Q(state__in=OPEN_STATES) & Q(finished_at__isnull=False)),
            ),
            models.CheckConstraint(
                name="jobs_attempts_bounded",
                condition=Q(attempts__lte=F("max_attempts"), max_attempts__gte=1),
            ),
            models.CheckConstraint(
                name="jobs_effect_not_empty", condition=Q(effect__isnull=True) | ~Q(effect="")
            ),
        ]
        indexes = [
            models.Index(fields=["announce_after"], name="jobs_queued", condition=Q(state=JobState.QUEUED)),
            models.Index(fields=["lease_until"], name="jobs_running", condition=Q(state=JobState.RUNNING)),
        ]

    def __str__(self) -> str:
        return f"job {self.pk} ({self.kind}, {self.state})"


class HostSign(models.Model):
    """A sign of life of one part of a host, with its version and settings; see `distillery.presence`."""

    host = models.CharField(max_length=64, help_text="Token of its data folder.")
    part = models.CharField(max_length=16, help_text="web or jobs.")
    host_name = models.CharField(max_length=200)
    facts = models.JSONField(default=dict, help_text="Version, digests of settings, queues, clock.")
    seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "part"], name="one_sign_of_each_part")]

    def __str__(self) -> str:
        return f"{self.part} on {self.host_name}"


class WorkerHeartbeat(models.Model):
    """When a worker process last answered the reconcile tick: proof that timer, broker and worker live."""

    name = models.CharField(max_length=200, unique=True, help_text="Host and process.")
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    polled_at = models.DateTimeField(
        null=True, blank=True, help_text="When it last looked into the table of jobs, which needs no timer."
    )

    def __str__(self) -> str:
        return self.name


class WriteProbe(models.Model):
    """One row that is written to find out whether the database takes writes; see `distillery.health`."""

    written_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"written {self.written_at:%Y-%m-%d %H:%M:%S}"
