"""Tables of who may spend from an endpoint, and of compensations. Import them from `crowd.models`."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.projects.models import Project


class EndpointSpender(models.Model):
    """A project whose stages may spend from an endpoint, or a person who may in all projects they work in."""

    endpoint = models.ForeignKey("crowd.Endpoint", on_delete=models.CASCADE, related_name="spenders")
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="endpoint_rights"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="endpoint_rights",
    )
    given_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Empty: the operator, by a command or an upgrade.",
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "project"], name="endpoint_once_per_project"),
            models.UniqueConstraint(fields=["endpoint", "user"], name="endpoint_once_per_person"),
            models.CheckConstraint(
                name="endpoint_spender_is_one",
                condition=Q(project=None, user__isnull=False) | Q(project__isnull=False, user=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project or self.user} spends from {self.endpoint_id}"


class Compensation(models.Model):
    """Pay for a session that broke: once in a stage, by bonus or HIT; a refused call gives way to another."""

    stage = models.ForeignKey("crowd.Stage", on_delete=models.CASCADE, related_name="compensations")
    worker = models.ForeignKey("crowd.Worker", on_delete=models.CASCADE, related_name="compensations")
    operation = models.OneToOneField("crowd.MarketOperation", on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "worker"], name="compensated_once_per_stage")]

    def __str__(self) -> str:
        return f"{self.worker_id} in {self.stage_id}"
