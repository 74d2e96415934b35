"""What happens to HITs and goes out as notifications, and what review policies found and did."""

from django.db import models

from marketplace.models.people import Requester
from marketplace.models.work import HIT, Holding


class Queue(models.Model):
    """A queue that a requester named or made; its messages are the `QueuedEvent`s with its address."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="queues", db_index=False)
    address = models.CharField(max_length=255)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "address"], name="queue_by_address")]

    def __str__(self) -> str:
        return self.address


class QueuedEvent(models.Model):
    """A notification in a requester's queue, until a ReceiveMessage and a DeleteMessage take it out."""

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="queued_events", db_index=False
    )
    queue = models.CharField(max_length=255, help_text="Destination, as the specification names it.")
    message_id = models.UUIDField(unique=True)
    body = models.TextField()
    sent_at = models.DateTimeField()
    visible_at = models.DateTimeField(help_text="Hidden before: somebody has just received it.")
    received_count = models.PositiveIntegerField(default=0)
    first_received_at = models.DateTimeField(null=True, blank=True)
    receipt = models.UUIDField(null=True, blank=True, help_text="Of the latest ReceiveMessage.")

    class Meta:
        indexes = [
            models.Index(fields=["requester", "queue", "visible_at", "id"], name="queued_event_next"),
            models.Index(fields=["sent_at"], name="queued_event_age"),
        ]

    def __str__(self) -> str:
        return str(self.message_id)


class PolicyResult(models.Model):
    """A figure that a review policy came to (ReviewResultDetail)."""

    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="policy_results", db_index=False)
    holding = models.ForeignKey(Holding, null=True, on_delete=models.CASCADE)
    level = models.CharField(max_length=10, help_text="Assignment or HIT.")
    action_id = models.UUIDField()
    subject_id = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=10)
    question_id = models.CharField(max_length=255, blank=True)
    key = models.CharField(max_length=80)
    value = models.TextField()
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["hit", "at", "id"], name="policy_result_of_hit")]

    def __str__(self) -> str:
        return f"{self.key}: {self.value[:40]}"


class PolicyAction(models.Model):
    """What a review policy did (ReviewActionDetail)."""

    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="policy_actions", db_index=False)
    level = models.CharField(max_length=10)
    action_id = models.UUIDField(unique=True)
    name = models.CharField(max_length=20, help_text="review, approve, reject or extend.")
    target_id = models.CharField(max_length=64)
    target_type = models.CharField(max_length=10)
    status = models.CharField(max_length=10)
    at = models.DateTimeField()
    result = models.TextField(blank=True)
    error_code = models.CharField(max_length=80, blank=True)

    class Meta:
        indexes = [models.Index(fields=["hit", "at", "id"], name="policy_action_of_hit")]

    def __str__(self) -> str:
        return f"{self.name} {self.target_id}: {self.status}"
