"""Topics: what notifications are published to, who is subscribed, and every message on its way to them."""

from django.db import models
from django.db.models import Q

from marketplace.models.people import Requester


class Topic(models.Model):
    """A topic of a requester; HIT types publish to it by their notification specification."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="topics", db_index=False)
    name = models.CharField(max_length=256)
    arn = models.CharField(max_length=350, unique=True)
    attributes = models.JSONField(default=dict, help_text="DisplayName, SignatureVersion, Policy and so on.")
    base_url = models.CharField(max_length=300, help_text="Origin of this site, as its owner calls it.")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["requester", "id"], name="topic_of_requester")]

    def __str__(self) -> str:
        return self.arn


class Subscription(models.Model):
    """Where messages of a topic go, once its owner's endpoint has confirmed it."""

    class Protocol(models.TextChoices):
        """`sqs` is a queue of this marketplace."""

        HTTPS = "https"
        HTTP = "http"
        SQS = "sqs"

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="subscriptions")
    arn = models.CharField(max_length=400, unique=True)
    protocol = models.CharField(max_length=5, choices=Protocol)
    endpoint = models.CharField(max_length=2048)
    raw = models.BooleanField(default=False, help_text="Messages go without the envelope.")
    token_digest = models.CharField(max_length=64, blank=True, help_text="Of the token that confirms it.")
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    signed_end = models.BooleanField(default=False, help_text="Only its owner's key ends it.")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["topic", "protocol", "endpoint"],
                name="one_subscription_of_endpoint",
                condition=Q(ended_at=None),
            )
        ]

    def __str__(self) -> str:
        return self.arn


class TopicDelivery(models.Model):
    """One message to one endpoint: sent until it is taken, given up after a day, kept as a log."""

    class State(models.TextChoices):
        """`failed` was given up."""

        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    subscription = models.ForeignKey(
        Subscription, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    message_id = models.UUIDField()
    document = models.JSONField(help_text="The message without its signature.")
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True, help_text="Of the next attempt.")
    status = models.PositiveIntegerField(null=True, blank=True, help_text="HTTP status of the last attempt.")
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(db_index=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="topic_delivery_due", condition=Q(state="waiting")),
            models.Index(fields=["subscription", "-id"], name="topic_delivery_log"),
        ]

    def __str__(self) -> str:
        return f"{self.message_id}: {self.state}"


class SigningKey(models.Model):
    """The key that signs messages, and the certificate by which anybody checks them."""

    purpose = models.CharField(max_length=20, unique=True)
    private_key_sealed = models.TextField()
    certificate = models.TextField(help_text="X.509 in PEM.")
    fingerprint = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.fingerprint
