"""The accounts room."""

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in


class AccountsConfig(AppConfig):
    """Django's handle on the room."""

    name = "accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Look at the password's state once per log-in, so that no later request needs to."""
        from accounts.passwords import note_in_session  # noqa: PLC0415  # models are not loaded before

        user_logged_in.connect(note_in_session, dispatch_uid="accounts.note_in_session")
