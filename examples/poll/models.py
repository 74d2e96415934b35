"""Votes."""

from django.db import models

from crowd.models import Assignment, Stage


class Vote(models.Model):
    """One person's choice about one item; append-only."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="votes", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="votes")
    unit = models.CharField(max_length=200)
    choice = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "unit"], name="one_vote_per_unit")]
        indexes = [models.Index(fields=["stage", "unit"], name="vote_by_unit")]

    def __str__(self) -> str:
        return self.choice
