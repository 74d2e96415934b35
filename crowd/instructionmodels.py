"""What a stage's task page said to people, version by version."""

from django.conf import settings
from django.db import models


class Instructions(models.Model):
    """A version of what a stage's task page says to people; kept from the first change on.

    Each assignment goes on with the version that it was opened with.
    """

    stage = models.ForeignKey("crowd.Stage", on_delete=models.CASCADE, related_name="instructions")
    version = models.PositiveIntegerField()
    description = models.CharField(max_length=2000, help_text="The stage's own words, from the list.")
    text = models.TextField(blank=True, help_text="The option `instructions` of its kind.")
    languages = models.JSONField(
        null=True, blank=True, help_text="The option `languages` of its kind; none: one language."
    )
    written_at = models.DateTimeField()
    written_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "version"], name="instructions_version_of_stage")
        ]

    def __str__(self) -> str:
        return f"{self.stage_id}, version {self.version}"
