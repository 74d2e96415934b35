"""Candidate passages of a query, what editors chose of them, and the set that came of it."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models.queries import Query
from crowd.models import Assignment, Stage


class CandidatePassage(models.Model):
    """A passage that may answer the query: text as it was when it was offered, with where it comes from."""

    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="candidates", db_index=False)
    rank = models.PositiveIntegerField(help_text="1 is the best.")
    score = models.FloatField(null=True, blank=True)
    origin = models.CharField(max_length=60, default="imported", help_text="imported, or index:CORPUS.")
    retrieval = models.JSONField(
        default=dict,
        help_text="How an index found it: {ranker, parameters, generation, rank, parts}; empty if imported.",
    )
    key = models.CharField(max_length=200)
    text = models.TextField()
    title = models.TextField(blank=True)
    url = models.CharField(max_length=2000, blank=True)
    page = models.CharField(max_length=2000, blank=True, help_text="Passages of one page share it.")
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    folded_into = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="folded",
        help_text="The better ranked passage that it repeats; folded ones are not shown.",
    )
    fold_reason = models.CharField(max_length=200, blank=True)
    imported_selected = models.BooleanField(default=False, help_text="The imported file had it selected.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["query", "rank"], name="candidate_rank_once"),
            models.UniqueConstraint(fields=["query", "key"], name="candidate_once"),
            models.CheckConstraint(
                name="candidate_region", condition=Q(start=None, end=None) | Q(start__lt=F("end"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} #{self.rank}"


class PassageSelection(models.Model):
    """One editor's choice among the candidates; append-only."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="selections", db_index=False)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="selections")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="selections")
    answerable = models.BooleanField(help_text="False: the passages cannot answer the query.")
    passages = models.JSONField(default=list, help_text="Keys of the chosen candidates, sorted.")
    conflicts = models.JSONField(default=list, help_text="Pairs: {a, b, trusted: a | b | null}.")
    highlights = models.JSONField(default=list, help_text="Spans: {passage, start, end} in characters.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "query"], name="one_selection_per_query"),
        ]
        indexes = [models.Index(fields=["stage", "query"], name="selection_by_query")]

    def __str__(self) -> str:
        return f"{self.query_id}: {len(self.passages)}"


class CuratedSet(models.Model):
    """The passages from which everybody answers the query. A query has one at most; it never changes."""

    query = models.OneToOneField(Query, on_delete=models.CASCADE, related_name="curated_set")
    rule = models.CharField(
        max_length=60, help_text="How it came about: single, exact, majority, person, imported."
    )
    stage = models.ForeignKey(Stage, null=True, on_delete=models.PROTECT, related_name="curated_sets")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"curated set of {self.query_id}"


class CuratedPassage(models.Model):
    """A passage of a curated set, in the order in which it is shown."""

    curated_set = models.ForeignKey(CuratedSet, on_delete=models.CASCADE, related_name="members")
    candidate = models.ForeignKey(CandidatePassage, on_delete=models.PROTECT, related_name="curated")
    position = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["curated_set", "position"], name="curated_position_once"),
            models.UniqueConstraint(fields=["curated_set", "candidate"], name="curated_passage_once"),
        ]
        ordering = ["position"]

    def __str__(self) -> str:
        return f"{self.curated_set_id} #{self.position}"
