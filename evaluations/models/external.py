"""Scores of candidates that a metric elsewhere gave: a column from a file, joined to a release."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from releases.models import Release


class ExternalScores(models.Model):
    """One value for each of some candidates of a release, under a name that joins its evaluations.

    `body` holds the values in bulk, gzipped lines of JSON `["candidate id", value]` in the order of the ids
    (`evaluations.external.score_columns`); lists leave it out with `defer`. `digest` is the SHA-256 of the
    file that somebody gave. One that is not kept yet waits for a second look, and goes after a day.
    """

    class Direction(models.TextChoices):
        """Which values are the better ones; an evaluation turns the sign of the other kind."""

        HIGHER = "higher", "the higher the better"
        LOWER = "lower", "the lower the better"

    release = models.ForeignKey(
        Release,
        on_delete=models.PROTECT,
        related_name="external_scores",
    )
    name = models.CharField(max_length=60, help_text="As it stands in reports, such as comet-22.")
    direction = models.CharField(max_length=6, choices=Direction, default=Direction.HIGHER)
    says = models.CharField(max_length=300, blank=True, help_text="What it is, for readers of a report.")
    body = models.BinaryField()
    count = models.PositiveIntegerField(help_text="Candidates with a value.")
    missing = models.PositiveIntegerField(help_text="Candidates of the release without one.")
    low = models.FloatField(help_text="The lowest value.")
    high = models.FloatField(help_text="The highest value.")
    file_name = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    kept = models.BooleanField(default=False, help_text="Somebody has looked at it and keeps it.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["release", "name"], condition=Q(kept=True), name="external_name_in_release"
            ),
        ]

    def __str__(self) -> str:
        return self.name
