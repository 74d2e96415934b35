"""Where queries come from, and what became of each."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.projects.models import Project


class QuerySource(models.Model):
    """One import: a file, how it was read and sampled, and the report about its lines."""

    class State(models.TextChoices):
        """Only the queries of a ready source are worked on."""

        IMPORTING = "importing"
        READY = "ready"
        FAILED = "failed"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="query_sources")
    name = models.CharField(max_length=300, help_text="Name of the file.")
    format = models.CharField(max_length=20)
    sha256 = models.CharField(max_length=64, blank=True)
    options = models.JSONField(default=dict, help_text="Columns, rules, design of the sample, seed.")
    report = models.JSONField(default=dict, help_text="Counts, examples and refusals by rule.")
    state = models.CharField(max_length=9, choices=State, default=State.IMPORTING)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Query(models.Model):
    """A search query of a project, with the earlier turns of its conversation if it has any."""

    class Type(models.TextChoices):
        """MS MARCO's classes of answers."""

        PERSON = "PERSON"
        NUMERIC = "NUMERIC"
        LOCATION = "LOCATION"
        ENTITY = "ENTITY"
        DESCRIPTION = "DESCRIPTION"

    class Status(models.TextChoices):
        """Where it stands; `status_reason` says why. Tied and disputed wait for a researcher."""

        WAITING = "waiting", "waiting for screening"
        TIED = "tied", "tied in screening"
        EXCLUDED = "excluded", "excluded by screening"
        ACCEPTED = "accepted", "accepted, waiting for passages"
        DISPUTED = "disputed", "disputed in curation"
        UNANSWERABLE = "unanswerable", "not answerable from its passages"
        CURATED = "curated", "curated, being answered"
        ANSWERED = "answered", "has all its answers"
        WITHDRAWN = "withdrawn", "taken out by a researcher"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="queries", db_index=False)
    source = models.ForeignKey(QuerySource, on_delete=models.CASCADE, related_name="queries")
    key = models.CharField(max_length=200, help_text="Its id in the log, or made from its text.")
    text = models.TextField()
    digest = models.CharField(max_length=64, help_text="Of the text without case and the turns before it.")
    context = models.JSONField(default=list, help_text="Earlier turns, oldest first: {text, answer?}.")
    conversation = models.CharField(max_length=200, blank=True)
    turn = models.PositiveIntegerField(null=True, blank=True)
    type = models.CharField(max_length=11, choices=Type, blank=True)
    yes_no = models.BooleanField(default=False, help_text="The answer is yes, no or depends.")
    count = models.BigIntegerField(default=1, help_text="How often the log has it.")
    stratum = models.CharField(max_length=60, blank=True)
    weight = models.FloatField(default=1.0, help_text="1 / probability of being in the sample.")
    line = models.BigIntegerField(null=True, blank=True, help_text="First line or record in its file.")
    references = models.JSONField(default=list, help_text="Answers that came with the query.")
    extra = models.JSONField(default=dict, help_text="What else its file said and an export gives back.")
    status = models.CharField(max_length=12, choices=Status, default=Status.WAITING)
    status_reason = models.CharField(max_length=300, blank=True)
    by_hand = models.BooleanField(
        default=False, help_text="A person accepted or excluded it; votes do not change that."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="query_key_in_project"),
            models.UniqueConstraint(fields=["project", "digest"], name="query_once_in_project"),
        ]
        indexes = [models.Index(fields=["project", "status", "id"], name="query_by_status")]

    def __str__(self) -> str:
        return self.key


class QueryStep(models.Model):
    """One step of a query's way, append-only: what was decided, by which rule or person, and why."""

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="steps")
    at = models.DateTimeField()
    stage = models.ForeignKey("crowd.Stage", null=True, on_delete=models.PROTECT, related_name="+")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, help_text="Empty: the rule decided."
    )
    before = models.CharField(max_length=12, choices=Query.Status, blank=True)
    after = models.CharField(max_length=12, choices=Query.Status)
    reason = models.CharField(max_length=300)
    details = models.JSONField(default=dict)

    class Meta:
        constraints = [models.CheckConstraint(name="a_person_or_a_rule_says_why", condition=~Q(reason=""))]

    def __str__(self) -> str:
        return f"{self.query_id}: {self.before} to {self.after}"
