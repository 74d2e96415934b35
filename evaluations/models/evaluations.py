"""An evaluation: which metric agrees with the people of a release, as a report that never changes."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from releases.models import Release


class FrozenError(TypeError):
    """Somebody tried to change or delete a finished evaluation."""


class EvaluationQuerySet(models.QuerySet["Evaluation"]):
    """Rows of which finished ones change in nothing but being the release's leaderboard."""

    def update(self, **values: Any) -> int:
        """As ever, unless it would change a finished evaluation; FrozenError then, and nothing is changed."""
        if set(values) - Evaluation.FREE and self._finished():
            raise FrozenError("A finished evaluation never changes; make another one.")
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        """Only what never was finished."""
        if self._finished():
            raise FrozenError("A finished evaluation is never deleted.")
        return super().delete()

    def _finished(self) -> bool:
        return self.filter(state=Evaluation.State.READY).exists()


class Evaluation(models.Model):
    """Metrics of a release's candidates, and how well each agrees with the release's human scores.

    `plan` says everything that the report depends on beside the release: stage, profile, metrics, external
    scores with their digests, seed, replicates, draws (`evaluations.plans.Plan`). `report` is what
    `report.json` holds; the files themselves are on the shelf of releases (`evaluations.storage`).
    `best` repeats the metric with the highest global Pearson correlation, for lists.
    """

    class State(models.TextChoices):
        """A failed or cancelled one can be begun again."""

        PLANNED = "planned"
        RUNNING = "running"
        READY = "ready"
        FAILED = "failed"
        CANCELLED = "cancelled"

    #: States in which a job works on it, or will.
    OPEN = (State.PLANNED, State.RUNNING)
    #: States from which it can be begun again.
    OVER = (State.FAILED, State.CANCELLED)
    #: What may change when it is finished.
    FREE = frozenset({"leaderboard"})

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="evaluations", db_index=False)
    number = models.PositiveIntegerField(help_text="Within the release, from one.")
    title = models.CharField(max_length=120, blank=True)
    plan = models.JSONField(default=dict)
    state = models.CharField(max_length=9, choices=State, default=State.PLANNED)
    why = models.TextField(blank=True, help_text="Why it failed, in a sentence.")
    report = models.JSONField(default=dict)
    files = models.JSONField(default=list, help_text="Name, bytes and SHA-256 of each file.")
    best = models.CharField(max_length=100, blank=True, help_text="Metric with the highest correlation.")
    best_value = models.FloatField(null=True, blank=True, help_text="Its global Pearson correlation.")
    leaderboard = models.BooleanField(default=False, help_text="The release's public leaderboard shows it.")
    job = models.BigIntegerField(null=True, blank=True, help_text="Key of the job that computes it.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True, help_text="Ready, failed or cancelled.")

    objects = EvaluationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "number"], name="evaluation_number_in_release"),
            models.UniqueConstraint(
                fields=["release"], condition=Q(leaderboard=True), name="one_leaderboard_of_a_release"
            ),
            models.CheckConstraint(
                name="a_leaderboard_is_ready", condition=Q(leaderboard=False) | Q(state="ready")
            ),
            models.CheckConstraint(
                name="a_failed_evaluation_says_why", condition=~Q(state="failed") | ~Q(why="")
            ),
            models.CheckConstraint(
                name="an_evaluation_over_has_an_end",
                condition=Q(state__in=["planned", "running"], finished_at__isnull=True)
                | Q(state__in=["ready", "failed", "cancelled"], finished_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"evaluation {self.number} of release {self.release_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """As ever, unless the stored evaluation is finished and something that is frozen differs."""
        stored = Evaluation.objects.filter(pk=self.pk, state=self.State.READY).first() if self.pk else None
        if stored is not None:
            names = {field.attname for field in self._meta.concrete_fields if field.name not in self.FREE}
            if any(getattr(self, name) != getattr(stored, name) for name in names):
                raise FrozenError("A finished evaluation never changes; make another one.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Only what never was finished."""
        if Evaluation.objects.filter(pk=self.pk, state=self.State.READY).exists():
            raise FrozenError("A finished evaluation is never deleted.")
        return super().delete(*args, **kwargs)
