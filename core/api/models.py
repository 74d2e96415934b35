"""Tokens of programs, and the replies that are kept for requests which come again."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from core.projects.models import Project


class Scope(models.TextChoices):
    """What a token may be used for. None implies another; what its person may not do, no token may."""

    READ = "read", "read: look at everything that its person sees"
    COLLECT = "collect", "collect: bring data in, make and change stages, begin and end work"
    DECIDE = "decide", "decide: approve and reject, filter, flag, judge"
    PAY = "pay", "pay: commit or spend money"
    PUBLISH = "publish", "publish: build and publish releases"
    ADMIN = "admin", "admin: projects, members, budgets, endpoints"


class ApiToken(models.Model):
    """A token with which a program acts as a person. Only its digest is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    project = models.ForeignKey(
        Project,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="api_tokens",
        help_text="The only project that it opens; empty: all of its person's.",
    )
    name = models.CharField(max_length=100, help_text="What it is for.")
    prefix = models.CharField(max_length=16, help_text="Its beginning, by which people recognize it.")
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_used_from = models.CharField(max_length=45, blank=True, default="", db_default="")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["user", "-id"], name="api_tokens_of_user")]

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.user_id}"


class IdempotencyRecord(models.Model):
    """A request that carried an Idempotency-Key: under way until its lease ends, or done with its reply."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64, help_text="Of method, address and body.")
    created_at = models.DateTimeField(db_index=True)
    claim = models.UUIDField(null=True, blank=True, help_text="Of the process that works on it.")
    claimed_until = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Of the reply.")
    headers = models.JSONField(default=dict)
    body = models.TextField(blank=True, default="", db_default="")
    body_sealed = models.TextField(
        blank=True, default="", db_default="", help_text="Instead of a body that holds a secret."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="idempotency_key_once"),
            models.CheckConstraint(
                name="idempotency_claimed_or_done",
                condition=Q(status=None, claim__isnull=False, claimed_until__isnull=False)
                | Q(status__isnull=False, claim=None, claimed_until=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.status or 'under way'}"
