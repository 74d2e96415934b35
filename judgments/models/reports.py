"""Figures about a stage's judgments that take too long to be worked out while somebody waits."""

from django.db import models

from crowd.models import Stage
from judgments.models.filter_runs import FilterRun


class AgreementReport(models.Model):
    """The honest report of a stage as its judgments were at a moment; later ones are further rows.

    `stamp` says what it was made of, by `judgments.selectors.stamps`. Workers have pseudonyms in it.
    """

    stage = models.ForeignKey(
        Stage, on_delete=models.CASCADE, related_name="agreement_reports", db_index=False
    )
    run = models.ForeignKey(FilterRun, null=True, on_delete=models.CASCADE, related_name="reports")
    stamp = models.CharField(max_length=120)
    last_judgment = models.BigIntegerField(help_text="The newest judgment in it, by its key.")
    judgments = models.PositiveIntegerField(help_text="Good judgments in it.")
    report = models.JSONField(help_text="Figures, without what grows with the data.")
    rows = models.JSONField(default=dict, help_text="Lists of items, workers and what was removed.")
    seconds = models.FloatField(help_text="How long it took.")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "stamp"], name="one_report_per_stamp")]

    def __str__(self) -> str:
        return f"{self.stage_id} at {self.stamp}"
