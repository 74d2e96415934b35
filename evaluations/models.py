"""Evaluations as rows: a report with its plan, scores from elsewhere, and parts of work in progress."""

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
    scores with their digests, seed, replicates, draws (`evaluations.plans.EvaluationPlan`). `report` is what
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


class ExternalScores(models.Model):
    """One value for each of some candidates of a release, under a name that joins its evaluations.

    `body` holds the values in bulk, gzipped lines of JSON `["candidate id", value]` in the order of the ids
    (`evaluations.external_scores`); lists leave it out with `defer`. `digest` is the SHA-256 of the
    file that somebody gave. One that is not kept yet waits for a second look, and goes after a day.
    """

    class Direction(models.TextChoices):
        """Which values are the better ones; an evaluation turns the sign of the other kind."""

        HIGHER = "higher", "the higher the better"
        LOWER = "lower", "the lower the better"

    release = models.ForeignKey(
        Release,
        on_delete=models.PROTECT,
        related_name="external_scores",
    )
    name = models.CharField(max_length=60, help_text="As it stands in reports, such as comet-22.")
    direction = models.CharField(max_length=6, choices=Direction, default=Direction.HIGHER)
    says = models.CharField(max_length=300, blank=True, help_text="What it is, for readers of a report.")
    body = models.BinaryField()
    count = models.PositiveIntegerField(help_text="Candidates with a value.")
    missing = models.PositiveIntegerField(help_text="Candidates of the release without one.")
    low = models.FloatField(help_text="The lowest value.")
    high = models.FloatField(help_text="The highest value.")
    file_name = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    kept = models.BooleanField(default=False, help_text="Somebody has looked at it and keeps it.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["release", "name"], condition=Q(kept=True), name="external_name_in_release"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Call(models.Model):
    """A function over many inputs. By the `digest` of its pickle a repeated attempt finds its results."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="calls", db_index=False)
    digest = models.CharField(max_length=64)
    # The help text is that of the landed migration: the pickles are those of `evaluations.executor`.
    function = models.BinaryField(help_text="Signed pickle; see evaluations.spreading.pickles.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "digest"], name="call_once_in_evaluation")
        ]

    def __str__(self) -> str:
        return f"call {self.digest[:12]}"


class Part(models.Model):
    """One input of a call and, once somebody has computed it, the result.

    `owner` is the lease of the job that computes it: while that job is running under this lease nobody else
    takes the part, and a worker that dies loses it together with its job.
    """

    call = models.ForeignKey(Call, on_delete=models.CASCADE, related_name="parts", db_index=False)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the input.")
    given = models.BinaryField(help_text="The input; emptied when the result is there.")
    result = models.BinaryField(null=True)
    why = models.TextField(blank=True, help_text="What went wrong, where computing it failed.")
    owner = models.UUIDField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["call", "digest"], name="part_once_in_call")]
        indexes = [
            models.Index(
                fields=["call", "id"], name="parts_to_do", condition=models.Q(result__isnull=True, why="")
            ),
        ]

    def __str__(self) -> str:
        return f"part {self.digest[:12]}"
