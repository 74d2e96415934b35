"""Batches: a template with ${variables}, a table of values, and the HITs that come of them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.models.people import Requester


class Template(models.Model):
    """A task page of a requester with ${variables}, and the properties that HITs made of it begin with."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="templates")
    name = models.CharField(max_length=120)
    html = models.TextField()
    frame_height = models.PositiveIntegerField(default=0, help_text="CSS pixels; 0 fits the window.")
    hosts = models.JSONField(default=list, help_text="Origins that its tasks may load from.")
    properties = models.JSONField(default=dict, help_text="Title, reward and so on, as the form has them.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "name"], name="template_name")]

    def __str__(self) -> str:
        return self.name


class Batch(models.Model):
    """One upload of a table for a template. Everything it publishes is frozen in it."""

    class State(models.TextChoices):
        """`draft` can be previewed and thrown away; `publishing` is being worked off by a job."""

        DRAFT = "draft"
        PUBLISHING = "publishing"
        PUBLISHED = "published"
        FAILED = "failed"
        CANCELLED = "cancelled"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField(help_text="1, 2, 3, … of the requester.")
    name = models.CharField(max_length=120)
    template = models.ForeignKey(Template, null=True, on_delete=models.SET_NULL, related_name="batches")
    html = models.TextField()
    frame_height = models.PositiveIntegerField(default=0)
    hosts = models.JSONField(default=list, help_text="Origins that its tasks may load from.")
    hosts_of_cells = models.JSONField(default=list, help_text="Origins that only its cells name.")
    columns = models.JSONField(help_text="Head of the table, in its order.")
    properties = models.JSONField(help_text="Title, description, reward and so on of its HITs.")
    file_name = models.CharField(max_length=200, blank=True)
    file_read = models.CharField(max_length=200, blank=True, help_text="How the file was read, in words.")
    task_count = models.PositiveIntegerField(help_text="0 while the file is being read.")
    published_count = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "number"], name="batch_number")]

    def __str__(self) -> str:
        return self.name


class BatchTask(models.Model):
    """One row of a batch's table, and the HIT that shows it once it is published."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="tasks", db_index=False)
    ordinal = models.PositiveIntegerField(help_text="1 is the first row below the head.")
    values = models.JSONField(help_text="Cells in the order of the batch's columns.")
    hit = models.OneToOneField(
        "HIT", null=True, blank=True, on_delete=models.PROTECT, related_name="batch_task"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "ordinal"], name="batch_task_ordinal")]
        indexes = [
            models.Index(fields=["batch", "ordinal"], name="batch_task_to_publish", condition=Q(hit=None))
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}/{self.ordinal}"
