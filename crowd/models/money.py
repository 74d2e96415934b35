"""The outbox and the ledger: every call that costs or changes something, and every cent."""

import uuid

from django.db import models
from django.db.models import Q

from crowd.models.stages import Endpoint, Hit, Stage
from crowd.models.work import Assignment


class MarketOperation(models.Model):
    """One call that changes something at a marketplace, from plan to certainty.

    planned → claimed → sent → confirmed | refused | unknown; unknown → confirmed | refused by reconciling
    or by a person. `sent` is committed before the call, so whatever dies, nobody wonders whether to repeat:
    it may be repeated with the same token for 23 hours, and afterwards only after looking.
    """

    class Kind(models.TextChoices):
        """What is asked for."""

        PUBLISH = "publish"
        EXTEND = "extend"
        DEADLINE = "deadline"
        CLOSE = "close"
        ARCHIVE = "archive"
        APPROVE = "approve"
        REJECT = "reject"
        UNREJECT = "unreject"
        BONUS = "bonus"
        GROUP = "group"
        GRANT = "grant"
        MESSAGE = "message"

    class State(models.TextChoices):
        """Where it stands."""

        PLANNED = "planned"
        CLAIMED = "claimed"
        SENT = "sent"
        CONFIRMED = "confirmed"
        REFUSED = "refused"
        UNKNOWN = "unknown"

    #: States that end an operation.
    FINAL = (State.CONFIRMED, State.REFUSED)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="operations")
    endpoint_url = models.URLField(max_length=300, help_text="Where it was planned to go; compared again.")
    stage = models.ForeignKey(Stage, null=True, on_delete=models.CASCADE, related_name="operations")
    hit = models.ForeignKey(Hit, null=True, on_delete=models.CASCADE, related_name="operations")
    assignment = models.ForeignKey(Assignment, null=True, on_delete=models.CASCADE, related_name="operations")
    kind = models.CharField(max_length=8, choices=Kind)
    target = models.CharField(max_length=120)
    purpose = models.CharField(max_length=120)
    payload = models.JSONField(default=dict)
    amount_cents = models.BigIntegerField(default=0)
    fee_cents = models.BigIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.PLANNED)
    attempts = models.PositiveIntegerField(default=0)
    planned_at = models.DateTimeField()
    not_before = models.DateTimeField()
    first_sent_at = models.DateTimeField(null=True, blank=True)
    lease_owner = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    result_ref = models.CharField(max_length=120, blank=True)
    request_id = models.CharField(max_length=80, blank=True)
    error_code = models.CharField(max_length=80, blank=True)
    error_text = models.TextField(blank=True)
    result_lost = models.BooleanField(
        default=False, help_text="Done before, the marketplace says, but not as what."
    )
    needs_person = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "target", "purpose"], name="one_operation_per_purpose"),
            models.CheckConstraint(
                name="operation_costs_nothing_negative", condition=Q(amount_cents__gte=0, fee_cents__gte=0)
            ),
        ]
        indexes = [
            models.Index(
                fields=["endpoint", "not_before"],
                name="operation_to_dispatch",
                condition=~Q(state__in=["confirmed", "refused"]),
            ),
            models.Index(fields=["stage", "-planned_at"], name="operation_of_stage"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target} ({self.state})"

    @property
    def token(self) -> str:
        """UniqueRequestToken, 32 characters, the same for every attempt."""
        return self.id.hex


class LedgerEntry(models.Model):
    """One movement of a stage's budget, append-only: reserved, given back, or spent."""

    class Kind(models.TextChoices):
        """Spending takes from what was reserved."""

        RESERVE = "reserve"
        RELEASE = "release"
        SPEND = "spend"

    stage = models.ForeignKey(Stage, on_delete=models.PROTECT, related_name="ledger")
    operation = models.ForeignKey(MarketOperation, null=True, on_delete=models.PROTECT, related_name="ledger")
    hit = models.ForeignKey(Hit, null=True, on_delete=models.PROTECT, related_name="ledger")
    assignment = models.ForeignKey(Assignment, null=True, on_delete=models.PROTECT, related_name="ledger")
    kind = models.CharField(max_length=7, choices=Kind)
    cents = models.BigIntegerField(help_text="Rewards or bonuses.")
    fee_cents = models.BigIntegerField(default=0)
    reason = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["operation", "kind"], name="operation_booked_once", condition=~Q(operation=None)
            ),
            models.UniqueConstraint(
                fields=["assignment", "reason"], name="assignment_booked_once", condition=Q(operation=None)
            ),
            models.CheckConstraint(
                name="crowd_ledger_moves_forward", condition=Q(cents__gte=0, fee_cents__gte=0)
            ),
        ]
        indexes = [models.Index(fields=["stage", "-id"], name="crowd_ledger_statement")]

    def __str__(self) -> str:
        return f"{self.kind} {self.cents}+{self.fee_cents}"
