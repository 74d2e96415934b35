"""What Django's user table does not know about a password."""

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
