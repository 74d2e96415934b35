"""The evaluations app."""

from django.apps import AppConfig


class EvaluationsConfig(AppConfig):
    """What the data sets are made for."""

    name = "evaluations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make pages of the desk and actions of the log known; their modules need the models."""
        from evaluations import setup  # noqa: PLC0415

        setup.everything()
