"""What editors say about a query before anybody looks for passages (paper 000, section 3.1)."""

from django.db import models

from annotation.models.queries import Query
from crowd.models import Assignment, Stage


class ScreeningVote(models.Model):
    """One editor's form about one query; append-only."""

    class Intent(models.TextChoices):
        """Broder's classes."""

        INFORMATIONAL = "informational"
        NAVIGATIONAL = "navigational"
        TRANSACTIONAL = "transactional"

    class ExcludedKind(models.TextChoices):
        """Informational queries that one passage cannot settle."""

        NONE = "", "none of these"
        DIRECTIONS = "directions", "directions to a place, or what is near it"
        LIST = "list", "a list that is never complete"
        TOPIC = "topic", "a general topic"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="screening_votes", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="screening_votes")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="screening_votes")
    unambiguous = models.BooleanField()
    answerable = models.BooleanField(help_text="One short passage could satisfy it definitively.")
    intent = models.CharField(max_length=13, choices=Intent)
    excluded_kind = models.CharField(max_length=10, choices=ExcludedKind, blank=True)
    sensitive = models.BooleanField()
    adult = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "query"], name="one_screening_vote_per_query")
        ]
        indexes = [models.Index(fields=["stage", "query"], name="screening_vote_by_query")]

    def __str__(self) -> str:
        return f"{self.query_id}: {self.intent}"
