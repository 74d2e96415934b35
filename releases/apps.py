"""The releases app."""

from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    """The end of the pipeline: data sets that last."""

    name = "releases"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make pages of the desk and actions of the log known; their modules need the models."""
        from releases import setup  # noqa: PLC0415

        setup.everything()
