"""What filters decided, and the scores that follow from it."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from crowd.models import Stage, Worker
from judgments.models.candidates import Candidate
from judgments.models.judging import Judgment


class FilterRunQuerySet(models.QuerySet["FilterRun"]):
    """Filter runs; which of them decide what counts is asked here alone."""

    def in_force(self) -> Self:
        """Those whose decisions hold: at most one in each stage."""
        return self.filter(state=FilterRun.State.IN_FORCE)


class FilterRun(models.Model):
    """One run of a recipe over a stage's judgments: parameters, seed, what it saw, what it decided.

    At most one run of a stage is in force. Runs are kept for ever; undoing one only takes it out of force.
    What the run in force decided is decided again when work that it saw begins or ceases to count; the log
    says why.
    """

    class State(models.TextChoices):
        """A superseded run gave way to a later one."""

        IN_FORCE = "in force"
        SUPERSEDED = "superseded"
        UNDONE = "undone"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="filter_runs")
    recipe = models.CharField(max_length=40)
    parameters = models.JSONField(help_text="All of them, also those that the recipe sets.")
    seed = models.BigIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.IN_FORCE)
    last_judgment = models.BigIntegerField(help_text="The newest judgment that it saw, by its key.")
    summary = models.JSONField(default=dict, help_text="Counts and the report, as the page shows them.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=300, blank=True, help_text="Why it was undone.")

    objects = FilterRunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["stage"], name="one_filter_run_in_force", condition=Q(state="in force")
            )
        ]

    def __str__(self) -> str:
        return f"{self.recipe} on {self.stage_id}"

    @property
    def remade(self) -> int:
        """How often it was made again because work that it saw began or ceased to count."""
        return int(self.summary.get("remade") or 0)

    @property
    def remade_at(self) -> datetime | None:
        """When that was last."""
        at = self.summary.get("remade_at")
        return datetime.fromisoformat(at) if at else None


class Verdict(models.Model):
    """One thing that a run decided: about a worker, or about one judgment.

    A worker's verdict that removes comes with one verdict per judgment of theirs, so that what counts can be
    read from verdicts with a judgment alone. `undetermined` marks workers of whom too little is known; it
    removes nothing.
    """

    run = models.ForeignKey(FilterRun, on_delete=models.CASCADE, related_name="verdicts")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="verdicts")
    judgment = models.ForeignKey(Judgment, null=True, on_delete=models.PROTECT, related_name="verdicts")
    rule = models.CharField(max_length=40)
    removes = models.BooleanField(default=True)
    value = models.FloatField(null=True, blank=True, help_text="What the rule measured: kappa, failures, z.")
    rank = models.PositiveIntegerField(null=True, blank=True, help_text="Order of removal within an item.")
    reason = models.CharField(max_length=300)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "judgment"],
                name="a_judgment_is_removed_once",
                condition=Q(judgment__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.worker_id}"


class Score(models.Model):
    """The human correctness score of a candidate by one run; undefined statistics are null."""

    run = models.ForeignKey(FilterRun, on_delete=models.CASCADE, related_name="scores")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="scores")
    n_raw = models.PositiveIntegerField()
    n_kept = models.PositiveIntegerField()
    mean = models.FloatField(null=True)
    sd = models.FloatField(null=True, help_text="Sample standard deviation of the kept scores.")
    median = models.FloatField(null=True)
    trimmed = models.FloatField(null=True, help_text="Mean without the lowest and highest 20 %.")
    adjusted = models.FloatField(null=True, help_text="ITU-T P.913 12.6: without workers' biases.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "candidate"], name="one_score_per_run")]

    def __str__(self) -> str:
        return f"{self.candidate_id}: {self.mean}"


class ImportedScore(models.Model):
    """A human score that was collected elsewhere; its ratings are not known one by one unless listed."""

    candidate = models.OneToOneField(Candidate, on_delete=models.PROTECT, related_name="imported_score")
    mean = models.FloatField()
    n = models.PositiveIntegerField(null=True, blank=True, help_text="How many ratings, if the file says so.")
    ratings = models.JSONField(default=list, help_text="The single ratings, if the file has them.")
    scale_low = models.FloatField(default=1)
    scale_high = models.FloatField(default=5)
    simulated = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The file says that a program gave it, not a person.",
    )

    def __str__(self) -> str:
        return f"{self.candidate_id}: {self.mean}"
