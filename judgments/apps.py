"""The judgments app."""

from django.apps import AppConfig


class JudgmentsConfig(AppConfig):
    """Stage 4 of the pipeline."""

    name = "judgments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make kinds, pages of the desk and actions of the log known; their modules need the models."""
        from judgments import setup  # noqa: PLC0415

        setup.everything()
