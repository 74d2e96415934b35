"""What requesters do to many at a time: more of a running batch, and files that name workers line by line."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.models.people import QualificationType, Requester, Worker
from marketplace.models.work import Batch, Holding


class BatchExtension(models.Model):
    """More places or more time for HITs of a published batch, given by a job, in the order of the tasks."""

    class State(models.TextChoices):
        """`stopped` goes on where it stopped."""

        RUNNING = "running"
        STOPPED = "stopped"
        DONE = "done"

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="extensions")
    once = models.UUIDField(unique=True, help_text="Number of the form: sent twice, it is one extension.")
    ordinals = models.JSONField(null=True, blank=True, help_text="Chosen tasks; null: all.")
    places = models.PositiveIntegerField(default=0, help_text="For each HIT.")
    seconds = models.PositiveIntegerField(default=0, help_text="After the end it has, or after `at`.")
    cents = models.PositiveBigIntegerField(help_text="What the form said it costs at most.")
    state = models.CharField(max_length=7, choices=State, default=State.RUNNING)
    after = models.PositiveIntegerField(default=0, help_text="Tasks up to this one are dealt with.")
    changed = models.PositiveIntegerField(default=0)
    passed_over = models.JSONField(default=list, help_text="Of the first: task, and why it is as it was.")
    passed_over_count = models.PositiveIntegerField(default=0)
    held_cents = models.PositiveBigIntegerField(default=0, help_text="Put on hold so far.")
    error = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField()
    done_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"extension {self.pk} of {self.batch_id}"


class WorkerFile(models.Model):
    """A file that names workers line by line: bonuses to pay, or values of a qualification to give."""

    class Kind(models.TextChoices):
        """What its lines ask for."""

        BONUSES = "bonuses"
        GRANTS = "grants"

    class State(models.TextChoices):
        """A draft is looked at; `stopped` goes on where it stopped; `withdrawn` never began."""

        DRAFT = "draft"
        RUNNING = "running"
        STOPPED = "stopped"
        DONE = "done"
        WITHDRAWN = "withdrawn"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="worker_files")
    number = models.PositiveIntegerField(help_text="1, 2, 3, … of the requester.")
    kind = models.CharField(max_length=7, choices=Kind)
    qualification_type = models.ForeignKey(
        QualificationType, null=True, blank=True, on_delete=models.CASCADE, related_name="files"
    )
    file_name = models.CharField(max_length=200)
    file_read = models.CharField(max_length=200, blank=True, help_text="How the file was read, in words.")
    line_count = models.PositiveIntegerField(default=0)
    cents = models.PositiveBigIntegerField(default=0, help_text="Of lines that are to be paid.")
    fee_cents = models.PositiveBigIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.DRAFT)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    confirmed_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "number"], name="worker_file_number")]

    def __str__(self) -> str:
        return f"file {self.number} of {self.requester_id}"


class WorkerFileLine(models.Model):
    """One line of a file, and what became of it."""

    class State(models.TextChoices):
        """`done` is paid or changed; `same` was so before and is left out."""

        WAITING = "waiting"
        DONE = "done"
        SAME = "same"
        REFUSED = "refused"

    file = models.ForeignKey(WorkerFile, on_delete=models.CASCADE, related_name="lines", db_index=False)
    line = models.PositiveIntegerField()
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="+")
    holding = models.ForeignKey(
        Holding, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text="Of a bonus."
    )
    amount = models.BigIntegerField(help_text="Cents of a bonus, or the value of a qualification.")
    words = models.TextField(blank=True, help_text="Reason of a bonus; Granted or Revoked.")
    payment = models.CharField(
        max_length=64, blank=True, help_text="Digest of what is paid to whom for what; paid once."
    )
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    why = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["file", "line"], name="worker_file_line"),
            models.UniqueConstraint(
                fields=["payment"],
                name="worker_file_pays_once",
                condition=Q(state="done") & ~Q(payment=""),
            ),
        ]
        indexes = [models.Index(fields=["file", "state", "line"], name="worker_file_line_state")]

    def __str__(self) -> str:
        return f"line {self.line} of {self.file_id}"
