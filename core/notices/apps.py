"""The notices app."""

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    """What somebody should know, told once."""

    name = "core.notices"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make the rule about jobs known; it needs the models."""
        from core.notices import job_failures  # noqa: PLC0415

        job_failures.everything()
