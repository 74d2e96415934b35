"""Worker ids of MTurk: what requesters kept on them, and who says that an id was theirs."""

from django.db import models
from django.db.models import Q

from marketplace.models.people import QualificationType, Requester, Worker


class FormerIdClaim(models.Model):
    """A worker states an MTurk worker id; nobody can prove it. The first to state it has it.

    Of several who state one, `accepted` is one at most; the others wait for staff.
    """

    worker = models.OneToOneField(Worker, on_delete=models.CASCADE, related_name="former_id")
    former_id = models.CharField(max_length=64, db_index=True)
    accepted = models.BooleanField(help_text="What requesters kept on the id is this worker's.")
    at = models.DateTimeField()
    settled_at = models.DateTimeField(
        null=True, blank=True, help_text="When staff decided whose the id is, of all who stated it by then."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["former_id"], name="one_worker_of_former_id", condition=Q(accepted=True)
            )
        ]

    def __str__(self) -> str:
        return f"{self.former_id}: {self.worker_id}"


class FormerIdRecord(models.Model):
    """What a requester kept on an MTurk worker id; it takes effect once, on the worker whose id it is."""

    class Kind(models.TextChoices):
        """`listed` does nothing but make the id known."""

        LISTED = "listed"
        BLOCK = "block"
        GRANT = "grant"
        BONUS = "bonus"

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="former_ids", db_index=False
    )
    former_id = models.CharField(max_length=64)
    kind = models.CharField(max_length=6, choices=Kind)
    qualification_type = models.ForeignKey(
        QualificationType, null=True, blank=True, on_delete=models.CASCADE, related_name="former_grants"
    )
    value = models.IntegerField(default=1)
    cents = models.PositiveIntegerField(default=0)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True, blank=True)
    worker = models.ForeignKey(
        Worker, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", help_text="On whom."
    )
    why = models.CharField(max_length=300, blank=True, help_text="Why it has not taken effect yet.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "former_id", "kind"],
                name="one_former_record_of_kind",
                condition=Q(kind__in=["listed", "block"]),
            ),
            models.UniqueConstraint(
                fields=["qualification_type", "former_id"],
                name="one_former_grant",
                condition=Q(kind="grant"),
            ),
            models.UniqueConstraint(
                fields=["requester", "former_id", "cents", "reason"],
                name="one_former_bonus",
                condition=Q(kind="bonus"),
            ),
        ]
        indexes = [
            models.Index(fields=["former_id"], name="former_record_open", condition=Q(applied_at=None)),
            models.Index(fields=["requester", "former_id"], name="former_record_of_requester"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.former_id}"
