"""Systems, and the answers of theirs that people are to judge."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Answer, Query
from core.projects.models import Project


class System(models.Model):
    """Something that answers queries: a program, or the people whose answers were held out."""

    class Kind(models.TextChoices):
        """Human: answers of editors that are no references (paper 004, round 1)."""

        PROGRAM = "program"
        HUMAN = "human", "people"

    #: The name of the system of people: held-out answers, and answers that a file gives to it.
    PEOPLE = "human"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="systems", db_index=False)
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=7, choices=Kind, default=Kind.PROGRAM)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="system_named_once")]

    def __str__(self) -> str:
        return self.name


class CandidateSource(models.Model):
    """One import of answers: the file, how it was read, and the report about its lines."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="candidate_sources")
    name = models.CharField(max_length=300, help_text="Name of the file.")
    format = models.CharField(max_length=20)
    sha256 = models.CharField(max_length=64)
    options = models.JSONField(default=dict)
    report = models.JSONField(default=dict, help_text="Counts, examples and refusals.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Candidate(models.Model):
    """One answer of one system to one query; its text never changes."""

    class UnjudgedReason(models.TextChoices):
        """Why people do not judge it. Exact: it is word for word a reference (paper 002, section 4.2)."""

        EXACT = "exact", "the same as a reference"
        EMPTY = "empty", "the system gave no answer"
        WITHDRAWN = "withdrawn", "taken out by a researcher"

    query = models.ForeignKey(Query, on_delete=models.PROTECT, related_name="candidates_to_judge")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="candidates", db_index=False)
    source = models.ForeignKey(CandidateSource, null=True, on_delete=models.PROTECT, related_name="+")
    answer = models.OneToOneField(
        Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="candidate"
    )
    text = models.TextField(blank=True)
    opinion = models.CharField(max_length=7, choices=Answer.Opinion, blank=True)
    entities = models.JSONField(default=list, help_text="Spans of the text: {start, end, text}.")
    aside = models.CharField(
        max_length=9, choices=UnjudgedReason, blank=True, help_text="Empty: it is judged."
    )
    aside_reason = models.CharField(max_length=300, blank=True, help_text="Why it was taken out or put back.")
    kept = models.BooleanField(default=False, help_text="Judged even where it is the same as a reference.")
    line = models.BigIntegerField(null=True, blank=True, help_text="In its file.")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["system", "query"], name="one_answer_per_system_and_query", condition=Q(answer=None)
            )
        ]
        indexes = [models.Index(fields=["system", "aside"], name="candidate_by_system")]

    def __str__(self) -> str:
        return f"{self.system_id} to {self.query_id}"
