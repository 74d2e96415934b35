"""The annotation app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Stages 0 to 3 of the pipeline."""

    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make kinds, pages of the desk and actions of the log known; their modules need the models."""
        from annotation import setup  # noqa: PLC0415

        setup.everything()
