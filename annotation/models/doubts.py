"""Decisions whose ground changed after later work was built on them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.queries import Query
from crowd.models import Stage


class Doubt(models.Model):
    """What a stage decided about a query would be decided otherwise by the work that counts now.

    Later stages have used the decision already, so nothing changes until a person says what holds; or until
    the work that counts agrees with it again.
    """

    class Outcome(models.TextChoices):
        """How it ended."""

        KEPT = "kept", "the decision stays"
        AGAIN = "again", "people are asked again"
        OUT = "out", "the query is left out"
        LIFTED = "lifted", "the work that counts agrees again"

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="doubts")
    stage = models.ForeignKey(Stage, on_delete=models.PROTECT, related_name="doubts")
    why = models.CharField(max_length=300, help_text="What changed.")
    says = models.CharField(max_length=300, help_text="What the work that counts says now.")
    raised_at = models.DateTimeField()
    outcome = models.CharField(max_length=6, choices=Outcome, blank=True, help_text="Empty: it is open.")
    settled_at = models.DateTimeField(null=True, blank=True)
    settled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["query", "stage"], name="one_open_doubt_per_query_and_stage", condition=Q(outcome="")
            )
        ]

    def __str__(self) -> str:
        return f"{self.query_id} in {self.stage_id}: {self.outcome or 'open'}"
