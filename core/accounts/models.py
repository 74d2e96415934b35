"""What Django's user table does not know: passwords to be changed, failed tries, keys of programs."""

from django.conf import settings
from django.db import models


class PasswordState(models.Model):
    """Whether a person still has to choose a password of their own; no row means that they need not."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="password_state"
    )
    must_change = models.BooleanField(
        default=True, help_text="Ask for a new password before anything else, from the next log-in on."
    )

    def __str__(self) -> str:
        return f"{self.user_id}: {'must change' if self.must_change else 'own password'}"


class FailedTries(models.Model):
    """How often something failed for one name, device or address, by a keyed digest (`throttle.py`)."""

    key = models.CharField(max_length=60, primary_key=True)
    failures = models.PositiveIntegerField(default=1)
    last_at = models.DateTimeField(db_index=True)
    blocked_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.key}: {self.failures}"


class SignedKey(models.Model):
    """A signed key with which a program acts as a person, by a keyed digest (`keys.py`)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="signed_keys")
    digest = models.CharField(max_length=64, unique=True)
    epoch = models.CharField(max_length=20, help_text="Of the password under which it was made.")
    name = models.CharField(max_length=200, help_text="What it opens.")
    made_at = models.DateTimeField()
    first_used_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, help_text="When the person ended it.")

    def __str__(self) -> str:
        return f"{self.user_id}: {self.name}"
