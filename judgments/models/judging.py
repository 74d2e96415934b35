"""What judges said: append-only. A filter never changes a row here; it records verdicts."""

from django.db import models

from annotation.models import Query
from crowd.models import Assignment, Stage, Worker
from judgments.models.candidates import Candidate


class Judgment(models.Model):
    """One judge's score of one candidate; `aspects` are further ones, whole numbers from 1.

    `score` counts units of the scale of the stage's options, so that halves are exact: on 1 to 5 by .5 a 9 is
    4.5, on 1 to 5 a unit is 1. `judgments.selectors.ratings.scale_of` knows the scale.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="judgments", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="judgments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="judgments")
    candidate = models.ForeignKey(Candidate, on_delete=models.PROTECT, related_name="judgments")
    score = models.SmallIntegerField()
    aspects = models.JSONField(default=dict, help_text="Score by the aspect's name.")
    comment = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "candidate"], name="one_judgment_per_candidate_and_assignment"
            )
        ]
        indexes = [
            # With the score, counts per candidate and score come from the index alone.
            models.Index(fields=["stage", "candidate", "score"], name="judgment_counts"),
            models.Index(fields=["stage", "worker"], name="judgment_by_worker"),
        ]

    def __str__(self) -> str:
        return f"{self.score} for {self.candidate_id} by {self.worker_id}"


class AttentionCheck(models.Model):
    """An item whose right scores are known. It never enters scores or agreement.

    `accepted` counts units of the stage's scale, as the score of a judgment does.
    """

    class Source(models.TextChoices):
        """What it is made of."""

        FOREIGN = "foreign", "an answer to another query"
        REFERENCE = "reference", "a reference itself"
        INSTRUCTION = "instruction", "a plain instruction"
        GOLD = "gold", "written by a researcher"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="attention_checks")
    key = models.CharField(max_length=100, help_text="Names it within its stage, the same in every draw.")
    source = models.CharField(max_length=11, choices=Source)
    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="+")
    text = models.TextField(help_text="What is shown as the candidate.")
    accepted = models.JSONField(help_text="The scores that pass.")
    reason = models.CharField(max_length=300, blank=True, help_text="Why these; a judge may read it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stage", "key"], name="check_once_per_stage")]

    def __str__(self) -> str:
        return self.key


class ShownReferences(models.Model):
    """What the judges of a stage see as correct answers to a query, the same for all from the first HIT on.

    `texts` are the accepted references at that moment, the one in view first; none is an answer, too.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="+", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+")
    texts = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "query"], name="references_shown_once_per_stage")
        ]

    def __str__(self) -> str:
        return f"{len(self.texts)} of {self.query_id}"


class CheckAnswer(models.Model):
    """One judge's score of one attention check, in units of the stage's scale."""

    check_item = models.ForeignKey(AttentionCheck, on_delete=models.PROTECT, related_name="answers")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="check_answers")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="check_answers")
    score = models.SmallIntegerField()
    passed = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "check_item"], name="check_once_per_assignment")
        ]
        indexes = [models.Index(fields=["worker", "check_item"], name="check_answer_by_worker")]

    def __str__(self) -> str:
        return f"{self.score} for {self.check_item_id} by {self.worker_id}"
