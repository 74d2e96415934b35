"""The accounts app."""

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in, user_login_failed


class AccountsConfig(AppConfig):
    """Django's handle on the app."""

    name = "core.accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Look at the password's state once per log-in, so that no later request needs to."""
        # The models are not loaded before.
        from core.accounts import security
        from core.accounts.guards import count_failure, count_success, note_password_demand
        from core.accounts.sessions import note_beginning, note_sign_in

        user_logged_in.connect(note_password_demand, dispatch_uid="accounts.note_password_demand")
        security.connect()
        user_logged_in.connect(note_beginning, dispatch_uid="accounts.note_beginning")
        user_logged_in.connect(note_sign_in, dispatch_uid="accounts.note_sign_in")
        user_logged_in.connect(count_success, dispatch_uid="accounts.count_success")
        user_login_failed.connect(count_failure, dispatch_uid="accounts.count_failure")
