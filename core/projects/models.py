"""Projects, who may do what in them, and the log of what was done."""

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from core.origin import Via


def new_pseudonym_key() -> str:
    """Key by which workers' pseudonyms of one project are made; never leaves the installation."""
    return secrets.token_hex(32)


class Project(models.Model):
    """One campaign with its own budget, wage floor and pseudonyms. Money in integer cents."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    language = models.CharField(max_length=35, default="en", help_text="BCP 47 tag, such as en or zh-Hans.")
    licence = models.CharField(max_length=80, blank=True, help_text="Licence of what will be published.")
    pseudonym_key = models.CharField(max_length=64, default=new_pseudonym_key, editable=False)
    wage_floor_cents = models.PositiveIntegerField(
        default=1000, help_text="Least pay per hour of work, in cents; below it you are warned."
    )
    budget_cents = models.BigIntegerField(default=0)
    reserved_cents = models.BigIntegerField(default=0)
    spent_cents = models.BigIntegerField(default=0)
    read_only = models.BooleanField(
        default=False, help_text="Its data come from elsewhere: nothing is collected or changed in it."
    )
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(
        null=True, blank=True, help_text="Since then nothing new is asked of people; empty: it is not closed."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="project_budget_never_passed",
                condition=Q(
                    reserved_cents__gte=0,
                    spent_cents__gte=0,
                    budget_cents__gte=F("reserved_cents") + F("spent_cents"),
                ),
            )
        ]

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """What a user may do in a project."""

    class Role(models.TextChoices):
        """Viewers look, managers work, owners also spend, publish and invite."""

        OWNER = "owner"
        MANAGER = "manager"
        VIEWER = "viewer"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=7, choices=Role)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_role_per_member")]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.project_id}"


class AppendOnlyError(TypeError):
    """Somebody tried to change or delete what can only be added to."""


class AppendOnlyQuerySet(models.QuerySet["Event"]):
    """Rows that are only ever added."""

    def update(self, **_: Any) -> int:
        """Refused."""
        raise AppendOnlyError("Events are never changed.")

    def delete(self) -> tuple[int, dict[str, int]]:
        """Refused."""
        raise AppendOnlyError("Events are never deleted.")


class Event(models.Model):
    """One thing that happened, append-only: who did what to what, and why."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="events")
    at = models.DateTimeField()
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, help_text="Empty: the system."
    )
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=200, blank=True)
    details = models.JSONField(default=dict)
    address = models.CharField(max_length=45, blank=True, help_text="From where; empty: the system.")
    via = models.CharField(
        max_length=8, choices=Via, blank=True, default="", db_default="", help_text="Empty: not noted."
    )
    credential = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="Access key or token, by its name."
    )
    request_id = models.CharField(max_length=64, blank=True, default="", db_default="")

    objects = AppendOnlyQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["project", "-id"], name="event_feed")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the row; a row that is there is never saved again."""
        if self.pk is not None:
            raise AppendOnlyError("Events are never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Refused."""
        raise AppendOnlyError("Events are never deleted.")
