"""What workers do: assignments, and which units they took."""

import uuid

from django.db import models
from django.db.models import Q

from crowd.models.people import Worker
from crowd.models.stages import Hit, Stage


class Assignment(models.Model):
    """One worker's work on one HIT.

    Identified by (external id, worker), for marketplaces use assignment ids again after a return. The
    response is stored here before the marketplace hears of it.
    """

    class State(models.TextChoices):
        """Stored: we have the answer. Submitted: the marketplace has it too. Ended: given up."""

        WORKING = "working"
        STORED = "stored"
        SUBMITTED = "submitted"
        APPROVED = "approved"
        REJECTED = "rejected"
        ENDED = "ended"
        QUARANTINED = "quarantined"

    #: States that count towards what a unit has.
    GOOD = (State.STORED, State.SUBMITTED, State.APPROVED)

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="assignments", db_index=False)
    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    external_id = models.CharField(max_length=64)
    state = models.CharField(max_length=11, choices=State, default=State.WORKING)
    arrived_at = models.DateTimeField()
    proven = models.BooleanField(
        default=False,
        help_text="The marketplace signed the arrival. Others bar no one until listed.",
    )
    arrived_from = models.CharField(
        max_length=32,
        blank=True,
        default="",
        db_default="",
        help_text="Of an unproven arrival: a keyed digest of the HIT and the network that it came from.",
    )
    saved_at = models.DateTimeField(null=True, blank=True, help_text="When the newest draft was saved.")
    stored_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approve_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    receipt = models.UUIDField(default=uuid.uuid4, unique=True)
    draft = models.JSONField(default=dict)
    response = models.JSONField(null=True, blank=True)
    telemetry = models.JSONField(default=dict)
    failed_checks = models.PositiveIntegerField(default=0)
    held = models.BooleanField(default=False, help_text="Waits for a person's decision.")
    note = models.CharField(max_length=300, blank=True, help_text="Why it is held or quarantined.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["external_id", "worker"], name="assignment_of_worker"),
            models.UniqueConstraint(
                fields=["hit", "worker"],
                name="crowd_one_per_hit_and_worker",
                condition=~Q(state__in=["ended", "quarantined"]),
            ),
        ]
        indexes = [
            models.Index(fields=["stage", "state"], name="assignment_by_state"),
            models.Index(fields=["stage", "worker", "id"], name="assignment_by_worker"),
            models.Index(fields=["stage", "id"], name="assignment_in_order"),
        ]

    def __str__(self) -> str:
        return f"{self.external_id} ({self.state})"


class Recount(models.Model):
    """Work began or ceased to count: what was decided on it is to be decided again.

    Written in the transaction that changed the work, and gone in the one that drew the consequences.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="recounts")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="recounts")
    why = models.CharField(max_length=200)

    def __str__(self) -> str:
        return f"{self.assignment_id}: {self.why}"


class Claim(models.Model):
    """A worker has this unit of this stage, now or for good: the database gives it to nobody twice."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="claims", db_index=False)
    unit = models.CharField(max_length=200)
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="claims")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="claims")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "unit", "worker"], name="unit_once_per_worker")
        ]

    def __str__(self) -> str:
        return f"{self.worker_id} has {self.unit}"
