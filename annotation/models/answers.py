"""Answers in people's own words, what the checks noticed about them, and what reviewers decided."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.queries import Query
from crowd.models import Assignment, Stage, Worker


class Answer(models.Model):
    """One editor's answer to one query; its text never changes. A rewrite is a row of its own.

    The state is that of review: undecided answers count towards the query's answers like approved ones,
    excluded and replaced ones do not.
    """

    class Opinion(models.TextChoices):
        """DuReader's labels of yes-no answers."""

        YES = "Yes"
        NO = "No"
        DEPENDS = "Depends"

    class State(models.TextChoices):
        """Replaced: its author wrote it again."""

        UNDECIDED = "undecided"
        APPROVED = "approved"
        REWRITE = "rewrite", "rewrite asked for"
        EXCLUDED = "excluded"
        REPLACED = "replaced", "replaced by a rewrite"

    #: States in which an answer counts towards what its query needs.
    COUNTED = (State.UNDECIDED, State.APPROVED, State.REWRITE)

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="answers", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="answers")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="answers")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="answers")
    text = models.TextField()
    opinion = models.CharField(max_length=7, choices=Opinion, blank=True)
    entities = models.JSONField(default=list, help_text="Spans of the answer: {start, end, text}.")
    state = models.CharField(max_length=9, choices=State, default=State.UNDECIDED)
    revises = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="revision"
    )
    created_at = models.DateTimeField()
    checked_at = models.DateTimeField(null=True, blank=True, help_text="When its flags were last computed.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "query"],
                name="one_answer_per_query_and_assignment",
                condition=Q(revises=None),
            )
        ]
        indexes = [
            models.Index(fields=["stage", "query"], name="answer_by_query"),
            models.Index(fields=["stage", "state", "query"], name="answer_by_state"),
            models.Index(fields=["stage", "worker"], name="answer_by_worker"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} by {self.worker_id}"


class AnswerFlag(models.Model):
    """Something that a check noticed about an answer, for a reviewer: what, how much, and the evidence."""

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="flags")
    name = models.CharField(max_length=40)
    value = models.FloatField(null=True, blank=True, help_text="The measured share, rate or length.")
    limit = models.FloatField(null=True, blank=True, help_text="The configured bound that it passed.")
    evidence = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["answer", "name"], name="flag_once_per_answer")]

    def __str__(self) -> str:
        return f"{self.name} of {self.answer_id}"


class AnswerReview(models.Model):
    """A reviewer's decision about an answer, append-only; the last one counts."""

    class Action(models.TextChoices):
        """What a reviewer can do."""

        APPROVE = "approve"
        REWRITE = "rewrite", "ask for a rewrite"
        EXCLUDE = "exclude"
        REOPEN = "reopen", "take the decision back"

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="reviews")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    action = models.CharField(max_length=7, choices=Action)
    reason = models.CharField(max_length=300, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="exclusion_and_rewrite_say_why",
                condition=~Q(action__in=["rewrite", "exclude"]) | ~Q(reason=""),
            )
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.answer_id}"


class HeldOutWorker(models.Model):
    """This worker's answer to this query is no reference but a candidate of the system `human`."""

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="held_out")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="held_out")
    seed = models.BigIntegerField(null=True, blank=True, help_text="Of the draw; empty: chosen by a person.")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "worker"], name="held_out_once")]

    def __str__(self) -> str:
        return f"{self.worker_id} for {self.query_id}"
