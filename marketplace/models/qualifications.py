"""Qualification types that requesters make, and who holds them."""

from django.db import models
from django.db.models import Q

from marketplace.models.people import Requester, Worker


class QualificationType(models.Model):
    """A custom qualification; name and keywords cannot change."""

    class Status(models.TextChoices):
        """Inactive types can be neither requested nor granted again."""

        ACTIVE = "Active"
        INACTIVE = "Inactive"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="qualification_types")
    qualification_type_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.CharField(max_length=1000, blank=True)
    status = models.CharField(max_length=8, choices=Status)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    retry_delay_s = models.PositiveBigIntegerField(null=True, blank=True)
    test = models.TextField(blank=True, help_text="QuestionForm XML; empty: no test.")
    answer_key = models.TextField(blank=True, help_text="AnswerKey XML; empty: the requester decides.")
    test_duration_s = models.PositiveBigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                name="qualification_name_of_requester",
                condition=Q(deleted_at=None),
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def has_test(self) -> bool:
        """Whether workers take a test; to be known without loading it, which can be long."""
        return self.test_duration_s is not None


class QualificationGrant(models.Model):
    """A worker's value of a qualification, granted or revoked."""

    class Status(models.TextChoices):
        """As on the wire."""

        GRANTED = "Granted"
        REVOKED = "Revoked"

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.CASCADE, related_name="grants")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="grants")
    value = models.IntegerField(default=1)
    status = models.CharField(max_length=7, choices=Status, default=Status.GRANTED)
    granted_at = models.DateTimeField()
    reason = models.CharField(max_length=1024, blank=True, help_text="Shown to the worker when revoked.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["qualification_type", "worker"], name="one_grant_per_worker")
        ]
        indexes = [
            models.Index(fields=["qualification_type", "status", "granted_at", "id"], name="grant_by_time")
        ]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.value}"


class QualificationRequest(models.Model):
    """A worker who asks for a qualification: with a test, from its start; without one, at once pending."""

    class State(models.TextChoices):
        """`started`: the test is being taken; `pending`: the requester is to decide."""

        STARTED = "started"
        PENDING = "pending"
        GRANTED = "granted"
        REJECTED = "rejected"
        EXPIRED = "expired"

    OPEN = (State.STARTED, State.PENDING)

    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.CASCADE, related_name="requests"
    )
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="qualification_requests")
    request_id = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=8, choices=State)
    test = models.TextField(blank=True, help_text="The test as it was when it was taken.")
    answer_key = models.TextField(blank=True, help_text="The key as it was then; never shown to workers.")
    answer = models.TextField(blank=True, help_text="QuestionFormAnswers XML.")
    score = models.IntegerField(null=True, blank=True, help_text="By the answer key, where there is one.")
    started_at = models.DateTimeField()
    deadline = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=1024, blank=True, help_text="Shown to the worker when rejected.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                name="one_open_qualification_request",
                condition=Q(state__in=["started", "pending"]),
            )
        ]
        indexes = [
            models.Index(
                fields=["qualification_type", "submitted_at", "id"], name="qualification_requests_by_time"
            ),
            models.Index(fields=["worker", "-started_at"], name="qualification_of_worker"),
            models.Index(
                fields=["deadline"], name="qualification_test_deadline", condition=Q(state="started")
            ),
        ]

    def __str__(self) -> str:
        return self.request_id
