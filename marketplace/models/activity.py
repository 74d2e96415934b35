"""What people and scripts did in a requester's name, and calls that were refused at the door."""

from django.conf import settings
from django.db import models

from marketplace.models.people import Requester


class Activity(models.Model):
    """One decision, grant, block, payment or key: who made it, with which key, and from which address.

    Append-only. The name of the person stays when the account goes.
    """

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="activity", db_index=False
    )
    at = models.DateTimeField(db_index=True)
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=120, blank=True)
    details = models.CharField(max_length=300, blank=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    actor = models.CharField(max_length=150, blank=True, help_text="User's name; empty: a key, or nobody.")
    access_key = models.CharField(max_length=64, blank=True)
    address = models.CharField(max_length=45, blank=True)

    class Meta:
        indexes = [models.Index(fields=["requester", "-id"], name="activity_of_requester")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"


class RefusedCalls(models.Model):
    """How many calls of a day were refused at the door, and why; they are counted, not kept."""

    day = models.DateField()
    reason = models.CharField(max_length=60)
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "reason"], name="refused_calls_of_a_day")]

    def __str__(self) -> str:
        return f"{self.day} {self.reason}: {self.count}"


class SignedWrite(models.Model):
    """The signature of a call that changed something, so that nobody sends it again while it is valid."""

    signature = models.CharField(max_length=64, unique=True)
    at = models.DateTimeField(db_index=True, help_text="By the real clock, as signatures are.")

    def __str__(self) -> str:
        return self.signature
