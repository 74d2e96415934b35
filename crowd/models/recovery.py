"""How far this database has come, and which marketplaces it must look at before it sends anything."""

import uuid

from django.db import models

from crowd.models.stages import Endpoint


class DispatchEpoch(models.Model):
    """One row: a number that grows with every batch of calls, kept here and beside the database.

    A database that was restored from a backup has a smaller number than the file; see `crowd.outbox.epoch`.
    """

    installation = models.UUIDField(default=uuid.uuid4, help_text="Tells databases apart, not hosts.")
    number = models.BigIntegerField(default=0)
    vouched = models.BigIntegerField(default=0, help_text="Grows while a host that knows the number runs.")
    vouched_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.installation} {self.number}"


class DispatchHalt(models.Model):
    """Nothing is sent to this marketplace until what it has was compared with what we know."""

    endpoint = models.OneToOneField(Endpoint, on_delete=models.CASCADE, related_name="halt")
    why = models.CharField(max_length=300)
    since = models.DateTimeField()
    looked_up_to = models.BigIntegerField(
        default=0, help_text="Key of the last HIT whose work and bonuses were compared."
    )

    def __str__(self) -> str:
        return f"{self.endpoint}: {self.why}"
