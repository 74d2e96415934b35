"""Releases with their files, and what the privacy check found."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.projects.models import Project

# A release: one frozen state of a project's data, as files that never change.


class FrozenError(TypeError):
    """Somebody tried to change or delete what a release is made of."""


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Rows of which those that are built change in nothing but being public or withdrawn."""

    def update(self, **values: Any) -> int:
        """As ever, unless it would change a built release; FrozenError then, and nothing is changed."""
        frozen = set(values) - Release.FREE or values.get("state", "withdrawn") != Release.State.WITHDRAWN
        if frozen and self._built():
            raise FrozenError("A release that is built never changes; build another version.")
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        """Only what was never built."""
        if self._built():
            raise FrozenError("A release that was built is never deleted; withdraw it.")
        return super().delete()

    def _built(self) -> bool:
        return self.filter(state__in=Release.BUILT).exists()


class FileQuerySet(models.QuerySet["ReleaseFile"]):
    """Rows that are only ever added."""

    def update(self, **_: Any) -> int:
        """Refused."""
        raise FrozenError("Files of a release never change.")

    def delete(self) -> tuple[int, dict[str, int]]:
        """Refused."""
        raise FrozenError("Files of a release are never deleted.")


class Release(models.Model):
    """One version of a project's data set. Once it is ready only its being public or withdrawn changes.

    `content` is the digest of the data alone, so that the same data built again is recognised; `digest` is
    the SHA-256 of `manifest.json`, which names every other file with its own.
    """

    class State(models.TextChoices):
        """A withdrawn release keeps its record and says why; its files are offered no more."""

        BUILDING = "building"
        READY = "ready"
        FAILED = "failed"
        WITHDRAWN = "withdrawn"

    #: States of releases that once were complete.
    BUILT = (State.READY, State.WITHDRAWN)
    #: What may change when it is built; its state only to withdrawn.
    FREE = frozenset({"state", "public", "withdrawn_by", "withdrawn_at", "withdrawn_reason"})

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="releases", db_index=False)
    version = models.CharField(max_length=20, help_text="MAJOR.MINOR.PATCH, such as 1.0.0.")
    state = models.CharField(max_length=9, choices=State, default=State.BUILDING)
    notes = models.TextField(blank=True, help_text="What is new in it, for its readers.")
    options = models.JSONField(
        default=dict, help_text="Formats, seed and shares of the splits, card answers."
    )
    manifest = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, blank=True)
    content = models.CharField(max_length=64, blank=True)
    bytes = models.BigIntegerField(default=0, help_text="All files together.")
    simulated = models.BooleanField(default=False, help_text="Simulated workers took part.")
    imported = models.BooleanField(default=False, help_text="Its human scores come from elsewhere.")
    public = models.BooleanField(default=False, help_text="Has a page that needs no log-in.")
    error = models.TextField(blank=True)
    job = models.BigIntegerField(null=True, blank=True, help_text="Key of the job that builds it.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()
    built_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_reason = models.CharField(max_length=300, blank=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "version"], name="release_version_in_project"),
            models.CheckConstraint(
                name="a_built_release_has_a_digest",
                condition=Q(state__in=["building", "failed"]) | (~Q(digest="") & Q(built_at__isnull=False)),
            ),
            models.CheckConstraint(
                name="a_withdrawn_release_says_why",
                condition=~Q(state="withdrawn") | (~Q(withdrawn_reason="") & Q(withdrawn_at__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project_id} {self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """As ever, unless the stored release is built and something that is frozen differs: FrozenError."""
        stored = Release.objects.filter(pk=self.pk, state__in=Release.BUILT).first() if self.pk else None
        if stored is not None:
            names = {field.attname for field in self._meta.concrete_fields if field.name not in self.FREE}
            changed = any(getattr(self, name) != getattr(stored, name) for name in names)
            if changed or self.state not in (stored.state, Release.State.WITHDRAWN):
                raise FrozenError("A release that is built never changes; build another version.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Only what was never built."""
        if Release.objects.filter(pk=self.pk, state__in=Release.BUILT).exists():
            raise FrozenError("A release that was built is never deleted; withdraw it.")
        return super().delete(*args, **kwargs)


class ReleaseFile(models.Model):
    """One file of a built release, as its manifest names it."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="files", db_index=False)
    path = models.CharField(max_length=300, help_text="Inside the release, with / between its parts.")
    format = models.CharField(max_length=20, blank=True, help_text="Empty: it describes the others.")
    bytes = models.BigIntegerField()
    rows = models.BigIntegerField(null=True, blank=True)
    sha256 = models.CharField(max_length=64)

    objects = FileQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "path"], name="file_once_in_release")]

    def __str__(self) -> str:
        return self.path

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the row; a row that is there is never saved again."""
        if self.pk is not None:
            raise FrozenError("Files of a release never change.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Refused."""
        raise FrozenError("Files of a release are never deleted.")


# What the privacy check found, and what a person decided about it.


class PrivacyFinding(models.Model):
    """Something that may tell who a person is. While one is open, no release of the project is built.

    A span of a text (`start` to `end`, in characters) is blacked out in every release once it is redacted;
    the text itself never changes. A finding about no text, such as a small group, has no span.
    """

    class State(models.TextChoices):
        """Gone: a later check no longer found it."""

        OPEN = "open"
        ACCEPTED = "accepted"
        REDACTED = "redacted"
        GONE = "gone"

    project = models.ForeignKey(
        Project, on_delete=models.PROTECT, related_name="privacy_findings", db_index=False
    )
    rule = models.CharField(max_length=40)
    subject = models.CharField(max_length=100, help_text="What it is in: answer:17, judgment:4, stage:3.")
    field = models.CharField(max_length=40, blank=True)
    start = models.PositiveIntegerField(default=0)
    end = models.PositiveIntegerField(default=0)
    excerpt = models.CharField(
        max_length=300, help_text="The span with a few words around it, or a sentence."
    )
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    reason = models.CharField(max_length=300, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    found_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "rule", "subject", "field", "start", "end"], name="found_once"
            ),
            models.CheckConstraint(
                name="a_decided_finding_says_why",
                condition=~Q(state__in=["accepted", "redacted"])
                | (~Q(reason="") & Q(decided_at__isnull=False)),
            ),
        ]
        indexes = [models.Index(fields=["project", "state"], name="finding_by_state")]

    def __str__(self) -> str:
        return f"{self.rule} in {self.subject}"


__all__ = ["FrozenError", "PrivacyFinding", "Release", "ReleaseFile"]
