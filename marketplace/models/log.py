"""What the protocol endpoint remembers of calls, and the switches that only tests may touch."""

from django.db import models

from marketplace.models.people import Requester


class TokenUse(models.Model):
    """A UniqueRequestToken that was used in the last 24 hours, with what the first call made."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE)
    operation = models.CharField(max_length=60)
    token = models.CharField(max_length=128)
    call_id = models.UUIDField()
    result = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "operation", "token"], name="token_used_once")
        ]

    def __str__(self) -> str:
        return self.token


class CallLog(models.Model):
    """One call of the protocol endpoint, append-only; answers and question texts are left out."""

    at = models.DateTimeField()
    request_id = models.UUIDField()
    requester = models.ForeignKey(Requester, null=True, on_delete=models.SET_NULL)
    operation = models.CharField(max_length=60)
    parameters = models.JSONField(default=dict)
    executed = models.BooleanField(default=False, help_text="The operation ran and was committed.")
    result = models.CharField(max_length=120, help_text="`ok` or the error code.")
    milliseconds = models.FloatField()
    access_key = models.CharField(max_length=64, blank=True)
    address = models.CharField(max_length=45, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["requester", "-id"], name="call_of_requester"),
            models.Index(fields=["at"], name="call_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.operation}: {self.result}"


class TestClock(models.Model):
    """How far test controls moved the marketplace's clock; one row, none in normal life."""

    advanced_seconds = models.BigIntegerField(default=0)

    __test__ = False

    def __str__(self) -> str:
        return f"+{self.advanced_seconds} s"


class Chaos(models.Model):
    """Faults that tests asked for: of one requester, or of all where `requester` is empty."""

    requester = models.OneToOneField(Requester, null=True, on_delete=models.CASCADE)
    lose_response_after_commit = models.PositiveIntegerField(
        default=0, help_text="So many coming mutating calls commit and then lose their answer."
    )
    throttle_next = models.PositiveIntegerField(default=0, help_text="So many coming calls are throttled.")
    throttle_rate = models.FloatField(default=0)
    error_rate = models.FloatField(default=0)
    visibility_delay_s = models.FloatField(default=0)
    duplicate_events = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"chaos for {self.requester_id or 'all'}"
