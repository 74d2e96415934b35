"""Workers as we know them, and from what they are kept."""

from django.db import models

from crowd.models.stages import Endpoint, Stage


class Worker(models.Model):
    """A worker of one endpoint. Simulated ones stay marked to the last export."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="workers")
    external_id = models.CharField(max_length=64)
    simulated = models.BooleanField(default=False)
    first_seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "external_id"], name="worker_known_once")]

    def __str__(self) -> str:
        return self.external_id


class Exclusion(models.Model):
    """A scope in which a worker may do nothing more: what they screened, curated or wrote themselves.

    Scopes are names that stage kinds agree on, such as `query:17:distil`; `stage:4` bars from a whole stage.
    """

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="exclusions")
    scope = models.CharField(max_length=200)
    reason = models.CharField(max_length=300)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["worker", "scope"], name="excluded_once_per_scope")]
        indexes = [models.Index(fields=["scope"], name="exclusion_by_scope")]

    def __str__(self) -> str:
        return f"{self.worker_id} not in {self.scope}"


class Group(models.Model):
    """A group of workers at the endpoint (a qualification), made by us for one purpose."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="groups")
    stage = models.ForeignKey(Stage, null=True, on_delete=models.CASCADE, related_name="groups")
    name = models.CharField(max_length=200)
    external_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "name"], name="group_name_at_endpoint")]

    def __str__(self) -> str:
        return self.name
