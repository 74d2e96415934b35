"""What the privacy check found, and what a person decided about it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.projects.models import Project


class PrivacyFinding(models.Model):
    """Something that may tell who a person is. While one is open, no release of the project is built.

    A span of a text (`start` to `end`, in characters) is blacked out in every release once it is redacted;
    the text itself never changes. A finding about no text, such as a small group, has no span.
    """

    class State(models.TextChoices):
        """Gone: a later check no longer found it."""

        OPEN = "open"
        ACCEPTED = "accepted"
        REDACTED = "redacted"
        GONE = "gone"

    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="privacy_findings", db_index=False
    )
    rule = models.CharField(max_length=40)
    subject = models.CharField(max_length=100, help_text="What it is in: answer:17, judgment:4, stage:3.")
    field = models.CharField(max_length=40, blank=True)
    start = models.PositiveIntegerField(default=0)
    end = models.PositiveIntegerField(default=0)
    excerpt = models.CharField(
        max_length=300, help_text="The span with a few words around it, or a sentence."
    )
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    reason = models.CharField(max_length=300, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    found_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "rule", "subject", "field", "start", "end"], name="found_once"
            ),
            models.CheckConstraint(
                name="a_decided_finding_says_why",
                condition=~Q(state__in=["accepted", "redacted"])
                | (~Q(reason="") & Q(decided_at__isnull=False)),
            ),
        ]
        indexes = [models.Index(fields=["project", "state"], name="finding_by_state")]

    def __str__(self) -> str:
        return f"{self.rule} in {self.subject}"
