"""Where messages go, the messages, and each attempt at sending one."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.origin import Owner


class Webhook(models.Model):
    """An address that a project or requester has messages sent to, in one order.

    Address and secrets are sealed: the address of a chat is a credential itself. What is to be sent is taken
    by one process at a time, under a lease.
    """

    class Shape(models.TextChoices):
        """What a message looks like."""

        STANDARD = "standard", "Signed JSON (Standard Webhooks)"
        SLACK = "slack", "Slack"
        TEAMS = "teams", "Microsoft Teams"
        EMAIL = "email", "E-mail"

    class State(models.TextChoices):
        """A paused or disabled one gets no new messages; those that wait go out when it is active again."""

        ACTIVE = "active"
        PAUSED = "paused"
        DISABLED = "disabled"

    owner_kind = models.CharField(max_length=9, choices=Owner.Kind)
    owner_id = models.BigIntegerField()
    name = models.CharField(max_length=80, help_text="What it is for.")
    shape = models.CharField(max_length=8, choices=Shape, default=Shape.STANDARD)
    address_sealed = models.TextField()
    host = models.CharField(max_length=255, help_text="What of the address is shown.")
    events = models.JSONField(default=list, help_text="Types of events it asks for.")
    secret_sealed = models.TextField(blank=True)
    former_secret_sealed = models.TextField(blank=True)
    former_until = models.DateTimeField(null=True, blank=True, help_text="Until then both secrets sign.")
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE)
    failing_since = models.DateTimeField(null=True, blank=True)
    refusals = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Messages refused in a row since one was taken."
    )
    disabled_at = models.DateTimeField(null=True, blank=True)
    why_disabled = models.CharField(max_length=300, blank=True)
    told_at = models.DateTimeField(null=True, blank=True, help_text="When its maker was written to.")
    last_number = models.BigIntegerField(default=0)
    due_at = models.DateTimeField(help_text="No attempt before.")
    lease_owner = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["owner_kind", "owner_id"], name="webhook_of_owner", condition=Q(removed_at=None)
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.host})"


def new_message_id() -> str:
    """The id under which a receiver knows a message, the same at every attempt."""
    return f"msg_{uuid.uuid4().hex}"


class WebhookMessage(models.Model):
    """One event for one webhook, written with its cause. Its number follows when it is taken up."""

    class State(models.TextChoices):
        """`gave_up`: nothing answered within a day of the first attempt, or a person skipped it."""

        WAITING = "waiting"
        SENT = "sent"
        GAVE_UP = "gave_up", "gave up"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="messages", db_index=False)
    number = models.BigIntegerField(null=True, blank=True, help_text="Its place in the order of its webhook.")
    message_id = models.CharField(max_length=36, default=new_message_id, unique=True)
    type = models.CharField(max_length=60)
    at = models.DateTimeField(help_text="When it happened.")
    data = models.JSONField(default=dict, help_text="Ids and addresses; never what people wrote.")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    first_attempt_at = models.DateTimeField(null=True, blank=True, help_text="Of the present series.")
    due_at = models.DateTimeField(
        null=True, blank=True, help_text="It was refused and put aside until then; empty: it has its turn."
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["webhook", "number"], name="one_number_per_webhook_message")
        ]
        indexes = [
            models.Index(
                fields=["webhook", "number", "id"],
                name="webhook_message_waiting",
                condition=Q(state="waiting"),
            ),
            models.Index(fields=["webhook", "-id"], name="webhook_message_feed"),
            models.Index(fields=["ended_at"], name="webhook_message_ended"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.message_id}"


class WebhookAttempt(models.Model):
    """One attempt at a message, and what was answered."""

    message = models.ForeignKey(WebhookMessage, on_delete=models.CASCADE, related_name="log", db_index=False)
    at = models.DateTimeField()
    milliseconds = models.PositiveIntegerField()
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Empty: no answer.")
    note = models.CharField(max_length=500, blank=True, help_text="The beginning of the answer, or why none.")

    class Meta:
        indexes = [models.Index(fields=["message", "id"], name="webhook_attempts")]

    def __str__(self) -> str:
        return f"{self.message_id}: {self.status or self.note}"


class WebhookMark(models.Model):
    """The last step that was told of something that grows, such as the share of a stage that is done."""

    owner_kind = models.CharField(max_length=9, choices=Owner.Kind)
    owner_id = models.BigIntegerField()
    key = models.CharField(max_length=80)
    value = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner_kind", "owner_id", "key"], name="one_webhook_mark_per_key")
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.value}"
