"""The annotation app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Stages 0 to 3 of the pipeline."""

    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"
