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


class Picture(models.Model):
    """A picture that instructions of a project show by its name: `![What it shows](name.png)`.

    It never changes, for versions of instructions name it.
    """

    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, related_name="pictures")
    name = models.CharField(max_length=80)
    media_type = models.CharField(max_length=20)
    content = models.BinaryField()
    sha256 = models.CharField(max_length=64, db_index=True)
    added_at = models.DateTimeField()
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="picture_name_of_project")]

    def __str__(self) -> str:
        return self.name
