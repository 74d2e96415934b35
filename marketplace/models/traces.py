"""What stays of work beside its answer: traces of how it was done, uploaded files, storage of task pages.

Of traces reviewers see who may be the same person; never who they are. Digests are keyed with the
installation's secret and go after `TRACES_KEPT_DAYS`.
"""

from django.db import models
from django.db.models import Q

from marketplace.models.people import Requester, Worker
from marketplace.models.work import Holding


class WorkerTrace(models.Model):
    """A network address or a browser that a worker came with."""

    class Kind(models.TextChoices):
        """`browser` is the device cookie, which outlasts sessions."""

        ADDRESS = "address", "network address"
        BROWSER = "browser", "browser"

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="traces", db_index=False)
    kind = models.CharField(max_length=7, choices=Kind)
    digest = models.CharField(max_length=64)
    agent_digest = models.CharField(max_length=64, blank=True, help_text="Of the browser's user agent.")
    country = models.CharField(
        max_length=2, blank=True, help_text="Of the address, by the operator's GeoIP file."
    )
    signed_up = models.BooleanField(default=False, help_text="The worker's account was made from here.")
    first_at = models.DateTimeField()
    last_at = models.DateTimeField(db_index=True, help_text="To the day.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["worker", "kind", "digest"], name="one_trace_of_worker")
        ]
        indexes = [models.Index(fields=["digest", "kind", "worker"], name="trace_by_digest")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.worker_id}"


class WorkTrace(models.Model):
    """How one answer came about: what the browser counted, and what finds answers like it."""

    holding = models.OneToOneField(Holding, on_delete=models.CASCADE, related_name="trace")
    left = models.PositiveIntegerField(default=0, help_text="How often the page was left.")
    left_seconds = models.PositiveIntegerField(default=0)
    pastes = models.PositiveIntegerField(default=0)
    pasted_characters = models.PositiveIntegerField(default=0)
    text_digest = models.CharField(
        max_length=64, blank=True, db_index=True, help_text="Of the words of the answer; empty: too few."
    )
    text_sketch = models.BigIntegerField(
        null=True, blank=True, help_text="64 bits that differ little for texts that differ little."
    )
    compared_at = models.DateTimeField(null=True, blank=True)
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["id"], name="work_to_compare", condition=Q(compared_at=None) & ~Q(text_digest="")
            )
        ]

    def __str__(self) -> str:
        return f"trace of {self.holding_id}"


class Likeness(models.Model):
    """Answers of two people to one HIT, or in one batch, that have the same words or nearly so.

    Two rows for each pair, so that each answer finds the other.
    """

    holding = models.ForeignKey(Holding, on_delete=models.CASCADE, related_name="likenesses", db_index=False)
    other = models.ForeignKey(Holding, on_delete=models.CASCADE, related_name="+")
    identical = models.BooleanField()
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["holding", "other"], name="one_likeness_of_pair")]

    def __str__(self) -> str:
        return f"{self.holding_id} is like {self.other_id}"


class PageStorage(models.Model):
    """Local storage, session storage and cookies of one requester's pages for one worker, as JSON.

    `values` has three objects, `local`, `session` and `cookies`: name → [value, when it ends or null], in
    milliseconds since 1970.
    """

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="page_storage", db_index=False)
    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="page_storage")
    values = models.TextField(default="{}")
    changed_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "requester"], name="one_storage_per_worker_and_requester"
            )
        ]

    def __str__(self) -> str:
        return f"storage of {self.requester_id} for {self.worker_id}"


class UploadedFile(models.Model):
    """One file of an answer; its bytes lie in the storage under `key` until the HIT is disposed of."""

    holding = models.ForeignKey(
        Holding, on_delete=models.CASCADE, related_name="uploaded_files", db_index=False
    )
    question = models.CharField(max_length=128, help_text="QuestionIdentifier.")
    key = models.CharField(max_length=32, unique=True)
    name = models.CharField(max_length=255, help_text="As the worker's machine calls it.")
    mime = models.CharField(max_length=100, help_text="By its first bytes, never by its name.")
    size = models.PositiveBigIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["holding", "question"], name="one_uploaded_file_per_question")
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.size} bytes)"
